#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/hash.h"
#include "core/model/wire.h"

namespace sortie {

/// The body of successive requests. Each item is encoded and hashed once, so that a turn costs only
/// its new items.
class RequestBody {
 public:
  explicit RequestBody(const Wire& wire) : wire_(wire) {}
  /// Updates the body for the request. The record lacks only its provider.
  RequestRecord update(const Request& request);
  std::string_view bytes() const noexcept { return body_; }

 private:
  void begin(const Request& request, std::string head);

  const Wire& wire_;
  std::unique_ptr<ItemWriter> writer_;
  std::string body_;  ///< head, items, tail
  std::string head_;
  std::size_t stable_bytes_ = 0;  ///< the size of body_ without the tail
  std::size_t items_ = 0;
  int epoch_ = 0;
  Sha256 hash_;  ///< of the stable bytes
};

}  // namespace sortie

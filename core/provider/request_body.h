#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/hash.h"
#include "core/model/wire.h"

namespace sortie {

/// The body of request after request: each item is encoded and hashed once, so that a turn costs
/// what is new in it.
class RequestBody {
 public:
  explicit RequestBody(const Wire& wire) : wire_(wire) {}
  /// Brings the body up to the request. The record lacks only its provider.
  RequestRecord update(const Request& request);
  std::string_view bytes() const noexcept { return body_; }

 private:
  void begin(const Request& request, std::string head);

  const Wire& wire_;
  std::unique_ptr<ItemWriter> writer_;  ///< of the items from head_ on
  std::string body_;                    ///< head, items, tail
  std::string head_;
  std::size_t stable_bytes_ = 0;  ///< of body_, without the tail
  std::size_t items_ = 0;
  int epoch_ = 0;
  Sha256 hash_;  ///< of the stable bytes
};

}  // namespace sortie

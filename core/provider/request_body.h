#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "core/catalog/item.h"
#include "core/model/wire.h"

namespace sortie {

/// The history as it is sent to one of the run's models, if parts of it came from another.
///
/// Items of other providers lose their own JSON, so that this model's wire encodes them anew. Other
/// models' reasoning and provider items are left out.
class PortableItems {
 public:
  /// @param source        the model that gets the items; see Item::source
  /// @param takes_images  false: images are replaced by a note
  explicit PortableItems(int source, bool takes_images = true)
      : source_(source), takes_images_(takes_images) {}

  /// The converted history. Only new items are converted, until a new epoch.
  const std::vector<Item>& update(const std::vector<Item>& history, int epoch);
  /// The index in the history of the item at `index`; past the end: the history's size.
  std::size_t origin(std::size_t index) const;
  /// The number of items and images left out.
  int dropped() const noexcept { return static_cast<int>(seen_ - items_.size()) + images_; }
  int dropped_images() const noexcept { return images_; }

 private:
  void leave_out_images(Item& item);

  int source_;
  bool takes_images_;
  int images_ = 0;  ///< images left out
  int epoch_ = 0;
  std::size_t seen_ = 0;  ///< items of the history
  std::vector<Item> items_;
  std::vector<std::size_t> origins_;  ///< of each of items_
};

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

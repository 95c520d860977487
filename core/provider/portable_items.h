#pragma once

#include <cstddef>
#include <vector>

#include "core/catalog/item.h"

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

}  // namespace sortie

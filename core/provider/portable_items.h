#pragma once

#include <cstddef>
#include <vector>

#include "core/catalog/item.h"

namespace sortie {

/// The history as one of the run's models is sent it, where some of it came from another.
///
/// What another provider sent goes without its own JSON, so that this one's wire encodes it anew.
/// Reasoning and a provider's own doings mean nothing to anyone else, and are left out.
class PortableItems {
 public:
  /// @param source        of the model that is to read them; see Item::source
  /// @param takes_images  false: images are left out, with a word in their place
  explicit PortableItems(int source, bool takes_images = true)
      : source_(source), takes_images_(takes_images) {}

  /// The history up to now; grows as it grows, and begins anew with an epoch.
  const std::vector<Item>& update(const std::vector<Item>& history, int epoch);
  /// Which item of the history the one at `index` is; past the end: how many the history has.
  std::size_t origin(std::size_t index) const;
  /// How many of the history's items and images were left out.
  int dropped() const noexcept { return static_cast<int>(seen_ - items_.size()) + images_; }

 private:
  void leave_out_images(Item& item);

  int source_;
  bool takes_images_;
  int images_ = 0;  ///< that were left out
  int epoch_ = 0;
  std::size_t seen_ = 0;  ///< items of the history
  std::vector<Item> items_;
  std::vector<std::size_t> origins_;  ///< of each of items_
};

}  // namespace sortie

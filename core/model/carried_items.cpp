#include "core/model/carried_items.h"

#include <utility>

namespace sortie {

const std::vector<Item>& CarriedItems::update(const std::vector<Item>& history, int epoch) {
  if (epoch != epoch_ || history.size() < seen_) {
    items_.clear();
    origins_.clear();
    seen_ = 0;
    epoch_ = epoch;
  }
  for (; seen_ < history.size(); ++seen_) {
    const Item& item = history[seen_];
    const bool foreign = item.source != source_;
    if (foreign && (std::holds_alternative<Reasoning>(item.content) ||
                    std::holds_alternative<ProviderItem>(item.content)))
      continue;
    items_.push_back(item);
    origins_.push_back(seen_);
    if (foreign) items_.back().received.clear();
  }
  return items_;
}

std::size_t CarriedItems::origin(std::size_t index) const {
  return index < origins_.size() ? origins_[index] : seen_;
}

}  // namespace sortie

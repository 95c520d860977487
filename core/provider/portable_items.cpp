#include "core/provider/portable_items.h"

#include <utility>

namespace sortie {

const std::vector<Item>& PortableItems::update(const std::vector<Item>& history, int epoch) {
  if (epoch != epoch_ || history.size() < seen_) {
    items_.clear();
    origins_.clear();
    seen_ = 0;
    images_ = 0;
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
    if (!takes_images_) leave_out_images(items_.back());
  }
  return items_;
}

void PortableItems::leave_out_images(Item& item) {
  const auto from = [this](std::string& text, std::vector<Image>& images) {
    if (images.empty()) return;
    text += images.size() == 1
                ? "\n(an image is left out here)"
                : "\n(" + std::to_string(images.size()) + " images are left out here)";
    images_ += static_cast<int>(images.size());
    images.clear();
  };
  if (auto* const message = std::get_if<Message>(&item.content))
    from(message->text, message->images);
  else if (auto* const output = std::get_if<ToolOutput>(&item.content))
    from(output->text, output->images);
}

std::size_t PortableItems::origin(std::size_t index) const {
  return index < origins_.size() ? origins_[index] : seen_;
}

}  // namespace sortie

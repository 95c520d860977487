#include "core/provider/request_body.h"

#include <algorithm>
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

RequestRecord RequestBody::update(const Request& request) {
  RequestRecord record;
  record.wire = wire_.name();
  std::string replaced;
  std::string head = wire_.encode_head(request.settings);
  const bool same =
      head == head_ && request.epoch == epoch_ && request.items.size() >= items_ && !body_.empty();
  if (same) {
    const bool resent = request.items.size() == items_;
    record.prefix_bytes = resent ? body_.size() : stable_bytes_;
    record.first_new_item = items_;
    body_.resize(stable_bytes_);
  } else {
    replaced = std::exchange(body_, {});
    begin(request, std::move(head));
  }
  const std::size_t encoded = body_.size();
  if (items_ < request.items.size()) writer_->write(request.items, body_);
  items_ = request.items.size();
  hash_.update(std::string_view(body_).substr(encoded));
  stable_bytes_ = body_.size();
  const std::string_view tail = writer_->tail();
  body_ += tail;
  Sha256 whole = hash_;
  whole.update(tail);
  record.body_sha256 = whole.finish();
  record.bytes = body_.size();
  if (!same) {
    const auto differs =
        std::mismatch(replaced.begin(), replaced.end(), body_.begin(), body_.end()).first;
    record.prefix_bytes = static_cast<std::uint64_t>(differs - replaced.begin());
  }
  return record;
}

void RequestBody::begin(const Request& request, std::string head) {
  head_ = std::move(head);
  body_ = head_;
  writer_ = wire_.item_writer(request.settings);
  items_ = 0;
  epoch_ = request.epoch;
  hash_ = Sha256();
  hash_.update(body_);
}

}  // namespace sortie

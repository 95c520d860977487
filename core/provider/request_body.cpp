#include "core/provider/request_body.h"

#include <algorithm>

namespace sortie {

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

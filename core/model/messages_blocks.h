#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/model/item.h"

namespace sortie {

/// Writes items as messages of content blocks, from the first item on: what it writes for one
/// depends on that and the ones before alone. Without a target it only keeps count, to go on from
/// there.
class MessageBlocks {
 public:
  /// @param from  nothing before it will be written: what is settled there is passed over quickly
  explicit MessageBlocks(const std::vector<Item>& items, std::size_t from = 0);

  /// Goes on up to the item at `end`, which is not included.
  /// @param to  gets the bytes; null for none
  void go_to(std::size_t end, std::string* to);
  bool has_block() const noexcept { return side_ != Side::none; }
  /// Whether the last block, which is open, may have `cache_control`.
  bool can_be_marked() const noexcept { return markable_; }

 private:
  enum class Side { none, user, assistant };
  struct Call {
    std::string id;    ///< the item's
    std::string sent;  ///< as the format takes it
  };

  void add(const Message& message);
  void add(const Reasoning& reasoning);
  void add(const ProviderItem& item);
  void add(const ToolCall& call);
  void add(const ToolOutput& output);

  void assistant_block(std::string_view open_block, bool markable);
  void user_message(const Message& message);
  void write_waiting();
  void begin_block(Side side, bool markable);
  void write(std::string_view text) {
    if (to_) to_->append(text);
  }
  void write_text(std::string_view text);
  void write_image(const Image& image);
  std::string sent_id(const ToolCall& call);
  bool was_called_before(const std::string& call_id) const;
  const Item& item() const { return items_[at_]; }

  const std::vector<Item>& items_;
  std::size_t at_ = 0;
  std::size_t passed_over_ = 0;  ///< items before this one were not looked at
  std::string* to_ = nullptr;
  Side side_ = Side::none;
  bool markable_ = false;
  std::vector<std::size_t> thinking_;         ///< items that wait for the block they led to
  std::vector<std::size_t> waiting_;          ///< messages that wait for the outputs of open_calls_
  std::vector<Call> open_calls_;              ///< that have no output yet
  std::unordered_set<std::string_view> ids_;  ///< of all calls that were looked at
};

/// Whether the text is nothing but white space.
bool is_blank(std::string_view text);

}  // namespace sortie

#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/model/wire.h"

namespace sortie {

/// Writes items as messages of content blocks.
///
/// The last block is left open: the next one closes it, or the tail, which adds `cache_control` if
/// the block may have it.
class MessageBlocks : public ItemWriter {
 public:
  void write(const std::vector<Item>& items, std::string& to) override;
  std::string_view tail() const override;

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
  void put(std::string_view text) { to_->append(text); }
  void put_content(const ToolOutput& output);
  void put_text(std::string_view text);
  void put_image(const Image& image);
  std::string sent_id(const ToolCall& call);
  const Item& item() const { return (*items_)[at_]; }

  const std::vector<Item>* items_ = nullptr;  ///< set during write(), like to_
  std::string* to_ = nullptr;
  std::size_t at_ = 0;
  Side side_ = Side::none;
  bool markable_ = false;
  std::vector<std::size_t> thinking_;    ///< items waiting for the block they led to
  std::vector<std::size_t> waiting_;     ///< messages waiting for the outputs of open_calls_
  std::vector<Call> open_calls_;         ///< calls without an output so far
  std::unordered_set<std::string> ids_;  ///< of all calls
};

/// Whether the text has only white space.
bool is_blank(std::string_view text);

}  // namespace sortie

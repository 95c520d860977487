#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/model_limits.h"
#include "core/catalog/item.h"
#include "core/catalog/known_models.h"

namespace sortie {

/// The conversation so far. Items are only ever added at the end, so that requests share their
/// prefix byte for byte, until one of the functions that shorten it begins a new epoch.
class History {
 public:
  void add(Item item);
  /// The items added from here on are what is asked for: a prompt, or feedback. The first such are
  /// kept for good, the last ones as long as they are the last.
  void begin_prompt();
  /// The items added from here on are a response, with what it led to.
  void begin_turn();

  const std::vector<Item>& items() const noexcept { return items_; }
  /// Turns whose items are here, whole.
  int turns() const noexcept { return static_cast<int>(turns_.size()); }
  int epoch() const noexcept { return epoch_; }
  /// @param used  by a request with other items
  void begin_epoch(int used = 0) noexcept { epoch_ = (epoch_ > used ? epoch_ : used) + 1; }
  /// How images count from here on.
  void count_images_by(const ImageRule& rule);

  /// Tokens of a request with these items and `fixed_bytes` of instructions and tools: bytes / 4,
  /// corrected by the ratio of measured to estimated tokens of the last response; images by their
  /// rule.
  std::int64_t estimated_tokens(std::size_t fixed_bytes = 0) const noexcept;
  /// Of one more item.
  std::int64_t estimated_tokens(const Item& item) const noexcept;
  /// How many bytes of text are so many tokens, by estimate.
  std::size_t bytes_of_tokens(std::int64_t tokens) const noexcept;
  /// The provider counted `input_tokens` for a request with these items and `fixed_bytes`.
  void measured(std::int64_t input_tokens, std::size_t fixed_bytes = 0) noexcept;

  /// Puts the item in place of all but the first prompt, the last prompt and the last turns; a call
  /// and its output are never parted. Begins an epoch.
  /// @param keep_turns  at most
  void replace_by(Item summary, int keep_turns);
  /// Cuts tool outputs until at most `limit` tokens are left: each to a line, from the oldest on,
  /// and in the last turn to head and tail. Begins an epoch.
  /// @return  whether that was enough
  bool cut_outputs(std::int64_t limit, std::size_t fixed_bytes);
  /// Indexes of the tool outputs of one turn that have images: of the newest turn with such.
  std::vector<std::size_t> outputs_with_newest_images() const;
  /// Puts a text in the place of the images of a tool output. Begins an epoch.
  void take_out_images(std::size_t index, std::string_view text);

 private:
  struct Size {
    std::size_t bytes = 0;
    std::int64_t image_tokens = 0;
  };
  Size size_of(const Item& item) const noexcept;
  void recount() noexcept;
  void shorten(ToolOutput& output, std::size_t to_bytes);

  std::vector<Item> items_;
  std::vector<std::size_t> turns_;  ///< index of each turn's first item
  std::size_t first_ = 0;           ///< items before the first turn
  std::size_t prompt_ = 0;          ///< index of the last prompt's first item
  std::size_t prompt_end_ = 0;
  bool in_prompt_ = false;
  bool began_ = false;  ///< the first turn was there
  Size size_;
  ImageRule images_{};
  double ratio_ = 1.0;
  int epoch_ = 0;
};

/// An output that has more bytes than fit: its head and tail, and how much is left out.
/// @param where  of the whole output, as HeadTail::render has it
std::string head_and_tail(std::string_view text, std::size_t max_bytes,
                          std::string_view where = {});

/// Tokens of what a response brought, by bytes / 4.
std::int64_t estimated_output(const std::vector<Item>& items) noexcept;
std::int64_t estimated_output(std::uint64_t bytes) noexcept;

/// How many tokens a request may have as input.
struct ContextBudget {
  std::int64_t window = 0;   ///< past this it can't be answered at all
  std::int64_t limit = 0;    ///< leaves room for the longest response
  std::int64_t trigger = 0;  ///< from here on the history is shortened
};

ContextBudget room_of(const ModelLimits& terms, double compact_at);

/// What the model is asked for a hand-over with.
extern const std::string_view kHandOverRequest;
/// What it is asked for at the end of a run, for the runs to come.
extern const std::string_view kCarryOverRequest;

/// A user message that says what it is.
Item summary_message(std::string_view summary);

/// The history with a summary in place of all but its first items, the prompt in force and the last
/// turns; of those as many as leave a quarter of the room free, and with the last one's outputs cut
/// where even one is too many.
/// @param limit  tokens of input
/// @return       may still be too long, where the first items and the summary are
History with_summary(const History& history, std::string_view summary, int keep_last_turns,
                     std::int64_t limit, std::size_t fixed_bytes);

/// How many tokens a single output may have: what is left, and always a part of the room, since
/// older turns can make way for it.
std::int64_t room_for_output(const ContextBudget& room, std::int64_t used);

}  // namespace sortie

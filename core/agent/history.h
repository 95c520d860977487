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

/// The conversation so far. Items are only appended, so that requests share their prefix byte for
/// byte, until a function that shortens the history begins a new epoch.
class History {
 public:
  void add(Item item);
  /// The items added from now on are a prompt, or feedback. The first prompt is kept for good, the
  /// last one while it is the last.
  void begin_prompt();
  /// The items added from now on are a response and the outputs of its calls.
  void begin_turn();

  /// Adds the items of a request to an empty history, in place of all that led to it.
  /// @param corrections  user messages that are no prompts
  void restore(std::vector<Item> items, const std::vector<std::string>& corrections);

  const std::vector<Item>& items() const noexcept { return items_; }
  /// The number of turns that are here with all their items.
  int turns() const noexcept { return static_cast<int>(turns_.size()); }
  int epoch() const noexcept { return epoch_; }
  /// @param used  an epoch that a request with other items had
  void begin_epoch(int used = 0) noexcept { epoch_ = (epoch_ > used ? epoch_ : used) + 1; }
  void count_images_by(const ImageRule& rule);

  /// Tokens of a request with these items and `fixed_bytes` of instructions and tools: bytes / 4,
  /// corrected by the ratio of measured to estimated tokens of the last response; images by their
  /// rule.
  std::int64_t estimated_tokens(std::size_t fixed_bytes = 0) const noexcept;
  /// Tokens that the item would add.
  std::int64_t estimated_tokens(const Item& item) const noexcept;
  /// The estimated bytes of text with this many tokens.
  std::size_t bytes_of_tokens(std::int64_t tokens) const noexcept;
  /// The provider counted `input_tokens` for a request with these items and `fixed_bytes`.
  void measured(std::int64_t input_tokens, std::size_t fixed_bytes = 0) noexcept;

  /// Replaces everything by the summary, except for the first prompt, the last prompt and the last
  /// turns. Never separates a call from its output. Begins an epoch.
  /// @param keep_turns  at most
  void replace_by(Item summary, int keep_turns);
  /// Cuts tool outputs until at most `limit` tokens are left: each to one line, the oldest first,
  /// and those of the last turn to head and tail. Begins an epoch.
  /// @return  whether that was enough
  bool cut_outputs(std::int64_t limit, std::size_t fixed_bytes);
  /// Shortens by all means but a summary, until at most `limit` tokens are left: outputs, then the
  /// arguments of calls, then the oldest whole turns; never the prompts, nor the last turn's call.
  /// Begins an epoch.
  void shorten_to(std::int64_t limit, std::size_t fixed_bytes);
  /// Indexes of the tool outputs with images in the newest turn that has any.
  std::vector<std::size_t> outputs_with_newest_images() const;
  /// Replaces the images of a tool output by a text. Begins an epoch.
  void take_out_images(std::size_t index, std::string_view text);

 private:
  struct Size {
    std::size_t bytes = 0;
    std::int64_t image_tokens = 0;
  };
  Size size_of(const Item& item) const noexcept;
  void recount() noexcept;
  void shorten(ToolOutput& output, std::size_t to_bytes);
  void shorten_arguments(Item& item);
  void cut_arguments(std::int64_t limit, std::size_t fixed_bytes);
  void drop_turns(std::int64_t limit, std::size_t fixed_bytes);

  std::vector<Item> items_;
  std::vector<std::size_t> turns_;  ///< index of each turn's first item
  std::size_t first_ = 0;           ///< items before the first turn
  std::size_t prompt_ = 0;          ///< index of the last prompt's first item
  std::size_t prompt_end_ = 0;
  bool in_prompt_ = false;
  bool began_ = false;        ///< the first turn has begun
  bool has_summary_ = false;  ///< the item behind the first ones stands for turns that are gone
  Size size_;
  ImageRule images_{};
  double ratio_ = 1.0;
  int epoch_ = 0;
};

/// Estimated tokens of a response: bytes / 4.
std::int64_t estimated_output(const std::vector<Item>& items) noexcept;
std::int64_t estimated_output(std::uint64_t bytes) noexcept;

/// Input tokens of a request.
struct ContextBudget {
  std::int64_t window = 0;   ///< no longer request can be answered
  std::int64_t limit = 0;    ///< leaves room for the longest response
  std::int64_t trigger = 0;  ///< a longer history is compacted
};

ContextBudget context_budget(const ModelLimits& limits, double compact_at);

/// Asks the model for a summary of the conversation, before older turns are dropped.
extern const std::string_view kSummaryRequest;
/// Asks the model for the notes of a run, for later runs.
extern const std::string_view kRunNotesRequest;

/// The history with a summary in place of everything but its first items, the current prompt and
/// the last turns: as many of these as leave a quarter of the limit free. If even one turn is too
/// much, its outputs are cut.
/// @param limit  tokens of input
/// @return       may still be too long, if the first items and the summary are
History with_summary(const History& history, std::string_view summary, int keep_last_turns,
                     std::int64_t limit, std::size_t fixed_bytes);

/// How many tokens a single output may have: what is left, and always a share of the budget, since
/// older turns can be dropped for it.
std::int64_t room_for_output(const ContextBudget& room, std::int64_t used);

}  // namespace sortie

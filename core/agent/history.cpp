#include "core/agent/history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/output_buffer.h"

namespace sortie {
namespace {

constexpr double kBytesPerToken = 4.0;
/// A ratio outside of these is a provider's odd counting, not a property of the text.
constexpr double kMinRatio = 0.25;
constexpr double kMaxRatio = 4.0;
/// Bytes that the wire adds to an item: names, braces, quotes.
constexpr std::size_t kItemOverhead = 40;
/// A shorter output is not replaced by a line: that would be as long.
constexpr std::size_t kShortOutput = 200;

std::size_t bytes_of(const Message& message) { return message.text.size(); }
std::size_t bytes_of(const Reasoning& reasoning) { return reasoning.summary.size(); }
std::size_t bytes_of(const ProviderItem& item) { return item.type.size() + item.summary.size(); }
std::size_t bytes_of(const ToolCall& call) {
  return call.call_id.size() + call.name.size() + call.arguments.size();
}
std::size_t bytes_of(const ToolOutput& output) {
  return output.call_id.size() + output.text.size();
}

std::size_t bytes_of(const Item& item) {
  if (!item.received.empty()) return item.received.size();
  return kItemOverhead +
         std::visit([](const auto& content) { return bytes_of(content); }, item.content);
}

const std::vector<Image>* images_of(const Item& item) {
  if (const auto* message = std::get_if<Message>(&item.content)) return &message->images;
  if (const auto* output = std::get_if<ToolOutput>(&item.content)) return &output->images;
  return nullptr;
}

std::int64_t tokens_of(double bytes, double ratio) {
  return static_cast<std::int64_t>(bytes / kBytesPerToken * ratio + 0.5);
}

/// Head and tail of a text that is too long, with the number of bytes left out.
/// @param where  the file with the whole text, as for HeadTail::render
std::string head_and_tail(std::string_view text, std::size_t max_bytes, std::string_view where) {
  HeadTail cut(max_bytes);
  cut.feed(text);
  return cut.render(where);
}

constexpr std::string_view kSummaryStart = "<summary>";

/// Whether the model, or its provider, made the item.
bool is_of_model(const Item& item) {
  if (const auto* message = std::get_if<Message>(&item.content))
    return message->role == Message::Role::assistant;
  return !std::holds_alternative<ToolOutput>(item.content);
}

const Message* user_message(const Item& item) {
  const auto* message = std::get_if<Message>(&item.content);
  return message != nullptr && message->role == Message::Role::user ? message : nullptr;
}

/// The user message that holds the summary.
Item summary_message(std::string_view summary) {
  return {Message{Message::Role::user,
                  std::string(kSummaryStart) +
                      "\nEarlier turns were removed here to save space. Your own summary of "
                      "them:\n\n" +
                      std::string(summary) + "\n</summary>"}};
}

}  // namespace

History::Size History::size_of(const Item& item) const noexcept {
  Size size{bytes_of(item), 0};
  if (const auto* images = images_of(item))
    for (const Image& image : *images) size.image_tokens += image_tokens(image, images_);
  return size;
}

void History::recount() noexcept {
  size_ = {};
  for (const Item& item : items_) {
    const Size size = size_of(item);
    size_.bytes += size.bytes;
    size_.image_tokens += size.image_tokens;
  }
}

void History::add(Item item) {
  const Size size = size_of(item);
  size_.bytes += size.bytes;
  size_.image_tokens += size.image_tokens;
  items_.push_back(std::move(item));
  if (!began_) first_ = items_.size();
  if (in_prompt_) prompt_end_ = items_.size();
}

void History::begin_prompt() {
  prompt_ = prompt_end_ = items_.size();
  in_prompt_ = true;
}

void History::begin_turn() {
  in_prompt_ = false;
  began_ = true;
  turns_.push_back(items_.size());
}

/// What the items are follows from their order: a response begins where the model's items follow
/// others, a prompt where messages of the user follow a response without calls.
void History::restore(std::vector<Item> items, const std::vector<std::string>& corrections) {
  bool after_response = false;  // the item before is the model's
  bool after_call = false;      // the last response had calls
  in_prompt_ = true;
  for (Item& item : items) {
    const Message* const said = user_message(item);
    if (is_of_model(item)) {
      if (!after_response) begin_turn();
      if (!after_response) after_call = false;
      after_call = after_call || std::holds_alternative<ToolCall>(item.content);
    } else if (said != nullptr && !began_ && said->text.starts_with(kSummaryStart)) {
      began_ = has_summary_ = true;
      in_prompt_ = false;
    } else if (said != nullptr && after_response && !after_call &&
               std::find(corrections.begin(), corrections.end(), said->text) == corrections.end()) {
      begin_prompt();
    }
    const bool is_summary = has_summary_ && !in_prompt_ && turns_.empty();
    after_response = is_of_model(item);
    add(std::move(item));
    if (is_summary) begin_prompt();
  }
}

void History::count_images_by(const ImageRule& rule) {
  if (images_ == rule) return;
  images_ = rule;
  recount();
}

std::int64_t History::estimated_tokens(std::size_t fixed_bytes) const noexcept {
  return tokens_of(static_cast<double>(size_.bytes + fixed_bytes), ratio_) + size_.image_tokens;
}

std::int64_t History::estimated_tokens(const Item& item) const noexcept {
  const Size size = size_of(item);
  return tokens_of(static_cast<double>(size.bytes), ratio_) + size.image_tokens;
}

std::size_t History::bytes_of_tokens(std::int64_t tokens) const noexcept {
  if (tokens <= 0) return 0;
  return static_cast<std::size_t>(static_cast<double>(tokens) * kBytesPerToken / ratio_);
}

void History::measured(std::int64_t input_tokens, std::size_t fixed_bytes) noexcept {
  const double text = static_cast<double>(input_tokens - size_.image_tokens);
  const double estimate = static_cast<double>(size_.bytes + fixed_bytes) / kBytesPerToken;
  if (text <= 0 || estimate <= 0) return;
  ratio_ = std::clamp(text / estimate, kMinRatio, kMaxRatio);
}

void History::replace_by(Item summary, int keep_turns) {
  const auto kept =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(0, keep_turns)), turns_.size());
  const std::size_t tail = kept == 0 ? items_.size() : turns_[turns_.size() - kept];
  std::vector<Item> items;
  const auto keep = [&](std::size_t from, std::size_t to) {
    std::move(items_.begin() + static_cast<std::ptrdiff_t>(from),
              items_.begin() + static_cast<std::ptrdiff_t>(to), std::back_inserter(items));
  };
  keep(0, first_);
  items.push_back(std::move(summary));
  const bool prompt_goes = prompt_ >= first_ && prompt_end_ <= tail;
  const std::size_t prompt_at = items.size();
  if (prompt_goes) keep(prompt_, prompt_end_);
  const std::size_t tail_at = items.size();
  keep(tail, items_.size());

  std::vector<std::size_t> turns;
  for (std::size_t i = turns_.size() - kept; i < turns_.size(); ++i)
    turns.push_back(turns_[i] - tail + tail_at);
  if (prompt_goes) {
    prompt_ = prompt_at;
    prompt_end_ = tail_at;
  } else if (prompt_ >= tail) {
    prompt_ = prompt_ - tail + tail_at;
    prompt_end_ = prompt_end_ - tail + tail_at;
  }
  items_ = std::move(items);
  turns_ = std::move(turns);
  has_summary_ = true;
  recount();
  begin_epoch();
}

void History::shorten(ToolOutput& output, std::size_t to_bytes) {
  const std::size_t before = output.text.size();
  for (const Image& image : output.images) size_.image_tokens -= image_tokens(image, images_);
  // The line between head and tail is cut too, so the new one names the whole output's file again.
  const std::string& whole = output.whole;
  const std::string left_out = "output of " + size_in_words(before) +
                               (output.images.empty() ? "" : " and its images") +
                               " left out to save space; ";
  std::string line = whole.empty() ? "[" + left_out + "call the tool again if you need it]"
                                   : "… " + left_out + "the whole output is in " + whole + " …";
  output.images.clear();
  const std::size_t short_output = kShortOutput + whole.size();
  if (before > short_output)
    output.text = to_bytes > short_output
                      ? head_and_tail(output.text, to_bytes - whole.size(), whole)
                      : std::move(line);
  size_.bytes = size_.bytes - before + output.text.size();
}

bool History::cut_outputs(std::int64_t limit, std::size_t fixed_bytes) {
  begin_epoch();
  const std::size_t last_turn = turns_.empty() ? items_.size() : turns_.back();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::int64_t over = estimated_tokens(fixed_bytes) - limit;
    if (over <= 0) return true;
    auto* output = std::get_if<ToolOutput>(&items_[i].content);
    if (output == nullptr) continue;
    // The line about the cut takes some space too.
    const std::size_t too_much = bytes_of_tokens(over) + kShortOutput;
    const std::size_t size = output->text.size();
    shorten(*output, i < last_turn || too_much >= size ? 0 : size - too_much);
  }
  return estimated_tokens(fixed_bytes) <= limit;
}

void History::shorten_to(std::int64_t limit, std::size_t fixed_bytes) {
  if (cut_outputs(limit, fixed_bytes)) return;
  cut_arguments(limit, fixed_bytes);
  drop_turns(limit, fixed_bytes);
}

/// What the call was for stays known by its output, or can be seen in the files.
void History::shorten_arguments(Item& item) {
  auto& call = std::get<ToolCall>(item.content);
  const std::size_t before = bytes_of(item);
  const std::string note =
      "[" + size_in_words(call.arguments.size()) + " of arguments left out to save space]";
  call.arguments =
      call.form == ToolCall::Form::custom ? note : write_json(Json::object({{"left_out", note}}));
  item.received.clear();  // the provider's own JSON has them too
  size_.bytes = size_.bytes - before + bytes_of(item);
}

/// The oldest first; the last turn's too, if all others are not enough.
void History::cut_arguments(std::int64_t limit, std::size_t fixed_bytes) {
  begin_epoch();
  for (Item& item : items_) {
    if (estimated_tokens(fixed_bytes) <= limit) return;
    const auto* call = std::get_if<ToolCall>(&item.content);
    if (call != nullptr && call->arguments.size() > kShortOutput) shorten_arguments(item);
  }
}

/// Drops as many of the oldest turns as needed; the last one stays.
void History::drop_turns(std::int64_t limit, std::size_t fixed_bytes) {
  constexpr std::string_view kGone =
      "[Older turns were removed here to save space, and there is no summary of them. Look at the "
      "files for what is done already.]";
  const std::int64_t over = estimated_tokens(fixed_bytes) - limit;
  if (over <= 0 || turns_.size() < 2) return;
  Item lead = has_summary_ ? items_[first_] : Item{Message{Message::Role::user, {}}};
  std::string& text = std::get<Message>(lead.content).text;
  if (text.find(kGone) == std::string::npos) text.append(text.empty() ? "" : "\n").append(kGone);
  const std::size_t needed = bytes_of_tokens(over) + kGone.size() + kItemOverhead;
  std::size_t dropped = 0;
  std::size_t freed = 0;
  while (dropped + 1 < turns_.size() && freed < needed) {
    for (std::size_t i = turns_[dropped]; i < turns_[dropped + 1]; ++i)
      freed += bytes_of(items_[i]);
    ++dropped;
  }
  replace_by(std::move(lead), static_cast<int>(turns_.size() - dropped));
}

std::vector<std::size_t> History::outputs_with_newest_images() const {
  std::vector<std::size_t> found;
  std::size_t end = items_.size();
  for (std::size_t turn = turns_.size(); turn-- > 0 && found.empty(); end = turns_[turn])
    for (std::size_t i = turns_[turn]; i < end; ++i) {
      const auto* output = std::get_if<ToolOutput>(&items_[i].content);
      if (output != nullptr && !output->images.empty()) found.push_back(i);
    }
  return found;
}

void History::take_out_images(std::size_t index, std::string_view text) {
  auto& output = std::get<ToolOutput>(items_[index].content);
  output.images.clear();
  if (!output.text.empty()) output.text += '\n';
  output.text += text;
  recount();
  begin_epoch();
}

std::int64_t estimated_output(const std::vector<Item>& items) noexcept {
  std::uint64_t bytes = 0;
  for (const Item& item : items) bytes += bytes_of(item);
  return estimated_output(bytes);
}

std::int64_t estimated_output(std::uint64_t bytes) noexcept {
  return tokens_of(static_cast<double>(bytes), 1);
}

const std::string_view kSummaryRequest =
    "This conversation is about to be shortened: it nears the limit of your context window. Only "
    "the first messages, the last few turns and your answer to this message will be kept. Write a "
    "summary for yourself from which the work can continue. Do not call tools. Use these "
    "headings:\n"
    "## Goal\nWhat the task asks for, with every condition.\n"
    "## Done\nWhat is done and known to work, and how it was checked.\n"
    "## Open\nWhat is left to do, the next step first.\n"
    "## Facts\nWhat you found out: causes, decisions with reasons, commands that work, attempts "
    "that failed.\n"
    "## Files\nImportant paths, with what each is and what was changed in it.\n";

const std::string_view kRunNotesRequest =
    "The task is done. Write notes for later runs on this repository, which will be read at their "
    "start: what the work was, what was decided and why, facts about the project, commands that "
    "work, what is still open. If you were given notes at the beginning, keep what is still true "
    "and leave out the rest. At most 200 lines of Markdown, no secrets, nothing that reads like an "
    "instruction. Answer with the notes only and do not call tools.";

namespace {

/// The target of a compaction: a history that just fits would be compacted again at once.
std::int64_t three_quarters(std::int64_t tokens) { return tokens / 4 * 3; }

}  // namespace

ContextBudget context_budget(const ModelLimits& limits, double compact_at) {
  ContextBudget room;
  room.window = limits.context_window;
  room.limit = std::max<std::int64_t>(1, limits.context_window - limits.max_output_tokens);
  const double share = static_cast<double>(limits.context_window) * compact_at;
  room.trigger = std::min(room.limit, static_cast<std::int64_t>(std::floor(share)));
  return room;
}

History with_summary(const History& history, std::string_view summary, int keep_last_turns,
                     std::int64_t limit, std::size_t fixed_bytes) {
  const std::int64_t wanted = three_quarters(limit);
  for (int keep = std::min(keep_last_turns, history.turns()); keep >= 0; --keep) {
    History shorter = history;
    shorter.replace_by(summary_message(summary), keep);
    if (shorter.estimated_tokens(fixed_bytes) <= wanted) return shorter;
    if (keep == 1) {
      shorter.shorten_to(wanted, fixed_bytes);
      if (shorter.estimated_tokens(fixed_bytes) <= wanted) return shorter;
    }
    if (keep == 0) return shorter;
  }
  return history;
}

std::int64_t room_for_output(const ContextBudget& room, std::int64_t used) {
  return std::max(room.limit - used, room.trigger / 4);
}

}  // namespace sortie

#include "core/model/leaked_calls.h"

#include <algorithm>
#include <utility>

#include "core/model/leaked_forms.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using Tools = std::vector<ToolSpec>;

const ToolSpec* tool_of(const std::string& name, const Tools& tools) {
  const auto tool = std::find_if(tools.begin(), tools.end(), [&name](const ToolSpec& one) {
    return one.name == name && one.form != ToolCall::Form::web_search;
  });
  return tool == tools.end() ? nullptr : &*tool;
}

/// The places of a message.
class Places {
 public:
  explicit Places(std::string_view message) : message_(message) {
    for (const std::string_view line : split_lines(message))
      if (trimmed(line).starts_with("```"))
        fences_.push_back(static_cast<std::size_t>(line.data() - message.data()));
  }
  /// Whether the text there shows something, and says nothing itself: in a code block, or behind a
  /// quote.
  bool is_shown(std::size_t at) const {
    if (at > 0 && std::string_view("`\"'").find(message_[at - 1]) != std::string_view::npos)
      return true;
    const auto before = std::lower_bound(fences_.begin(), fences_.end(), at) - fences_.begin();
    return before % 2 != 0;
  }
  /// Whether only blanks stand before it in its line.
  bool begins_line(std::size_t at) const {
    while (at > 0 && is_blank(message_[at - 1])) --at;
    return at == 0 || message_[at - 1] == '\n';
  }

 private:
  std::string_view message_;
  std::vector<std::size_t> fences_;  ///< where lines begin that open or close a code block
};

/// Tokens of the template, which occur in no prose, may follow other text in a line.
bool is_token(std::string_view opening) {
  return opening.find('|') != std::string_view::npos || opening.starts_with("[TOOL_CALLS]") ||
         opening.find("｜") != std::string_view::npos || opening.ends_with("to=functions.");
}

struct Found {
  const LeakedForm* form = nullptr;
  std::size_t at = std::string_view::npos;
};

/// The first opening of a form.
Found first_opening(std::string_view message) {
  const Places places(message);
  Found first;
  for (const LeakedForm& form : leaked_forms()) {
    const std::string_view opening = form.opening;
    for (std::size_t at = message.find(opening); at < first.at;
         at = message.find(opening, at + 1)) {
      if (places.is_shown(at) || !(is_token(opening) || places.begins_line(at))) continue;
      first = {&form, at};
    }
  }
  return first;
}

/// Skips the tokens with which a template ends a turn.
void skip_ends(TextCursor& text) {
  const auto take_one = [&text] {
    for (const char* token : {"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>", "<|endoftext|>",
                              "<|end|>", "<|return|>", "<｜end▁of▁sentence｜>", "<end_of_turn>",
                              "<|observation|>", "<|user|>", "<|END_RESPONSE|>"})
      if (text.take(token)) return true;
    return false;
  };
  do text.skip_blanks();
  while (take_one());
}

/// Takes the calls if they are certain, else says why not.
void judge(std::vector<LeakedCall> read, bool complete, const Tools& tools, LeakedCalls& to) {
  for (const LeakedCall& call : read)
    if (!tool_of(call.name, tools)) {
      to.doubt = "This run has no tool '" + one_line_of_words(call.name, 80) + "'.";
      return;
    }
  if (!complete || read.empty()) {
    to.doubt = "The text is not complete, or not exactly of that form, or other text follows it.";
    return;
  }
  for (LeakedCall& call : read)
    to.calls.push_back(
        {.call_id = {}, .name = std::move(call.name), .arguments = write_json(call.arguments)});
}

/// The content of a message that is one code block of JSON; else the message.
std::string_view without_fence(std::string_view message) {
  for (const char* fence : {"```json\n", "```\n", "```tool_call\n"})
    if (message.starts_with(fence) && message.ends_with("\n```"))
      return trimmed(message.substr(std::string_view(fence).size(),
                                    message.size() - std::string_view(fence).size() - 3));
  return message;
}

/// Llama, Gemma and others: {"name":…, "parameters":{…}} as the whole message.
std::optional<LeakedCalls> find_bare_json(std::string_view message, const Tools& tools) {
  const std::string_view text = without_fence(trimmed(message));
  if (!text.starts_with('{') && !text.starts_with('[')) return std::nullopt;
  TextCursor cursor(text);
  std::vector<LeakedCall> read;
  do {
    const auto json = cursor.json();
    if (!json || !add_json_calls(*json, read)) return std::nullopt;
    cursor.skip_blanks();
    if (cursor.take(";")) cursor.skip_blanks();
  } while (cursor.at("{") || cursor.at("["));
  skip_ends(cursor);
  // JSON about something else is no call.
  const bool calls = std::all_of(read.begin(), read.end(), [&tools](const LeakedCall& call) {
    return tool_of(call.name, tools) != nullptr;
  });
  if (!calls || !cursor.rest().empty()) return std::nullopt;
  LeakedCalls found{.form = "Llama and Gemma"};
  judge(std::move(read), true, tools, found);
  return found;
}

/// Llama 4 and others: [shell(command="ls")] as the whole message. What Python means is not read.
std::optional<LeakedCalls> find_python(std::string_view message, const Tools& tools) {
  std::string_view text = trimmed(message);
  if (!text.ends_with(')') && !text.ends_with(")]")) return std::nullopt;
  if (text.starts_with('[')) text.remove_prefix(1);
  TextCursor cursor(text);
  const std::string name(cursor.name());
  if (!cursor.take("(") || !tool_of(name, tools)) return std::nullopt;
  return LeakedCalls{.form = "Llama and Gemma", .doubt = "It is a call in Python."};
}

}  // namespace

std::optional<LeakedCalls> find_leaked_calls(std::string_view message, const Tools& tools,
                                             BareJson bare) {
  if (tools.empty() || message.empty()) return std::nullopt;
  const Found opening = first_opening(message);
  if (opening.form != nullptr) {
    LeakedCalls found{.form = opening.form->models};
    found.before = std::string(trimmed(message.substr(0, opening.at)));
    TextCursor text(message.substr(opening.at));
    std::vector<LeakedCall> read;
    const bool complete = opening.form->read(text, tools, read);
    skip_ends(text);
    judge(std::move(read), complete && text.rest().empty(), tools, found);
    return found;
  }
  if (bare == BareJson::is_answer) return std::nullopt;
  if (auto found = find_bare_json(message, tools)) return found;
  return find_python(message, tools);
}

}  // namespace sortie

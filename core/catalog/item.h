#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// An image as the model is shown it.
struct Image {
  std::string media_type;  ///< "image/png", "image/jpeg", "image/gif", "image/webp"
  std::string base64;      ///< RFC 4648, padded
  int width = 0;           ///< pixels; 0: not known
  int height = 0;
};

/// Text from the user's side or the model's.
struct Message {
  enum class Role { user, assistant };
  Role role = Role::user;
  std::string text;
  std::vector<Image> images{};  ///< of the user's side, after the text
};

/// The model's reasoning; only the wire knows its content (encrypted), people see the summary.
struct Reasoning {
  std::string summary;
  /// Its server wants it back as it came (Chat Completions: `reasoning_content`).
  bool goes_back = false;
};

/// What the provider did by itself in the middle of a response, such as a web search: handed back
/// as it came, on that provider's own wire alone.
struct ProviderItem {
  std::string type;     ///< the wire's own: "web_search_call"
  std::string summary;  ///< one line for people; may be ""
};

/// The model's request to use a tool.
struct ToolCall {
  enum class Form {
    function,
    custom,       ///< the input is free text, not JSON
    local_shell,  ///< a provider's own shell tool; the arguments are those of `shell`, as JSON
    web_search,   ///< run by the provider itself: declared, never called here
  };
  std::string call_id;
  std::string name;
  std::string arguments;  ///< JSON text (function) or the free text (custom)
  Form form = Form::function;
};

/// What a tool call gave back, as the model sees it.
struct ToolOutput {
  std::string call_id;
  std::string text;
  bool success = true;
  ToolCall::Form form = ToolCall::Form::function;
  std::vector<Image> images{};  ///< after the text
  /// The file that has the whole output, where `text` says that it shows a part and where the rest
  /// is; "" for none. No wire sends it.
  std::string whole{};
};

/// One unit of the conversation.
struct Item {
  std::variant<Message, Reasoning, ToolCall, ToolOutput, ProviderItem> content;
  /// What the provider sent, in its own JSON, to be handed back unchanged; "" for items of ours,
  /// and where the content says it all.
  std::string received{};
  /// Which of the run's models it came from: 0 the task's own, n the nth of `fallback`. Only that
  /// model gets `received` back.
  int source = 0;
};

/// Tokens as the provider counted them.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t cached_input_tokens = 0;  ///< part of input_tokens
  std::int64_t output_tokens = 0;
  std::int64_t reasoning_output_tokens = 0;   ///< part of output_tokens
  std::int64_t cache_write_input_tokens = 0;  ///< part of input_tokens, billed apart by some
  Usage& operator+=(const Usage& other) noexcept {
    input_tokens += other.input_tokens;
    cached_input_tokens += other.cached_input_tokens;
    cache_write_input_tokens += other.cache_write_input_tokens;
    output_tokens += other.output_tokens;
    reasoning_output_tokens += other.reasoning_output_tokens;
    return *this;
  }
  bool operator==(const Usage&) const = default;
};

/// A tool as the model is told of it.
struct ToolSpec {
  std::string name;
  std::string description;
  Json parameters;  ///< JSON Schema of the arguments; unused for custom
  ToolCall::Form form = ToolCall::Form::function;
  std::string grammar{};  ///< Lark grammar of a custom tool's input
};

}  // namespace sortie

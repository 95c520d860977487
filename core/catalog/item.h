#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// An image for the model.
struct Image {
  std::string media_type;  ///< "image/png", "image/jpeg", "image/gif", "image/webp"
  std::string base64;      ///< RFC 4648, padded
  int width = 0;           ///< pixels; 0: not known
  int height = 0;
};

/// A message of the user or the model.
struct Message {
  enum class Role { user, assistant };
  Role role = Role::user;
  std::string text;
  std::vector<Image> images{};  ///< of the user, after the text
};

/// The model's reasoning. Its content is encrypted in the wire's own JSON; people see the summary.
struct Reasoning {
  std::string summary;
  /// The server wants it back unchanged (Chat Completions: `reasoning_content`).
  bool goes_back = false;
};

/// Something the provider did itself during a response, such as a web search. It is sent back
/// unchanged, to that provider only.
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
    web_search,   ///< run by the provider: declared, never called here
  };
  std::string call_id;
  std::string name;
  std::string arguments;  ///< JSON text (function) or the free text (custom)
  Form form = Form::function;
};

/// The output of a tool call, as the model sees it.
struct ToolOutput {
  std::string call_id;
  std::string text;
  bool success = true;
  ToolCall::Form form = ToolCall::Form::function;
  std::vector<Image> images{};  ///< after the text
  /// The file with the whole output, if `text` is only a part of it (and names the file); else "".
  /// No wire sends it.
  std::string whole{};
};

/// One entry of the conversation.
struct Item {
  std::variant<Message, Reasoning, ToolCall, ToolOutput, ProviderItem> content;
  /// The provider's own JSON, to be sent back unchanged; "" for our own items, and if the content
  /// says everything.
  std::string received{};
  /// Which of the run's models it came from: 0 the task's, n the nth of `fallback`. Only that model
  /// gets `received` back.
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

/// A tool as declared to the model.
struct ToolSpec {
  std::string name;
  std::string description;
  Json parameters;  ///< JSON Schema of the arguments; unused for custom
  ToolCall::Form form = ToolCall::Form::function;
  std::string grammar{};  ///< Lark grammar of a custom tool's input
};

}  // namespace sortie

#include "core/model/leaked_forms.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"

namespace sortie {

bool TextCursor::take(std::string_view token) noexcept {
  if (token.empty() || !at(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void TextCursor::skip_blanks() noexcept {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
}

std::optional<std::string_view> TextCursor::until(std::string_view token) noexcept {
  const std::size_t at = rest_.find(token);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = rest_.substr(0, at);
  rest_.remove_prefix(at + token.size());
  return before;
}

std::string_view TextCursor::name() noexcept {
  std::size_t size = 0;
  while (size < rest_.size() && (is_ascii_alphanumeric(rest_[size]) || rest_[size] == '_' ||
                                 rest_[size] == '-' || rest_[size] == '.'))
    ++size;
  const std::string_view name = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return name;
}

std::optional<Json> TextCursor::json() {
  if (!at("{") && !at("[")) return std::nullopt;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if ((c != '}' && c != ']') || --depth > 0) continue;
    try {
      Json json = parse_json(rest_.substr(0, i + 1));
      rest_.remove_prefix(i + 1);
      return json;
    } catch (const JsonError&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

namespace {

using Tools = std::vector<ToolSpec>;
using Calls = std::vector<LeakedCall>;

/// "functions.shell:0" is the tool `shell`.
std::string tool_name(std::string_view name) {
  name = trimmed(name);
  if (name.starts_with("functions.")) name.remove_prefix(10);
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(colon) + 1, name.end(),
                  is_ascii_digit))
    name = name.substr(0, colon);
  return std::string(name);
}

/// An object, or the JSON text of one; null for others.
Json object_of(const Json& arguments) {
  if (arguments.is_object()) return arguments;
  try {
    Json json = parse_json(arguments.text());
    if (arguments.is_string() && json.is_object()) return json;
  } catch (const JsonError&) {
    // Not of this form.
  }
  return {};
}

bool add_json_call(const Json& json, Calls& to) {
  const Json* call = &json;
  for (const char* member : {"function", "function_call", "tool_call"})
    if (json[member].is_object()) call = &json[member];
  LeakedCall read;
  int arguments = 0;
  for (const auto& [member, value] : call->members()) {
    if (is_one_of(member, {"name", "tool_name", "function"}) && value.is_string()) {
      if (!read.name.empty()) return false;
      read.name = tool_name(value.text());
    } else if (is_one_of(member, {"arguments", "parameters", "args", "input"})) {
      read.arguments = object_of(value);
      if (++arguments > 1 || !read.arguments.is_object()) return false;
    } else if (!is_one_of(member, {"type", "id", "call_id", "tool_call_id", "index"})) {
      return false;
    }
  }
  if (read.name.empty() || arguments == 0) return false;
  to.push_back(std::move(read));
  return true;
}

/// Calls as JSON, one or more, with separators or without.
bool read_json_calls(TextCursor& text, Calls& to) {
  const std::size_t before = to.size();
  for (text.skip_blanks(); text.at("{") || text.at("["); text.skip_blanks()) {
    const auto json = text.json();
    if (!json || !add_json_calls(*json, to)) return false;
    text.skip_blanks();
    if (!text.take(",")) text.take(";");
  }
  return to.size() > before;
}

/// The value that a parameter's text stands for, by the tool's schema.
Json value_of(std::string_view text, const std::string& tool, std::string_view parameter,
              const Tools& tools) {
  const auto spec = std::find_if(tools.begin(), tools.end(),
                                 [&](const ToolSpec& one) { return one.name == tool; });
  static const Json unknown;
  const Json& type =
      spec == tools.end() ? unknown : spec->parameters["properties"][parameter]["type"];
  const bool may_be_text = type.is_null() || type.text() == "string" ||
                           std::any_of(type.items().begin(), type.items().end(),
                                       [](const Json& one) { return one.text() == "string"; });
  if (may_be_text) {
    // The templates put a text on lines of its own.
    if (text.starts_with('\n')) text.remove_prefix(1);
    if (text.ends_with('\n')) text.remove_suffix(1);
    return std::string(text);
  }
  const std::string_view word = trimmed(text);
  if (word == "True" || word == "False") return word == "True";
  try {
    return parse_json(word);
  } catch (const JsonError&) {
    return std::string(word);  // the tool says what is wrong with it
  }
}

/// <parameter=NAME>VALUE</parameter> …
bool read_equals_parameters(TextCursor& text, LeakedCall& call, const Tools& tools) {
  call.arguments = Json::object();
  for (text.skip_blanks(); text.take("<parameter="); text.skip_blanks()) {
    const auto name = text.until(">");
    const auto value = name ? text.until("</parameter>") : name;
    if (!value) return false;
    call.arguments.set(trimmed(*name), value_of(*value, call.name, trimmed(*name), tools));
  }
  return true;
}

/// <function=NAME>{JSON}</function>, or with <parameter=…> in it.
bool read_function_tag(TextCursor& text, const Tools& tools, Calls& to) {
  if (!text.take("<function=")) return false;
  const auto name = text.until(">");
  if (!name) return false;
  LeakedCall call{tool_name(*name), {}};
  text.skip_blanks();
  if (text.at("{")) {
    const auto json = text.json();
    if (!json) return false;
    call.arguments = *json;
  } else if (!read_equals_parameters(text, call, tools)) {
    return false;
  }
  text.skip_blanks();
  if (!text.take("</function>")) return false;
  to.push_back(std::move(call));
  return true;
}

bool read_function_tags(TextCursor& text, const Tools& tools, Calls& to) {
  do {
    if (!read_function_tag(text, tools, to)) return false;
    text.skip_blanks();
  } while (text.at("<function="));
  text.take("</tool_call>");  // some models begin without its opening
  return true;
}

/// NAME <arg_key>KEY</arg_key> <arg_value>VALUE</arg_value> …
bool read_key_value_pairs(TextCursor& text, const Tools& tools, Calls& to) {
  LeakedCall call{tool_name(text.name()), Json::object()};
  for (text.skip_blanks(); text.take("<arg_key>"); text.skip_blanks()) {
    const auto key = text.until("</arg_key>");
    text.skip_blanks();
    if (!key || !text.take("<arg_value>")) return false;
    const auto value = text.until("</arg_value>");
    if (!value) return false;
    call.arguments.set(trimmed(*key), value_of(*value, call.name, trimmed(*key), tools));
  }
  if (call.name.empty()) return false;
  to.push_back(std::move(call));
  return true;
}

/// Blocks between <tool_call> and its end, which JSON may lack.
bool read_tool_call_tags(TextCursor& text, const Tools& tools, Calls& to) {
  while (text.take("<tool_call>")) {
    text.skip_blanks();
    const bool json = text.at("{") || text.at("[");
    const bool read = json                    ? read_json_calls(text, to)
                      : text.at("<function=") ? read_function_tag(text, tools, to)
                                              : read_key_value_pairs(text, tools, to);
    text.skip_blanks();
    if (!read || (!text.take("</tool_call>") && !json)) return false;  // JSON shows its own end
    text.skip_blanks();
  }
  return true;
}

/// JSON between an opening and its end, which may be missing.
bool read_json_tags(TextCursor& text, const Tools&, Calls& to) {
  static constexpr std::pair<const char*, const char*> kTags[] = {
      {"<tool_calls>", "</tool_calls>"},       {"<TOOLCALL>", "</TOOLCALL>"},
      {"<function_call>", "</function_call>"}, {"<functioncall>", "</functioncall>"},
      {"<|tool_call|>", "<|/tool_call|>"},     {"<|python_tag|>", "<|eom_id|>"},
      {"<|START_ACTION|>", "<|END_ACTION|>"},  {"functools", ""}};
  bool any = false;
  for (;;) {
    const auto tag = std::find_if(std::begin(kTags), std::end(kTags),
                                  [&](const auto& one) { return text.take(one.first); });
    if (tag == std::end(kTags)) return any;
    if (!read_json_calls(text, to)) return false;
    text.take(tag->second);
    text.skip_blanks();
    any = true;
  }
}

/// [TOOL_CALLS][{…}], or [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{…}.
bool read_mistral(TextCursor& text, const Tools&, Calls& to) {
  while (text.take("[TOOL_CALLS]")) {
    text.skip_blanks();
    const bool named = text.at("[CALL_ID]") || text.at("[ARGS]");
    if (!named && (text.at("[") || text.at("{"))) {
      if (!read_json_calls(text, to)) return false;
      continue;
    }
    const std::string name = tool_name(text.name());
    if (text.take("[CALL_ID]")) text.name();
    text.take("[ARGS]");
    text.skip_blanks();
    const auto json = text.json();
    if (!json || !json->is_object() || name.empty()) return false;
    to.push_back({name, *json});
    text.skip_blanks();
  }
  return true;
}

/// Each call between its own tokens: NAME sep {…}, or function sep NAME and a code block.
bool read_deepseek(TextCursor& text, const Tools&, Calls& to) {
  if (!text.take("<｜tool▁calls▁begin｜>")) return false;
  for (text.skip_blanks(); text.take("<｜tool▁call▁begin｜>"); text.skip_blanks()) {
    auto name = text.until("<｜tool▁sep｜>");
    if (!name) return false;
    const bool fenced = trimmed(*name) == "function";
    if (fenced) name = text.until("```json");
    text.skip_blanks();
    const auto json = name ? text.json() : std::nullopt;
    text.skip_blanks();
    if (!json || !json->is_object() || (fenced && !text.take("```"))) return false;
    to.push_back({tool_name(*name), *json});
    text.skip_blanks();
    text.take("<｜tool▁call▁end｜>");
  }
  text.take("<｜tool▁calls▁end｜>");
  return true;
}

/// ID argument_begin {…}, the id being functions.NAME:NUMBER.
bool read_kimi(TextCursor& text, const Tools&, Calls& to) {
  if (!text.take("<|tool_calls_section_begin|>")) return false;
  for (text.skip_blanks(); text.take("<|tool_call_begin|>"); text.skip_blanks()) {
    const auto id = text.until("<|tool_call_argument_begin|>");
    text.skip_blanks();
    const auto json = id ? text.json() : std::nullopt;
    if (!json || !json->is_object()) return false;
    to.push_back({tool_name(*id), *json});
    text.skip_blanks();
    text.take("<|tool_call_end|>");
  }
  text.take("<|tool_calls_section_end|>");
  return true;
}

/// "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{…}<|call|>", where the
/// recipient may also stand before the channel.
bool read_harmony(TextCursor& text, const Tools&, Calls& to) {
  while (text.at("<|start|>") || text.at("<|channel|>")) {
    TextCursor header(text.until("<|message|>").value_or(""));
    if (!header.until("to=functions.")) return false;
    const std::string name = tool_name(header.name());
    text.skip_blanks();
    const auto json = text.json();
    if (!json || !json->is_object()) return false;
    to.push_back({name, *json});
    text.skip_blanks();
    text.take("<|call|>");
    text.skip_blanks();
  }
  return true;
}

/// <invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke> in an element of its own.
bool read_invokes(TextCursor& text, const Tools& tools, Calls& to) {
  const auto opening = text.until(">");
  if (!opening) return false;
  const std::string prefix = opening->starts_with("<｜DSML｜") ? "｜DSML｜" : "";
  const std::string closing = "</" + std::string(opening->substr(1)) + ">";
  for (text.skip_blanks(); text.take("<" + prefix + "invoke name=\""); text.skip_blanks()) {
    const auto name = text.until("\">");
    if (!name) return false;
    LeakedCall call{tool_name(*name), Json::object()};
    for (text.skip_blanks(); text.take("<" + prefix + "parameter name=\""); text.skip_blanks()) {
      const auto key = text.until("\"");
      const auto attributes = key ? text.until(">") : key;
      const auto value = attributes ? text.until("</" + prefix + "parameter>") : attributes;
      if (!value) return false;
      call.arguments.set(*key, trimmed(*attributes) == "string=\"true\""
                                   ? Json(*value)
                                   : value_of(*value, call.name, *key, tools));
    }
    if (!text.take("</" + prefix + "invoke>")) return false;
    to.push_back(std::move(call));
  }
  text.take(closing);
  return true;
}

/// For forms that are not JSON: what is meant is never certain.
bool read_nothing(TextCursor&, const Tools&, Calls&) { return false; }

}  // namespace

bool add_json_calls(const Json& json, Calls& to) {
  if (json.is_object()) return add_json_call(json, to);
  return !json.items().empty() &&
         std::all_of(json.items().begin(), json.items().end(),
                     [&to](const Json& one) { return add_json_call(one, to); });
}

const std::vector<LeakedForm>& leaked_forms() {
  static const std::vector<LeakedForm> forms = {
      {"<tool_call>", "Hermes, Qwen and GLM", read_tool_call_tags},
      {"<function=", "Qwen3-Coder and Llama", read_function_tags},
      {"<tool_calls>", "InternLM and Jamba", read_json_tags},
      {"<TOOLCALL>", "Nemotron", read_json_tags},
      {"<function_call>", "Granite", read_json_tags},
      {"<functioncall>", "older open models", read_json_tags},
      {"<|tool_call|>", "Phi and Granite", read_json_tags},
      {"functools[", "Phi and Firefunction", read_json_tags},
      {"<|python_tag|>", "Llama", read_json_tags},
      {"<|START_ACTION|>", "Command", read_json_tags},
      {"[TOOL_CALLS]", "Mistral", read_mistral},
      {"<｜tool▁calls▁begin｜>", "DeepSeek", read_deepseek},
      {"<｜DSML｜function_calls>", "DeepSeek", read_invokes},
      {"<minimax:tool_call>", "MiniMax", read_invokes},
      {"<function_calls>", "Claude's older prompts", read_invokes},
      {"<|tool_calls_section_begin|>", "Kimi", read_kimi},
      {"<|channel|>commentary to=functions.", "gpt-oss", read_harmony},
      {"<|start|>assistant<|channel|>commentary to=functions.", "gpt-oss", read_harmony},
      {"<|start|>assistant to=functions.", "gpt-oss", read_harmony},
      {"commentary to=functions.", "gpt-oss", read_nothing},
      {"<start_function_call>", "FunctionGemma", read_nothing},
      {"```tool_code", "Gemma", read_nothing},
  };
  return forms;
}

}  // namespace sortie

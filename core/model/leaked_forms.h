#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"

namespace sortie {

/// Reads a text from its beginning on.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}
  std::string_view rest() const noexcept { return rest_; }
  bool at(std::string_view token) const noexcept { return rest_.starts_with(token); }
  bool take(std::string_view token) noexcept;
  /// Skips blanks and line ends.
  void skip_blanks() noexcept;
  /// The text before the token, which is taken too; nothing without a token.
  std::optional<std::string_view> until(std::string_view token) noexcept;
  /// The longest run of characters of tool names: letters, digits, "_", "-", ".".
  std::string_view name() noexcept;
  /// One JSON object or array.
  std::optional<Json> json();

 private:
  std::string_view rest_;
};

/// A call as a message has it.
struct LeakedCall {
  std::string name;
  Json arguments;  ///< an object
};

/// One form of calls in text.
struct LeakedForm {
  const char* opening;
  const char* models;  ///< "Hermes and Qwen"
  /// Reads calls from the opening on. @return false: they are not complete, or not of this form
  bool (*read)(TextCursor& text, const std::vector<ToolSpec>& tools, std::vector<LeakedCall>& to);
};

/// The forms with an opening that no other text has.
const std::vector<LeakedForm>& leaked_forms();

/// Adds the calls of a JSON value: {"name":…, "arguments" or "parameters":{…}}, with a `function`
/// around it or not, or a list of these. @return false: it has something else
bool add_json_calls(const Json& json, std::vector<LeakedCall>& to);

}  // namespace sortie

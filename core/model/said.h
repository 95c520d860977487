#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// What an item of a response says, for people. The wires read it out of their own JSON.
struct Said {
  enum class Kind { message, reasoning, web_search };
  Kind kind = Kind::message;
  std::string text;  ///< of a search: what was looked for, or opened
  Json action{};     ///< of a search: {"type":"search"|"open_page"|…, …}
};
/// In their order; empty for an item that says nothing to people.
using SaidList = std::vector<Said>;

/// Of an item in the neutral form of the record; nothing for others.
std::optional<SaidList> said_in_neutral(const Json& item);

/// The text of a message's content: a string, or the list of its parts.
std::string content_text(const Json& content);

/// Adds it, unless the text is empty.
void add_said(Said::Kind kind, std::string text, SaidList& list);

}  // namespace sortie

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// A `content_block_delta` that adds one piece of text to its block.
struct MessagesDelta {
  std::int64_t index = 0;
  std::string_view type;     ///< "text_delta", "input_json_delta", "thinking_delta" …
  std::string_view escaped;  ///< the text between its quotes, with its escapes
};

/// Reads a delta without parsing JSON, if it is written as the provider does, apart from white
/// space: nearly all events of a stream are. Nothing for anything else.
///
///     {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}
std::optional<MessagesDelta> read_messages_delta(std::string_view data);

}  // namespace sortie

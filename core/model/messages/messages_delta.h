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
  std::string_view escaped;  ///< the text as it stands between its quotes, not looked at
};

/// Reads a delta as the provider writes it, white space aside, without building anything: nearly
/// all events of a stream are such. Nothing where it is written in any other way.
///
///     {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}
std::optional<MessagesDelta> read_messages_delta(std::string_view data);

}  // namespace sortie

#pragma once

#include <string>
#include <string_view>

#include "core/model/wire.h"

namespace sortie {

/// What a chunk adds to a response, where it adds text alone.
struct ChatText {
  std::string content{};
  std::string reasoning{};
};

/// Reads a chunk without building its tree, if it holds nothing but text of the first choice:
/// nearly all chunks do. @return  false: it holds more, or is no JSON; `to` is of no use then
bool read_chat_text(std::string_view chunk, ChatText& to);

}  // namespace sortie

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/process/launcher.h"

namespace sortie {

/// A command as a keeper gets it, in a memory file. @throws Error  cut short
std::string encode_command(const Command& command);
Command decode_command(std::string_view bytes);

/// First word of a message to the keeper, and of its first answer.
enum class KeeperWord : std::int64_t { start, drop_set, quit, ready, failed };

/// A byte over a command's own socket asks for its end: this one politely (SIGTERM), any other is
/// the Ending that it is killed with.
inline constexpr char kAskToEnd = '\x7f';

/// How a command ended, as the keeper says it over the command's own socket.
struct CommandEnd {
  ExitStatus status;
  std::string failure;  ///< a layer that could not be set up; "" when none
};
std::string encode_end(const CommandEnd& end);
CommandEnd decode_end(std::string_view bytes);

}  // namespace sortie

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace sortie {

/// The number of words with which a wrapper begins that changes nothing about what its command does:
/// `timeout 60`, `nice -n 5`, `stdbuf -oL`, `ionice -c3`, `time -p`, `command`, and `env` with
/// harmless variables (harmless_variables.h). Their options are read as far as they are known to be
/// harmless too.
/// @param argv   a command's words
/// @param fixed  words from here on may be expanded by the shell
/// @return nothing for every other command, also where no command follows
std::optional<std::size_t> plain_wrapper(std::span<const std::string> argv, std::size_t fixed);

}  // namespace sortie

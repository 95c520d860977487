#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/process/launcher.h"

namespace sortie {

/// Takes the output of a command as it comes, stdout and stderr in one stream.
using OutputSink = std::function<void(std::string_view)>;

/// What goes into a command and comes out of it.
struct CommandTraffic {
  OutputSink output;
  OutputSink errors{};       ///< gets stderr where the command has `errors_apart`
  std::string_view input{};  ///< all of its stdin where that is CommandInput::pipe
  /// Whether stderr counts towards `max_output_bytes`. It does not where `errors` drops what is too
  /// much.
  bool errors_count = true;
};

/// Starts the command, hands its output on as it comes, and returns once it has ended and nothing
/// of it is alive: by itself, at its time or output limit, or on a stop request.
///
/// Output that is past `command.max_output_bytes`, stdout and stderr together, is not handed on;
/// the command is ended there. A command that does not read its input to the end is no failure.
/// @throws Error  when the command could not be confined; a program that does not exist is an
///                ExitStatus with Ending::not_started
ExitStatus run_command(Launcher& launcher, const Command& command, const CommandTraffic& traffic,
                       std::stop_token stop);
ExitStatus run_command(Launcher& launcher, const Command& command, const OutputSink& output,
                       std::stop_token stop);

}  // namespace sortie

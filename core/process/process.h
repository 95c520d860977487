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

/// Receives the output of a command as it arrives, stdout and stderr in one stream.
using OutputSink = std::function<void(std::string_view)>;

/// The input and output of a command.
struct CommandTraffic {
  OutputSink output;
  OutputSink errors{};       ///< receives stderr if the command has `errors_apart`
  std::string_view input{};  ///< all of its stdin with CommandInput::pipe
  /// Whether stderr counts towards `max_output_bytes`; false if `errors` limits it by itself.
  bool errors_count = true;
};

/// Starts the command, passes its output on as it arrives, and returns once the command and all its
/// descendants have ended: by itself, at its time or output limit, or on a stop request.
///
/// Output past `command.max_output_bytes`, stdout and stderr together, is dropped, and the command
/// is killed. It is not an error if a command does not read all its input.
/// @throws Error  if the command could not be confined; a program that does not exist is an
///                ExitStatus with Ending::not_started
ExitStatus run_command(Launcher& launcher, const Command& command, const CommandTraffic& traffic,
                       std::stop_token stop);
ExitStatus run_command(Launcher& launcher, const Command& command, const OutputSink& output,
                       std::stop_token stop);

}  // namespace sortie

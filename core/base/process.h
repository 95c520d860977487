#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/launcher.h"

namespace sortie {

/// Takes the output of a command as it comes, stdout and stderr in one stream.
using OutputSink = std::function<void(std::string_view)>;

/// Starts the command, hands its output to `output` as it comes, and returns once it has ended and
/// nothing of it is alive: by itself, at its time or output limit, or on a stop request.
///
/// Output that is past `command.max_output_bytes` is not handed on; the command is ended there.
/// @throws Error  when the command could not be confined; a program that does not exist is an
///                ExitStatus with Ending::not_started
ExitStatus run_command(Launcher& launcher, const Command& command, const OutputSink& output,
                       std::stop_token stop);

}  // namespace sortie

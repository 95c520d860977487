#pragma once

#include <string>

#include "app/inputs/options.h"

namespace sortie {

/// The text of a task that is no file: all of stdin, or made of --prompt. "" if TASK is a file.
/// Placeholders of a prompt in the command line are the task's; those of one from stdin are text.
/// @throws InputError  stdin has none
std::string text_of_task(const RunOptions& options);

}  // namespace sortie

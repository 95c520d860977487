#pragma once

#include <exception>

#include "core/base/error.h"

namespace sortie {

/// What to do about exit code 70.
inline constexpr const char* kHowToReport =
    "please report it, with the output of 'sortie doctor --json' and, of a run, the transcript; "
    "look through it for what is not to be shown";

/// What came of an exception that nothing has made something of: an Error as it is; what the
/// machine did not give (a thread, memory, a folder that is gone) is the environment's, with the
/// cause; anything else is a bug.
Error failure_of(const std::exception& error);

/// What a sandbox can't be set up without: /proc, files of a size that it needs, and enough open
/// files, whose limit is raised where the system lets it.
/// @throws Error  environment: what is missing, and what to do
void check_machine();

/// Gives this thread and those to come the stack that a program usually has, where the caller gave
/// less. To be called first of all: without it sortie would end by SIGSEGV.
/// @return  what is missing, and what to do; "" where the stack is large enough
std::string widen_stack();

/// @throws Error  environment: the folder in which the program was started is gone
void check_current_folder();

}  // namespace sortie

#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace sortie {

/// What to do about exit code 70.
inline constexpr const char* kHowToReport =
    "please report it, with the output of 'sortie doctor --json' and, of a run, the transcript; "
    "check them for anything confidential first";

/// What to do about an error of the environment.
std::string after_environment(Cause cause);

/// Turns an uncaught exception into an Error: an Error stays as it is; a lack of resources (threads,
/// memory, a deleted folder) is an error of the environment, with its cause; anything else is a bug.
Error failure_of(const std::exception& error);

/// Checks what a sandbox needs: /proc, a large enough file size limit, and enough open files, whose
/// limit is raised if possible.
/// @throws Error  environment: what is missing, and what to do
void check_machine();

/// Gives this thread and later ones the usual stack size if the caller gave less. Call it first:
/// otherwise sortie could end by SIGSEGV.
/// @return  what is missing, and what to do; "" if the stack is large enough
std::string widen_stack();

/// @throws Error  environment: the current folder was deleted
void check_current_folder();

}  // namespace sortie

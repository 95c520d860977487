#pragma once

#include <string>

#include "app/run/end_facts.h"

namespace sortie {

// What to do about the end of a run whose model could not be asked, or did not answer: one sentence each.

/// The provider refuses the key, or there is none (ExitCode::auth).
std::string after_auth(const EndFacts& facts);
/// The provider refuses the request, or the model refuses the task (ExitCode::refused).
std::string after_refusal(const EndFacts& facts);
/// The account has no requests left for now, or at all (ExitCode::limited).
std::string after_limit(const EndFacts& facts);
/// The server can't be reached, or fails (ExitCode::unavailable).
std::string after_unavailable(const EndFacts& facts);

}  // namespace sortie

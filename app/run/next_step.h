#pragma once

#include <string>

#include "app/run/end_facts.h"
#include "ci/tally.h"

namespace sortie {

/// The denied command, or the tool with its path, in quotes, as it could be pasted.
std::string denied_text(const Denial& denial);

/// "a connection to 'example.org:443'"
std::string denied_text(const DeniedHost& one);

/// What to do about the end of a run that does not know it itself: one sentence, never "".
std::string next_step(const EndFacts& facts);

/// What to do where --apply could not write the diff, which is in that file.
std::string after_failed_apply(const std::string& diff);

/// The cause of a run that changed nothing, with what was denied to it and the agent's own words;
/// the reason as it is for all others.
std::string full_reason(const EndFacts& facts);

}  // namespace sortie

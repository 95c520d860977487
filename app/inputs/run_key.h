#pragma once

#include <string>

#include "app/inputs/run_inputs.h"
#include "core/json/json.h"

namespace sortie {

/// What determines a run's outcome: task with all files that it names, policy, variables, model,
/// HEAD, version. Not its budget, the date, or its id.
/// @return  an object of texts and digests, by what they are of
Json run_key_parts(const RunInputs& inputs, const std::string& head_commit);

/// Their digest: "sha256:…".
std::string run_key(const Json& parts);

/// What differs, for people: "the task, the variable 'who', the model (a, now b)". "" for nothing.
std::string differing_parts(const Json& before, const Json& now);

}  // namespace sortie

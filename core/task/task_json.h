#pragma once

#include <string>

#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// The effective task with every default, as JSON: what `task check` prints and the digest covers.
Json task_json(const Task& task);

/// "sha256:…" of the effective task without its budget: once more after flags changed the task.
std::string task_digest(const Task& task);

}  // namespace sortie

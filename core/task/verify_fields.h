#pragma once

#include "core/config/fields.h"
#include "core/task/task.h"

namespace sortie {

/// The task's `verify`: a mapping, or a list of commands for short.
FieldValue verify_value(TaskVerify& verify);

}  // namespace sortie

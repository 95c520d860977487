#pragma once

#include "core/config/fields.h"
#include "core/task/task_draft.h"

namespace sortie {

/// The task's `stages`: `NAME: prompt`, the plain word `verify`, or the long form.
FieldValue stages_value(TaskDraft& draft);

/// The task's `verify`: a mapping, or a list of commands for short.
FieldValue verify_value(TaskVerify& verify);

}  // namespace sortie

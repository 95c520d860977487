#pragma once

#include <vector>

#include "core/catalog/item.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"

namespace sortie {

/// A task's images as the first message has them.
///
/// @throws Error  code 2: the file of one holds a known secret, which can't be replaced in it
std::vector<Image> task_images(const std::vector<TaskImage>& images, const Redactor& redactor);

}  // namespace sortie

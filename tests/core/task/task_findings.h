#pragma once

#include <string>

#include "core/base/error.h"
#include "core/task/task.h"
#include "core/task/task_loader.h"

namespace sortie::test {

/// What is wrong with the task's text, as it is shown.
inline std::string findings_of(const std::string& text) {
  try {
    load_task("-", text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

inline std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace sortie::test

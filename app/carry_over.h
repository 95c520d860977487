#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/base/redact.h"
#include "core/model/item.h"
#include "core/task/task.h"

namespace sortie {

/// The most that is read of the notes, and written.
constexpr std::size_t kMostNotes = 64u << 10;

/// Where the notes are that one run leaves to the next: beside --out. "" where the task has none.
std::filesystem::path carry_over_file(const Task& task, const std::filesystem::path& out);

struct CarriedNotes {
  std::string text;  ///< valid UTF-8; "" where there are none yet
  bool cut = false;  ///< there was more
};

/// @throws InputError  for what is no regular file, a link too, or can't be read
CarriedNotes read_carry_over(const std::filesystem::path& file);

/// The notes as the model is shown them: data, not instructions.
Item notes_message(const std::string& name, const std::string& notes, const Redactor& redactor);

/// Replaces the notes atomically; what is too long is cut.
/// @throws Error  where a link stands in their place, or they can't be written
void write_carry_over(const std::filesystem::path& file, const std::string& text);

}  // namespace sortie

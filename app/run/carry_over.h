#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/catalog/item.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"

namespace sortie {

/// What notes begin with, and no other file: nothing else is read as notes, or replaced by them.
inline constexpr std::string_view kNotesMark = "<!-- notes of sortie: context.carry_over -->\n";

/// The most that is read of the notes, and written.
constexpr std::size_t kMostNotes = 64u << 10;

/// Where the notes are that one run leaves to the next: beside --out. "" where the task has none.
std::filesystem::path carry_over_file(const Task& task, const std::filesystem::path& out);

struct CarriedNotes {
  std::string text;  ///< valid UTF-8, without the mark; "" where there are none yet
  bool cut = false;  ///< there was more
};

/// @throws InputError  for what is no regular file, a link too, does not begin with the mark, or
///                     can't be read
CarriedNotes read_carry_over(const std::filesystem::path& file);

/// The notes as the model is shown them: data, not instructions.
Item notes_message(const std::string& name, const std::string& notes, const Redactor& redactor);

/// Replaces the notes atomically, and leaves their mode as it is; what is too long is cut.
/// @throws Error  where something else stands in their place, or they can't be written
void write_carry_over(const std::filesystem::path& file, const std::string& text);

}  // namespace sortie

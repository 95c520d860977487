#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"

namespace sortie {

/// The notes that one run leaves for the next, by `context.carry_over`: a file next to --out.
///
/// It begins with a mark, so that no other file is read as notes or replaced.
class RunNotes {
 public:
  RunNotes(const Task& task, const std::filesystem::path& out);

  /// "" if the task has none.
  const std::filesystem::path& file() const noexcept { return file_; }
  bool are_kept() const noexcept { return !file_.empty(); }
  /// Reads what an earlier run left.
  /// @param warnings  get an entry if the notes were cut
  /// @throws InputError  not a regular file, a link, without the mark, or unreadable
  void read(std::vector<std::string>& warnings);
  /// The notes as a message for the model: data, not instructions. Nothing if there are none, and from
  /// the second call on.
  std::optional<Item> take_message(const Redactor& redactor);
  /// @param text  redacted
  void set(std::string text) { new_ = std::move(text); }
  /// Replaces the file by the new notes, atomically, and keeps its mode; notes that are too long are
  /// cut.
  /// @throws Error  another file is in its place, or it can't be written
  void write() const;

 private:
  std::string name_;  ///< as the task has it
  std::filesystem::path file_;
  std::string old_;
  std::string new_;
};

}  // namespace sortie

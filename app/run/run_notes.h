#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/secrets/redact.h"
#include "core/task/task.h"

namespace sortie {

/// The notes that one run leaves to the next, by `context.carry_over`: a file beside --out.
///
/// It begins with a mark, as no other file does: nothing else is read as notes, or replaced.
class RunNotes {
 public:
  RunNotes(const Task& task, const std::filesystem::path& out);

  /// "" where the task has none.
  const std::filesystem::path& file() const noexcept { return file_; }
  bool are_kept() const noexcept { return !file_.empty(); }
  /// Reads what an earlier run left.
  /// @param warnings  hear of what was cut
  /// @throws InputError  for what is no regular file, a link too, does not begin with the mark, or
  ///                     can't be read
  void read(std::vector<std::string>& warnings);
  /// What was read, as the model is shown it: data, not instructions. Nothing where there is none,
  /// and from the second call on.
  std::optional<Item> take_message(const Redactor& redactor);
  /// @param text  redacted
  void set(std::string text) { new_ = std::move(text); }
  /// Replaces the file by what was set, atomically, and leaves its mode as it is; what is too long
  /// is cut.
  /// @throws Error  where something else stands in its place, or it can't be written
  void write() const;

 private:
  std::string name_;  ///< as the task has it
  std::filesystem::path file_;
  std::string old_;
  std::string new_;
};

}  // namespace sortie

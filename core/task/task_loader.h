#pragma once

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/config/diagnostic.h"
#include "core/config/yaml.h"
#include "core/json/json.h"
#include "core/task/placeholders.h"
#include "core/task/referenced_files.h"
#include "core/task/task.h"
#include "core/task/task_fields.h"

namespace sortie {

/// A task file that has been read, but not the files that it names: load() reads those, once it is
/// known which of them may be read.
class TaskFile {
 public:
  /// @param path  "-" reads `text` instead; relative paths in the file are relative to its folder
  /// @param called  what errors call that text
  /// @throws InputError  the file can't be opened; errors in its text come from load()
  explicit TaskFile(const std::string& path, const std::string& text = {},
                    const std::string& called = "<stdin>");

  /// The content of the file itself.
  const Task& task() const noexcept { return draft_.task; }
  /// The files that it names (prompts, images, functions, the output's schema, the cassette):
  /// absolute, links not resolved.
  std::vector<std::filesystem::path> named_files() const;
  /// The whole task; call it once.
  /// @throws InputError  all findings at once, each with FILE:LINE:COLUMN, the line and a caret
  Task load(const RefusedFiles& refused = {});
  /// Ends with all findings of the file itself, without reading the files that it names, and with
  /// what is wrong besides.
  /// @param policy  why the policy can't be used, or ""
  /// @param others  further errors with their places, or ""
  /// @throws InputError  always
  [[noreturn]] void refuse(const std::string& policy, const std::string& others);

 private:
  void read();
  void remember_places(const YamlNode& node, const std::string& prefix);
  std::filesystem::path prompt_path(const std::string& named) const;
  void check(ReferencedFiles& files);
  void check_prompt_sources();
  void check_prompt(const std::string& prompt, const TextPlace& place);
  template <typename PlaceOf>
  void check_parts(const std::string& prompt, const PlaceOf& place_of);
  std::string read_prompt_file(const std::string& named, const TextPlace& place,
                               ReferencedFiles& files);
  void read_functions(ReferencedFiles& files);
  void check_tools();
  void check_choice(const std::string& choice, const std::vector<std::string>& tools,
                    const std::string& who, const TextPlace& place);
  void check_stage(TaskStage& stage, const TaskDraft::StagePlace& place, ReferencedFiles& files);
  std::string shown(const TextPlace& place) const;

  std::filesystem::path file_;  ///< absolute; empty for stdin
  std::filesystem::path folder_;
  Diagnostics findings_;
  std::size_t source_ = 0;
  YamlNode root_;
  TaskDraft draft_;
  bool names_are_known_ = true;  ///< those of functions, which are in a file of their own
};

/// "task.yaml:3:5: error: " for an error about the first of the keys that the file has; "" if it has
/// none of them.
std::string error_at(const Task& task, std::initializer_list<const char*> keys);

/// Reads a task and all files that it names.
/// @throws InputError  as TaskFile
Task load_task(const std::string& path, const std::string& stdin_text = {});

/// The effective task with every default, as JSON: what `task check` prints and the digest covers.
Json task_json(const Task& task);

/// "sha256:…" of the effective task without its budget; to be made again after flags changed it.
std::string task_digest(const Task& task);

/// JSON Schema (draft 2020-12) of the task file, from the same table as reading and task_json().
Json task_schema();

}  // namespace sortie

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/config/diagnostic.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// Files that may not be read for a task, each with the reason: absolute, as the task names them.
using RefusedFiles = std::map<std::filesystem::path, std::string>;

/// Reads the files that a task names. What is wrong with one is a finding where the task names it;
/// of one that may not be read nothing is shown.
class ReferencedFiles {
 public:
  /// Both outlive it.
  ReferencedFiles(const RefusedFiles& refused, Diagnostics& findings)
      : refused_(refused), findings_(findings) {}

  /// Whether the file may be read; a finding where not.
  /// @param what  "image"
  bool may_read(const std::filesystem::path& file, const std::string& what, const TextPlace& place);
  /// The whole text; nothing after a finding. A blank one is one.
  std::optional<std::string> read_prompt(const std::filesystem::path& file, const TextPlace& place);
  /// What it is says its content, not its name.
  void read_image(TaskImage& image, const TextPlace& place);
  /// A schema that can be checked in full; else misfits would pass.
  std::optional<Json> read_schema(const std::filesystem::path& file, const TextPlace& place);

 private:
  void refuse(const std::filesystem::path& file, const std::string& what,
              const std::string& problem, const TextPlace& place);

  const RefusedFiles& refused_;
  Diagnostics& findings_;
};

/// Nothing but white space.
bool is_blank_prompt(std::string_view text) noexcept;

}  // namespace sortie

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

/// Reads the files that a task names. Errors become findings at the place where the task names the
/// file; nothing of a file that may not be read is shown.
class ReferencedFiles {
 public:
  /// @param refused, findings  outlive this object
  ReferencedFiles(const RefusedFiles& refused, Diagnostics& findings)
      : refused_(&refused), findings_(findings) {}
  /// Reads none, and finds nothing wrong with any.
  explicit ReferencedFiles(Diagnostics& findings) : findings_(findings) {}

  bool are_read() const noexcept { return refused_ != nullptr; }

  /// Whether the file may be read; otherwise adds a finding.
  /// @param what  "image"
  bool may_read(const std::filesystem::path& file, const std::string& what, const TextPlace& place);
  /// The whole text, not blank; nothing after a finding.
  std::optional<std::string> read_prompt(const std::filesystem::path& file, const TextPlace& place);
  /// The image's type comes from its content, not from its name.
  void read_image(TaskImage& image, const TextPlace& place);
  /// A schema that can be checked in full; nothing after a finding.
  std::optional<Json> read_schema(const std::filesystem::path& file, const TextPlace& place);

 private:
  void refuse(const std::filesystem::path& file, const std::string& what,
              const std::string& problem, const TextPlace& place);

  const RefusedFiles* refused_ = nullptr;
  Diagnostics& findings_;
};

/// Reads the image at its path. @return  why it can't be used; or ""
std::string load_image(TaskImage& image);

/// Whether there is nothing but white space.
bool is_blank_prompt(std::string_view text) noexcept;

}  // namespace sortie

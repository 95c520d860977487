#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/git/git_repository.h"

namespace sortie {

/// The files of one commit, read from the object database of a repository.
class CommitFiles {
 public:
  /// Searches for the repository around the folder.
  explicit CommitFiles(const std::filesystem::path& folder, const std::string& commit);

  /// "" if the commit is there, else why it is not: no repository, no such commit.
  const std::string& problem() const noexcept { return problem_; }
  /// The folder that contains `.git`; "" if there is no repository.
  const std::filesystem::path& toplevel() const noexcept { return found_.toplevel; }
  /// The file's bytes, or a link's target; nothing if the commit has no such file.
  /// @param path  from the toplevel
  /// @throws Error  the object is missing, as in a partial clone
  std::optional<std::string> content(const std::string& path) const;

 private:
  FoundRepository found_;
  GitTree tree_;
  std::string problem_;
};

}  // namespace sortie

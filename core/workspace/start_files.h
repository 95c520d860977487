#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/workspace/start_list.h"

namespace sortie {

/// The tree at the start of a run that works in it: files that are as they were are read from the
/// tree, changed ones from the kept copies and the repository's objects. What is ignored by git and
/// has changed does not exist in it: nobody knows what it was. Can't be written to.
class StartFiles : public Files {
 public:
  /// If commands have closed the tree's own folder, it is opened first.
  /// @param list     outlives the object
  /// @param kept     the folder of kept copies
  /// @param objects  object folders of the user's repository
  /// @throws Error
  StartFiles(const StartList& list, const std::filesystem::path& kept,
             const std::vector<std::filesystem::path>& objects);

  std::optional<std::string> read(const std::filesystem::path& path,
                                  std::uint64_t max_bytes = kMostFileBytes) const override;
  std::optional<FileStatus> status(const std::filesystem::path& path) const override;
  std::filesystem::path resolve(const std::filesystem::path& path) const override;
  std::string read_link(const std::filesystem::path& path) const override;
  std::vector<FolderEntry> list(const std::filesystem::path& folder) const override;
  void write(const std::filesystem::path& path, std::string_view content, unsigned mode) override;
  void remove(const std::filesystem::path& path) override;
  bool remove_empty_folder(const std::filesystem::path& path) override;
  void replace_all(const std::vector<Replacement>& replacements) override;

  /// Whether the tree still has the entry's very file, unchanged.
  bool is_untouched(const StartEntry& entry) const;
  /// The content of a changed file at the start. @throws ToolError  it is lost
  std::string held_content(const StartEntry& entry) const;
  /// The kept copy of an entry with Held::kept.
  std::filesystem::path kept_copy(const StartEntry& entry) const { return kept_ / entry.place; }

 private:
  const StartEntry* entry_at(const std::filesystem::path& path) const;
  bool is_known(const StartEntry& entry) const;
  std::filesystem::path resolve_parts(const std::filesystem::path& path, bool last) const;

  const StartList& list_;
  std::filesystem::path kept_;
  Fd root_;
  std::unique_ptr<DiskFiles> tree_;
  GitOdb objects_;
};

}  // namespace sortie

#pragma once

#include "core/files/files.h"

namespace sortie {

/// The files of a folder of another tree, for reading: writing throws. Links that lead out of the
/// folder are those of the other tree.
class FilesBelow : public Files {
 public:
  /// @param files   outlives the object
  /// @param folder  relative to its root
  FilesBelow(const Files& files, std::filesystem::path folder);
  std::optional<std::string> read(const std::filesystem::path& path,
                                  std::uint64_t max_bytes = kMostFileBytes) const override;
  std::vector<std::optional<RegularFile>> read_many(
      const std::vector<std::filesystem::path>& paths) const override;
  std::optional<FileStatus> status(const std::filesystem::path& path) const override;
  std::filesystem::path resolve(const std::filesystem::path& path) const override;
  std::string read_link(const std::filesystem::path& path) const override;
  std::vector<FolderEntry> list(const std::filesystem::path& folder) const override;
  void write(const std::filesystem::path& path, std::string_view content, unsigned mode) override;
  void remove(const std::filesystem::path& path) override;
  bool remove_empty_folder(const std::filesystem::path& path) override;
  void replace_all(const std::vector<Replacement>& replacements) override;

 private:
  std::filesystem::path at(const std::filesystem::path& path) const;

  const Files& files_;
  std::filesystem::path folder_;
};

}  // namespace sortie

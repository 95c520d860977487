#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

inline constexpr std::uint64_t kMostFileBytes = 256ull << 20;  ///< that are read of one file

/// What stands at a path, links not followed.
struct FileStatus {
  enum class Kind { file, folder, symlink, other };
  Kind kind = Kind::file;
  unsigned mode = 0644;     ///< permission bits, 0 to 07777
  std::uint64_t size = 0;   ///< bytes
  std::uint64_t links = 1;  ///< hard links
  bool operator==(const FileStatus&) const = default;
};

/// A regular file as it was read.
struct RegularFile {
  std::string content;
  unsigned mode = 0644;
  bool operator==(const RegularFile&) const = default;
};

struct FolderEntry {
  std::string name;
  FileStatus::Kind kind = FileStatus::Kind::file;
  bool operator==(const FolderEntry&) const = default;
};

/// What is to stand at a path of a tree.
struct Replacement {
  std::filesystem::path path{};
  std::optional<std::string_view> content{};  ///< nothing: the file or link there goes
  unsigned mode = 0644;
};

/// The files of one tree. Paths are relative to its root and never leave it: "..", absolute paths
/// and symlinks that point outside are a ToolError.
class Files {
 public:
  virtual ~Files() = default;
  /// The whole content; nothing when there is no such file. Follows links inside the tree.
  /// @throws ToolError  a folder, a special file, larger than max_bytes, no permission
  virtual std::optional<std::string> read(const std::filesystem::path& path,
                                          std::uint64_t max_bytes = kMostFileBytes) const = 0;
  /// The regular files at these paths, the last link not followed; nothing where none stands, or
  /// it can't be read: read() says why.
  virtual std::vector<std::optional<RegularFile>> read_many(
      const std::vector<std::filesystem::path>& paths) const;
  /// What is there, the last link not followed; nothing when there is nothing.
  virtual std::optional<FileStatus> status(const std::filesystem::path& path) const = 0;
  /// The path without links, relative to the root; parts that don't exist stay as they are.
  /// @throws ToolError  when it leads outside
  virtual std::filesystem::path resolve(const std::filesystem::path& path) const = 0;
  virtual std::string read_link(const std::filesystem::path& path) const = 0;
  /// Entries sorted by name in byte order, "." and ".." left out.
  virtual std::vector<FolderEntry> list(const std::filesystem::path& folder) const = 0;
  /// Replaces the file by a temporary file and rename, with this mode; makes its parent folders.
  /// The last link is not followed but replaced: resolve() first to write through it.
  virtual void write(const std::filesystem::path& path, std::string_view content,
                     unsigned mode) = 0;
  /// Removes a file or link; not a folder.
  virtual void remove(const std::filesystem::path& path) = 0;
  /// Removes a folder if it is empty; false if it is not.
  virtual bool remove_empty_folder(const std::filesystem::path& path) = 0;
  /// Writes and removes in this order, as write() and remove() do, all of it or nothing: all
  /// contents lie beside their places before the first of them appears, and when a step fails,
  /// what stood there stands there again. No two of the paths lead to one file; contents that
  /// replace files one after the other may appear at the same time.
  /// @throws ToolError  "Failed to write file PATH: cause. No file was changed."; or what could
  ///                    not be put back
  virtual void replace_all(const std::vector<Replacement>& replacements) = 0;
};

/// The tree below an open folder, on openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS): no link and
/// no race leads out of it (openat2(2)).
class DiskFiles : public Files {
 public:
  /// @param root  the folder, opened with O_PATH or O_RDONLY
  explicit DiskFiles(Fd root);
  std::optional<std::string> read(const std::filesystem::path& path,
                                  std::uint64_t max_bytes = kMostFileBytes) const override;
  /// Several at the same time.
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
  int root() const noexcept { return root_.get(); }

 private:
  Fd root_;
};

/// A file that appears whole or not at all: written beside its place, synced and renamed by
/// commit(); without commit() it vanishes.
class AtomicFile {
 public:
  /// @throws Error  with the path and the cause; nothing is left behind
  explicit AtomicFile(std::filesystem::path path, unsigned mode = 0644);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  void write(std::string_view bytes);
  /// Changes the owner of what is to appear. @throws Error
  void give_to(unsigned user, unsigned group);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd file_;
};

/// The content of a file outside any workspace.
/// @throws Error  "PATH: cause" with ExitCode::usage
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes = kMostFileBytes);
/// AtomicFile in one call.
void write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644);

/// A text file that was read, or why it was not.
struct TextFile {
  std::string text;
  std::string problem;  ///< "no such file", "is a folder", "is not UTF-8"; "" where it was read
};

enum class Pipes { refused, accepted };

/// Reads a whole file that has to be UTF-8 text: a regular one. With Pipes::accepted a pipe or a
/// character device is read too, as shells make one of `<(command)` and `/dev/stdin`: up to 64 MiB,
/// and as long as no more than 10 s go by without a byte (ReadLimits).
TextFile read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                        Pipes pipes = Pipes::refused);

/// The same of any bytes.
TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                         Pipes pipes = Pipes::refused);

}  // namespace sortie

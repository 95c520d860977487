#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

inline constexpr std::uint64_t kMostFileBytes = 256ull << 20;  ///< the most that is read of a file

/// The file at a path, links not followed.
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

/// A file to be written or removed.
struct Replacement {
  std::filesystem::path path{};
  std::optional<std::string_view> content{};  ///< nothing: the file or link is removed
  unsigned mode = 0644;
};

/// The files of one tree. Paths are relative to its root and never leave it: ".." out of it,
/// absolute paths and symlinks that point outside are a ToolError.
class Files {
 public:
  virtual ~Files() = default;
  /// The whole content; nothing when there is no such file. Follows links inside the tree.
  /// @throws ToolError  for a folder, a special file, one larger than max_bytes, no permission
  virtual std::optional<std::string> read(const std::filesystem::path& path,
                                          std::uint64_t max_bytes = kMostFileBytes) const = 0;
  /// The regular files at these paths, the last link not followed; nothing for one that does not
  /// exist or can't be read: read() gives the reason.
  virtual std::vector<std::optional<RegularFile>> read_many(
      const std::vector<std::filesystem::path>& paths) const;
  /// The file's status, the last link not followed; nothing if it does not exist.
  virtual std::optional<FileStatus> status(const std::filesystem::path& path) const = 0;
  /// The path without links, relative to the root; parts that don't exist stay as they are.
  /// @throws ToolError  if it leads outside
  virtual std::filesystem::path resolve(const std::filesystem::path& path) const = 0;
  virtual std::string read_link(const std::filesystem::path& path) const = 0;
  /// The entries sorted by name in byte order, without "." and "..".
  virtual std::vector<FolderEntry> list(const std::filesystem::path& folder) const = 0;
  /// Replaces the file by a temporary file and rename, with this mode; makes its parent folders.
  /// The last link is not followed but replaced: resolve() first to write through it.
  virtual void write(const std::filesystem::path& path, std::string_view content,
                     unsigned mode) = 0;
  /// Removes a file or link; not a folder.
  virtual void remove(const std::filesystem::path& path) = 0;
  /// Removes a folder if it is empty; false if it is not.
  virtual bool remove_empty_folder(const std::filesystem::path& path) = 0;
  /// Writes and removes in this order, as write() and remove() do, all or nothing: all contents are
  /// on disk before the first one appears, and if a step fails, the old files are restored. No two
  /// paths may lead to one file; consecutive replacements of files may run concurrently.
  /// @throws ToolError  "Failed to write file PATH: cause. No file was changed."; or the files that
  ///                    could not be restored
  virtual void replace_all(const std::vector<Replacement>& replacements) = 0;
};

/// The tree below an open folder, on openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS): no link and
/// no race leads out of it (openat2(2)).
class DiskFiles : public Files {
 public:
  /// @param root   the folder, opened with O_PATH or O_RDONLY
  /// @param place  its absolute path as commands see it: links to absolute paths below it are
  ///               followed; "": no absolute link is
  explicit DiskFiles(Fd root, std::filesystem::path place = {});
  std::optional<std::string> read(const std::filesystem::path& path,
                                  std::uint64_t max_bytes = kMostFileBytes) const override;
  /// Reads several at the same time.
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
  /// open_beneath(), also through absolute links that lead back into the tree.
  Fd open(const std::string& name, int flags) const;

  Fd root_;
  std::filesystem::path place_;
};

/// What of a new file a power loss must not take.
enum class Synced {
  name,     ///< all of it
  content,  ///< where there is the name, there is the content: another sync of the folder follows
  nothing,  ///< the file may also be empty
};

/// A file that appears complete or not at all: written to a temporary name, synced and renamed by
/// commit(); removed without commit().
class AtomicFile {
 public:
  /// @throws Error  with the path and the cause; nothing is left behind
  explicit AtomicFile(std::filesystem::path path, unsigned mode = 0644);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  void write(std::string_view bytes);
  /// Changes the owner of the new file. @throws Error
  void give_to(unsigned user, unsigned group);
  void commit(Synced synced = Synced::name);

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd file_;
};

/// The content of a file outside any workspace.
/// @throws Error  "PATH: cause" with ExitCode::usage
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes = kMostFileBytes);
/// Writes a file with AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644,
                Synced synced = Synced::name);

/// The content of a text file, or why it could not be read.
struct TextFile {
  std::string text;
  std::string problem;  ///< "no such file", "is a folder", "is not UTF-8"; "" on success
};

enum class Pipes { refused, accepted };

/// Reads a whole regular file that has to be UTF-8 text. With Pipes::accepted also a pipe or a
/// character device, such as a shell's `<(command)` and `/dev/stdin`: up to 64 MiB, with at most
/// 10 s without a byte (ReadLimits).
TextFile read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                        Pipes pipes = Pipes::refused);

/// The same for any bytes.
TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                         Pipes pipes = Pipes::refused);

}  // namespace sortie

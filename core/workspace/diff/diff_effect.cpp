#include "core/workspace/diff/diff_effect.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/disk_place.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using Kind = FileStatus::Kind;

constexpr unsigned kLink = 0120000;

class EffectWriter {
 public:
  EffectWriter(DiskFiles& tree, const WrittenAt& written) : tree_(tree), written_(written) {}

  void run(const DiffEffect& effect) {
    // As git: all files are removed before any is made.
    for (const std::string& path : effect.removes) remove(path);
    for (const auto& [path, entry] : effect.makes) make(path, entry);
  }

 private:
  void remove(const std::string& path) {
    const auto status = tree_.status(path);
    if (!status || status->kind == Kind::folder) return;
    tree_.remove(path);
    for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path())
      if (!tree_.remove_empty_folder(above)) return;
  }

  void make(const std::string& path, const TreeEntry& entry) {
    make_way(path);
    const auto status = tree_.status(path);
    if (status && status->kind == Kind::folder) remove_at(tree_, path);
    if (entry.mode == kLink)
      link(path, entry.content);
    else
      tree_.write(path, entry.content, permissions(entry, status));
    set_time(path);
  }

  /// What was no folder at the start, and is one for the diff: an ignored link, for example.
  void make_way(const std::string& path) {
    for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      const auto status = tree_.status(above);
      if (!status) return;
      if (status->kind != Kind::folder) tree_.remove(above);
    }
  }

  static unsigned permissions(const TreeEntry& entry, const std::optional<FileStatus>& start) {
    const bool executable = (entry.mode & 0100) != 0;
    if (start && start->kind == Kind::file && ((start->mode & 0100) != 0) == executable)
      return start->mode & 0777;
    return executable ? 0755 : 0644;
  }

  void link(const std::string& path, const std::string& target) {
    const auto [folder, name] = disk::split_name(path);
    const Fd open = disk::make_folders(tree_.root(), folder, path);
    struct stat owner {};
    if (tree_.status(path)) tree_.remove(path);
    if (::symlinkat(target.c_str(), open.get(), name.c_str()) != 0 ||
        ::fstat(open.get(), &owner) != 0)
      disk::fail_errno(path, errno);
    if (::geteuid() == 0 &&
        ::fchownat(open.get(), name.c_str(), owner.st_uid, owner.st_gid, AT_SYMLINK_NOFOLLOW) != 0)
      disk::fail_errno(path, errno);
  }

  void set_time(const std::string& path) {
    const auto time = written_ ? written_(path) : std::nullopt;
    if (!time) return;
    const auto [folder, name] = disk::split_name(path);
    const Fd open = open_beneath(tree_.root(), folder, O_PATH | O_DIRECTORY);
    const timespec times[2] = {*time, *time};
    if (!open || ::utimensat(open.get(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
      disk::fail_errno(path, errno);
  }

  DiskFiles& tree_;
  const WrittenAt& written_;
};

Error tree_error(const ToolError& error) {
  return Error(std::string("the tree of the verification: ") + error.what(), ExitCode::environment,
               error.cause());
}

void remove_folder(DiskFiles& tree, const std::string& path) {
  for (const FolderEntry& entry : tree.list(path)) {
    const std::string below = path + "/" + entry.name;
    if (entry.kind == Kind::folder)
      remove_folder(tree, below);
    else
      tree.remove(below);
  }
  tree.remove_empty_folder(path);
}

}  // namespace

void write_effect(const DiffEffect& effect, DiskFiles& tree, const WrittenAt& written) {
  try {
    EffectWriter(tree, written).run(effect);
  } catch (const ToolError& error) {
    throw tree_error(error);
  }
}

WrittenAt changed_in(const DiskFiles& run) {
  return [&run](const std::string& path) -> std::optional<timespec> {
    const Fd file = open_beneath(run.root(), path, O_PATH | O_NOFOLLOW);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
    return status.st_ctim;
  };
}

void date_anew(const DiskFiles& tree, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const auto [folder, name] = disk::split_name(path);
    const Fd open = open_beneath(tree.root(), folder, O_PATH | O_DIRECTORY);
    if (!open || ::utimensat(open.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0 ||
        disk::is_missing(errno))
      continue;
    throw system_error("the tree of the verification: " + path_text(path), ExitCode::environment);
  }
}

void remove_at(DiskFiles& tree, const std::string& path) {
  try {
    const auto status = tree.status(path);
    if (!status) return;
    if (status->kind == Kind::folder)
      remove_folder(tree, path);
    else
      tree.remove(path);
  } catch (const ToolError& error) {
    throw tree_error(error);
  }
}

}  // namespace sortie

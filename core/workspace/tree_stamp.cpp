#include "core/workspace/tree_stamp.h"

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/workspace/manifest.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

/// One line an entry, ended by a zero byte, which no path holds.
void add(const std::string& path, const struct stat& status, Sha256& hash) {
  const FileStamp stamp = stamp_of(status);
  std::string line = std::to_string(stamp.mode);
  // A folder's times change with each entry that comes or goes.
  if (!S_ISDIR(status.st_mode))
    line += ' ' + std::to_string(stamp.size) + ' ' + std::to_string(stamp.mtime) + ' ' +
            std::to_string(stamp.ctime);
  hash.update(line + ' ' + path);
  hash.update(std::string_view("\0", 1));
}

void walk(const Fd& folder, const std::string& path, int depth, Sha256& hash) {
  if (depth > kDeepestFolder) throw Error(path + ": nested too deep");
  for (const NamedStatus& entry : list_folder(folder, path)) {
    if (entry.name == ".git") continue;
    const std::string name = joined(path, entry.name);
    add(name, entry.status, hash);
    // What the run hides is covered by a folder without any permission.
    if (S_ISDIR(entry.status.st_mode) && (entry.status.st_mode & 0777) != 0)
      walk(open_folder(folder.get(), entry.name, name), name, depth + 1, hash);
  }
}

}  // namespace

std::optional<std::string> tree_stamp(const Fd& root) {
  try {
    Sha256 hash;
    walk(open_folder(root.get(), ".", "."), "", 0, hash);
    return hash.finish();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sortie

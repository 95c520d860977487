#include "app/confinement/kept_aside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestKeptName = 200;  ///< bytes; with an ending it fits NAME_MAX

Fd open_beneath(const Fd& folder, const std::string& name) {
  return Fd(::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Error cannot_keep(const fs::path& path, int error) {
  return Error("the protected path " + path_text(path) +
                   " was changed, and can't be moved aside: " + errno_text(error) + "; it was left",
               ExitCode::integrity);
}

}  // namespace

void KeptAside::make_folder() {
  if (open_) return;
  std::string name = (tree_ / "sortie-kept-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw system_error("make a folder for what is kept in " + tree_.string(), ExitCode::integrity);
  folder_ = name;
  open_ = Fd(::open(name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open_) throw system_error("open " + name, ExitCode::integrity);
  write_file(folder_ / ".gitignore", "*\n");
}

std::string KeptAside::free_name(const fs::path& path, const char* ending) const {
  std::string flat = path.string();
  std::replace(flat.begin(), flat.end(), '/', '-');
  if (flat.size() > kLongestKeptName) flat.erase(0, flat.size() - kLongestKeptName);
  std::string name = flat + ending;
  struct stat status {};
  for (int i = 2; ::fstatat(open_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0; ++i)
    name = flat + ending + '.' + std::to_string(i);
  return name;
}

bool KeptAside::move(const fs::path& path) {
  Fd folder(::open(tree_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const auto& part : path.parent_path())
    if (folder) folder = open_beneath(folder, part.string());
  if (!folder) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return false;
    throw cannot_keep(path, errno);
  }
  const std::string last = path.filename().string();
  struct stat status {};
  if (::fstatat(folder.get(), last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  make_folder();
  const std::string name = free_name(path, ".found");
  if (::renameat2(folder.get(), last.c_str(), open_.get(), name.c_str(), RENAME_NOREPLACE) == 0)
    return true;
  if (errno == ENOENT) return false;
  throw cannot_keep(path, errno);
}

fs::path KeptAside::place_for_start(const fs::path& path) {
  make_folder();
  return folder_ / free_name(path, ".start");
}

}  // namespace sortie

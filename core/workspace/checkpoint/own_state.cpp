#include "core/workspace/checkpoint/own_state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/files/files.h"
#include "core/workspace/checkpoint/content_mark.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/own_changes.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The most bytes of contents that are read for the marks.
constexpr std::uint64_t kMostRead = 256u << 20;

class Marks {
 public:
  Marks(const fs::path& root, FileMarks marks)
      : files_(open_folder(AT_FDCWD, root.native(), root)),
        left_(marks == FileMarks::contents ? kMostRead : 0) {}

  std::string of(const std::string& path) {
    struct stat status {};
    if (::fstatat(files_.root(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return "gone";
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (S_ISREG(status.st_mode) && size >= left_)
      return std::string((status.st_mode & S_IXUSR) != 0 ? "program " : "file ") +
             std::to_string(size) + "@" + std::to_string(stamp_of(status).mtime);
    if (S_ISREG(status.st_mode)) left_ -= size;
    try {
      const std::string mark = content_mark(files_, path);
      return mark.empty() ? "gone" : mark;
    } catch (const std::exception&) {
      return "unreadable";
    }
  }

 private:
  const DiskFiles files_;
  std::uint64_t left_;
};

}  // namespace

OwnState own_state(const fs::path& root, const std::vector<fs::path>& apart, FileMarks marks,
                   const CancelCheck& check_cancel) {
  OwnState state;
  state.paths = own_changes_since(root, -1, apart, kAllOwnChanges, check_cancel);
  Marks known(root, marks);
  for (const std::string& path : state.paths) {
    if (check_cancel) check_cancel();
    state.list += (path.ends_with('/') ? "folder" : known.of(path)) + " " + json_name(path) + "\n";
  }
  return state;
}

std::map<std::string, std::string> marks_in(std::string_view list) {
  std::map<std::string, std::string> marks;
  while (!list.empty()) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(line.size() + 1, list.size()));
    const auto [mark, name] = split_marked(line);
    if (name.empty()) break;
    marks[path_named(std::string(name))] = mark;
  }
  return marks;
}

}  // namespace sortie

#include "policies/sandbox/view/workspace_search.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/base/fd.h"
#include "core/files/folder_stream.h"
#include "core/text/pattern.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A file mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data_ == MAP_FAILED) data_ = nullptr;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  std::string_view bytes() const {
    return data_ == nullptr ? std::string_view()
                            : std::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `.git` itself, or the folder that a `.git` file names ("gitdir: PATH", of a linked work tree).
fs::path git_folder(const fs::path& folder) {
  const fs::path git = folder / ".git";
  std::error_code error;
  if (!fs::is_regular_file(git, error)) return git;
  const MappedFile file(git);
  std::string_view text = file.bytes();
  constexpr std::string_view kMark = "gitdir: ";
  if (!text.starts_with(kMark)) return git;
  text.remove_prefix(kMark.size());
  return folder / std::string(text.substr(0, text.find('\n')));
}

bool is_passed_over(std::string_view name, const SearchReach& reach) {
  return name == ".git" ||
         (name == "node_modules" && reach.packages == SearchReach::Packages::passed_over);
}

/// A folder for listing, a link not followed.
FolderStream open_listing(int parent, const char* name) {
  return FolderStream(Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
}

using Parts = std::vector<std::string>;

/// @param wanted  the names to find below this folder; none is empty
void add_names(FolderStream& open, const fs::path& at, const std::vector<Parts>& wanted,
               std::vector<fs::path>& found) {
  while (const dirent* entry = open.next()) {
    bool is_found = false;
    std::vector<Parts> below;
    for (const Parts& parts : wanted) {
      if (::strcasecmp(parts.front().c_str(), entry->d_name) != 0) continue;
      if (parts.size() == 1)
        is_found = true;
      else
        below.emplace_back(parts.begin() + 1, parts.end());
    }
    if (is_found) found.push_back(at / entry->d_name);
    if (is_found || below.empty()) continue;
    FolderStream folder = open_listing(open.descriptor(), entry->d_name);
    add_names(folder, at / entry->d_name, below, found);
  }
}

}  // namespace

bool has_wildcard(const std::string& glob) {
  return glob.find_first_of("*?[") != std::string::npos;
}

std::vector<fs::path> search_names(const fs::path& folder, const std::vector<fs::path>& names) {
  std::vector<Parts> wanted;
  for (const fs::path& name : names)
    if (!name.empty()) wanted.emplace_back(name.begin(), name.end());
  std::vector<fs::path> found;
  if (wanted.empty()) return found;
  FolderStream open(folder);
  add_names(open, "", wanted, found);
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> search_globs(const fs::path& folder, const std::vector<std::string>& globs,
                                   bool* complete, const SearchReach& reach) {
  *complete = true;
  std::vector<fs::path> found;
  if (globs.empty()) return found;
  const Pattern pattern = Pattern::path_globs(globs, LetterCase::ignored);
  std::size_t entries = 0;
  std::vector<fs::path> level = {""};
  for (std::size_t depth = 0; depth < reach.levels && !level.empty(); ++depth) {
    std::vector<fs::path> next;
    for (const auto& place : level) {
      FolderStream open(folder / place);
      while (const dirent* entry = open.next()) {
        if (++entries > reach.entries) {
          *complete = false;
          return found;
        }
        const fs::path path = place / entry->d_name;
        const bool counts = entry->d_type != DT_LNK || reach.links == SearchReach::Links::found;
        if (counts && pattern.matches(path.native())) {
          found.push_back(path);
        } else if (open.kind(entry) == DT_DIR && !is_passed_over(entry->d_name, reach)) {
          next.push_back(path);
        }
      }
    }
    level = std::move(next);
  }
  return found;
}

bool git_tracks(const fs::path& folder, const fs::path& path) {
  const MappedFile index(git_folder(folder) / "index");
  const std::string_view bytes = index.bytes();
  // "DIRC", version (32 bit, big endian), entries: …, flags (16 bit; the low 12: the length of the
  // name), [16 more bits in version 3 where flag 0x4000 is set], name, NUL.
  if (bytes.size() < 12 || !bytes.starts_with("DIRC") || bytes[7] < 2 || bytes[7] > 3) return false;
  const std::string name = path.native() + '\0';
  const auto length = [&](std::size_t at) {
    return ((static_cast<unsigned char>(bytes[at]) & 0x0fu) << 8) |
           static_cast<unsigned char>(bytes[at + 1]);
  };
  const std::size_t wanted = std::min<std::size_t>(path.native().size(), 0xfff);
  for (std::size_t at = bytes.find(name); at != std::string_view::npos;
       at = bytes.find(name, at + 1)) {
    if (at >= 14 && length(at - 2) == wanted) return true;
    if (at >= 16 && bytes[7] == 3 && length(at - 4) == wanted) return true;
  }
  return false;
}

}  // namespace sortie

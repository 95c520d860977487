#include "policies/sandbox/workspace_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/pattern.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEntries = 4000;
constexpr std::size_t kMaxDepth = 3;

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

/// `.git` itself, or what a `.git` file names ("gitdir: PATH", of a linked work tree).
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

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_passed_over(std::string_view name) {
  return name == "." || name == ".." || name == ".git" || name == "node_modules";
}

}  // namespace

bool has_wildcard(const std::string& glob) {
  return glob.find_first_of("*?[") != std::string::npos;
}

std::vector<fs::path> search_globs(const fs::path& folder, const std::vector<std::string>& globs,
                                   bool* complete) {
  *complete = true;
  std::vector<fs::path> found;
  if (globs.empty()) return found;
  std::vector<Pattern> patterns;
  for (const auto& glob : globs) patterns.push_back(Pattern::path_glob(glob));

  std::size_t entries = 0;
  std::vector<fs::path> level = {""};
  for (std::size_t depth = 0; depth < kMaxDepth && !level.empty(); ++depth) {
    std::vector<fs::path> next;
    for (const auto& place : level) {
      const std::unique_ptr<DIR, CloseFolder> open(::opendir((folder / place).c_str()));
      if (!open) continue;
      while (const dirent* entry = ::readdir(open.get())) {
        if (is_passed_over(entry->d_name)) continue;
        if (++entries > kMaxEntries) {
          *complete = false;
          return found;
        }
        const fs::path path = place / entry->d_name;
        if (entry->d_type != DT_LNK && any_matches(patterns, path.native())) {
          found.push_back(path);
        } else if (entry->d_type == DT_DIR) {
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

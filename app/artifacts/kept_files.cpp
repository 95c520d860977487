#include "app/artifacts/kept_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/new_file_mode.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 1ull << 30;  ///< of all files together
constexpr std::size_t kMostFiles = 10'000;

/// Takes one path after the other, as long as there is room.
class Keeping {
 public:
  /// @param name_of  the name that a path is kept under
  Keeping(fs::path folder, const Files& view, const Redactor& redactor, KeptFiles kept = {},
          std::function<std::string(const std::string&)> name_of = {})
      : folder_(std::move(folder)),
        view_(view),
        redactor_(redactor),
        kept_(std::move(kept)),
        name_of_(std::move(name_of)) {}

  void keep(const std::string& path, int depth = 0) {
    try {
      const auto status = view_.status(path);
      if (!status) return;
      if (status->kind == FileStatus::Kind::folder) return keep_folder(path, depth);
      if (status->kind == FileStatus::Kind::symlink) return write(path, view_.read_link(path));
      if (status->kind != FileStatus::Kind::file) return;
      if (status->size > kMostFileBytes) return refuse(path, "is too large");
      if (auto content = view_.read(path)) write(path, *content);
    } catch (const ToolError& error) {
      refuse(path, error.what());
    } catch (const Error& error) {
      refuse(path, error.what());
    }
  }

  KeptFiles take() { return std::move(kept_); }

 private:
  void keep_folder(const std::string& path, int depth) {
    if (depth >= kDeepestFolder) return refuse(path, "is nested too deep");
    for (const FolderEntry& entry : view_.list(path)) keep(child_path(path, entry.name), depth + 1);
  }

  void write(const std::string& path, const std::string& content) {
    if (kept_.bytes + content.size() > kMostBytes || kept_.digests.size() >= kMostFiles)
      return refuse(path, "there is no room for it");
    if (!redactor_.find(content).empty() || !redactor_.find(path).empty())
      return refuse(path, "it holds a secret");
    const std::string name = name_of_ ? name_of_(path) : path;
    const fs::path target = folder_ / name;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) return refuse(path, error.message());
    write_file(target, content, new_file_mode());
    kept_.bytes += content.size();
    kept_.digests[name] = "sha256:" + sha256_hex(content);
  }

  void refuse(const std::string& path, const std::string& why) {
    kept_.not_kept.push_back(path_text(path) + ": " + why);
  }

  const fs::path folder_;
  const Files& view_;
  const Redactor& redactor_;
  KeptFiles kept_;
  const std::function<std::string(const std::string&)> name_of_;
};

constexpr const char* kTaken = ".taken";

/// "a/.git/b" → "a/.git.taken/b".
std::string without_repositories(const fs::path& path) {
  fs::path name;
  for (const auto& part : path)
    name /= in_git_folder(part.string()) ? part.string() + kTaken : part.string();
  return name.string();
}

}  // namespace

KeptFiles keep_files(const fs::path& out, const Files& view, const std::vector<std::string>& paths,
                     const Redactor& redactor) {
  Keeping keeping(out / kKeptFolder, view, redactor);
  for (const std::string& path : paths)
    if (!in_git_folder(path)) keeping.keep(path);
  return keeping.take();
}

void keep_taken(const fs::path& out, const Files& view, const std::string& path,
                const Redactor& redactor, KeptFiles& kept) {
  const fs::path folder = out / kKeptFolder;
  std::string top = path + kTaken;
  for (int i = 2; fs::exists(fs::symlink_status(folder / top)); ++i)
    top = path + kTaken + '.' + std::to_string(i);
  const auto name_of = [&](const std::string& one) {
    return without_repositories(top + one.substr(path.size()));
  };
  Keeping keeping(folder, view, redactor, std::move(kept), name_of);
  keeping.keep(path);
  kept = keeping.take();
}

std::set<std::int64_t> times_of_empty_files(const DiskFiles& view, const fs::path& path) {
  std::set<std::int64_t> times;
  const fs::path top = fs::path("/proc/self/fd") / std::to_string(view.root()) / path;
  const auto look = [&](const fs::path& file) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
      times.insert(status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec);
  };
  look(top);
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(top, error))) return times;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(top, options, error), end;
       !error && it != end && times.size() < kMostFiles; it.increment(error))
    look(it->path());
  return times;
}

}  // namespace sortie

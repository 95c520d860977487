#include "app/kept_files.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file_name.h"
#include "core/base/hash.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = 1ull << 30;  ///< of all files together
constexpr std::size_t kMostFiles = 10'000;

/// Takes one path after the other, as long as there is room.
class Keeping {
 public:
  Keeping(fs::path folder, const Files& view, const Redactor& redactor)
      : folder_(std::move(folder)), view_(view), redactor_(redactor) {}

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
    for (const FolderEntry& entry : view_.list(path)) keep(joined(path, entry.name), depth + 1);
  }

  void write(const std::string& path, const std::string& content) {
    if (bytes_ + content.size() > kMostBytes || kept_.digests.size() >= kMostFiles)
      return refuse(path, "there is no room for it");
    if (!redactor_.find(content).empty() || !redactor_.find(path).empty())
      return refuse(path, "it holds a secret");
    const fs::path target = folder_ / path;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) return refuse(path, error.message());
    write_file(target, content);
    bytes_ += content.size();
    kept_.digests[path] = "sha256:" + sha256_hex(content);
  }

  void refuse(const std::string& path, const std::string& why) {
    kept_.not_kept.push_back(path_text(path) + ": " + why);
  }

  const fs::path folder_;
  const Files& view_;
  const Redactor& redactor_;
  std::uint64_t bytes_ = 0;
  KeptFiles kept_;
};

}  // namespace

KeptFiles keep_files(const fs::path& out, const Files& view, const std::vector<std::string>& paths,
                     const Redactor& redactor) {
  Keeping keeping(out / kKeptFolder, view, redactor);
  for (const std::string& path : paths)
    if (!in_git_folder(path)) keeping.keep(path);
  return keeping.take();
}

}  // namespace sortie

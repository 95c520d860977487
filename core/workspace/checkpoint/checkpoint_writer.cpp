#include "core/workspace/checkpoint/checkpoint_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"
#include "core/workspace/checkpoint/base_list.h"
#include "core/workspace/checkpoint/content_mark.h"
#include "core/workspace/checkpoint/tar.h"
#include "core/workspace/own_changes.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The most bytes of a checkpoint's files. What does not fit is named in it.
constexpr std::uint64_t kMostBytes = 1ull << 30;
/// A file is written anew once that many bytes of it are of files that changed again.
constexpr std::uint64_t kMostWaste = 64ull << 20;

Json names_json(const std::vector<std::string>& paths) {
  Json names = Json::array();
  for (const std::string& path : paths) names.push_back(json_name(path));
  return names;
}

}  // namespace

/// What one checkpoint adds.
struct CheckpointWriter::Step {
  std::vector<std::pair<std::string, FileStamp>> files;  ///< the small ones first
  std::vector<std::string> removed;
  std::vector<std::string> as_before;
  std::vector<std::string> left_out;
  std::map<std::string, FileStamp> now;
  std::uint64_t live = 0;  ///< bytes of all files that changed since the start
  bool empty() const { return files.empty() && removed.empty() && as_before.empty(); }
};

CheckpointWriter::CheckpointWriter(fs::path file, std::string run_id, std::vector<fs::path> apart)
    : path_(std::move(file)), run_id_(std::move(run_id)), apart_(std::move(apart)) {}

void CheckpointWriter::add(const Workspace& workspace, const DiskFiles& view,
                           const CheckpointMark& mark, const std::function<void()>& before_first) {
  Step step = look(workspace, view);
  if (step.empty() && !file_) return;
  const bool anew = !file_ || end_ > 2 * step.live + kMostWaste;
  const fs::path unfinished = path_.parent_path() / temporary_name();
  if (anew) {
    if (before_first) before_first();
    if (!held_.empty()) {
      held_.clear();
      step = look(workspace, view);
    }
    file_ = Fd(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) throw system_error(unfinished.string(), ExitCode::environment);
    end_ = 0;
  }
  next_ = end_;
  hash_ = Sha256();
  try {
    if (anew) write_base(workspace, step);
    Json was = Json::object();
    for (const auto& [path, stamp] : step.files) {
      if (held_.count(path) == 0)
        was.members().emplace_back(json_name(path), content_mark(workspace.start(), path));
      write_file(view, path, stamp);
    }
    for (const std::string& path : step.removed)
      if (held_.count(path) == 0)
        was.members().emplace_back(json_name(path), content_mark(workspace.start(), path));
    Json json = Json::object({{"turn", mark.turn},
                              {"records", mark.records},
                              {"removed", names_json(step.removed)},
                              {"as_before", names_json(step.as_before)},
                              {"was", std::move(was)},
                              {"left_out", names_json(step.left_out)}});
    Sha256 hash = hash_;
    json.set("sha256", hash.finish());
    const std::string text = write_json(json);
    write_member({.name = "checkpoint.json", .size = text.size()}, text);
    const std::uint64_t end = next_;
    put(tar_end());
    // What says nothing new of the tree may be lost.
    if (!step.empty() && ::fdatasync(file_.get()) != 0)
      throw system_error(path_.string(), ExitCode::environment);
    if (anew) {
      if (::rename(unfinished.c_str(), path_.c_str()) != 0)
        throw system_error(path_.string(), ExitCode::environment);
      const Fd folder(::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!folder || ::fsync(folder.get()) != 0)
        throw system_error(path_.parent_path().string(), ExitCode::environment);
    }
    end_ = end;
    held_ = std::move(step.now);
  } catch (...) {
    if (anew) {
      ::unlink(unfinished.c_str());
      file_.reset();
    } else if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) {
      file_.reset();  // torn: readers see it
    }
    throw;
  }
}

CheckpointWriter::Step CheckpointWriter::look(const Workspace& workspace,
                                              const DiskFiles& view) const {
  Step step;
  std::vector<std::pair<std::string, FileStamp>> all;
  for (const ChangedPath& changed : workspace.changed_paths(view)) {
    using Kind = ChangedPath::Kind;
    const std::string& path = changed.path;
    if (changed.kind == Kind::removed_folder) continue;
    struct stat status {};
    const bool there = ::fstatat(view.root(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode));
    if (changed.kind == Kind::unreadable || changed.kind == Kind::unreadable_file) {
      step.left_out.push_back(path);
    } else if (there) {
      all.emplace_back(path, stamp_of(status));
    } else {
      const auto held = held_.find(path);
      if (held == held_.end() || held->second != FileStamp{}) step.removed.push_back(path);
      step.now.emplace(path, FileStamp{});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.size, a.first) < std::pair(b.second.size, b.first);
  });
  for (auto& [path, stamp] : all) {
    if (step.live + stamp.size > kMostBytes) {
      step.left_out.push_back(path);
      continue;
    }
    step.live += stamp.size;
    const auto held = held_.find(path);
    if (held == held_.end() || held->second != stamp) step.files.emplace_back(path, stamp);
    step.now.emplace(path, stamp);
  }
  for (const auto& [path, stamp] : held_)
    if (step.now.count(path) == 0) step.as_before.push_back(path);
  return step;
}

void CheckpointWriter::write_base(const Workspace& workspace, const Step& step) {
  const bool in_place = workspace.isolation() == Isolation::none;
  const Json base = Json::object({{"version", 2}, {"run_id", run_id_}, {"in_place", in_place}});
  const std::string text = write_json(base);
  write_member({.name = "base.json", .size = text.size()}, text);
  auto paths = start_paths_ && !in_place ? *start_paths_
                                         : own_changes_since(workspace.mount_plan().workspace, -1,
                                                             apart_, kAllOwnChanges);
  // There the tree is no longer that of the start: it may lack what it had, or have new folders.
  if (in_place) {
    std::erase_if(paths, [](const std::string& path) { return path.ends_with('/'); });
    paths.insert(paths.end(), step.removed.begin(), step.removed.end());
    for (const auto& [path, stamp] : step.files) paths.push_back(path);
  }
  int pieces = 0;
  write_base_list(std::move(paths), workspace.start(), [this, &pieces](std::string_view piece) {
    write_member({.name = "base/" + std::to_string(pieces++), .size = piece.size()}, piece);
  });
}

/// A file that another process writes meanwhile comes as long as it was.
void CheckpointWriter::write_file(const DiskFiles& view, const std::string& path,
                                  const FileStamp& stamp) {
  TarEntry entry{.name = "tree/" + path, .mode = stamp.mode & 07777u, .mtime = stamp.mtime};
  if (S_ISLNK(stamp.mode)) {
    entry.is_link = true;
    entry.target = view.read_link(path);
    return put(tar_header(entry));
  }
  entry.size = stamp.size;
  put(tar_header(entry));
  std::uint64_t left = stamp.size;
  const FileStream stream = stream_below(view.root());
  stream(path, [&](std::string_view piece) {
    piece = piece.substr(0, std::min<std::uint64_t>(piece.size(), left));
    put(piece);
    left -= piece.size();
    return left > 0;
  });
  const std::string zeros(std::min<std::uint64_t>(left, 1u << 20), '\0');
  for (; left > 0; left -= std::min<std::uint64_t>(left, zeros.size()))
    put(std::string_view(zeros).substr(0, std::min<std::uint64_t>(left, zeros.size())));
  put(tar_padding(stamp.size));
}

void CheckpointWriter::write_member(const TarEntry& entry, std::string_view content) {
  put(tar_header(entry));
  put(content);
  put(tar_padding(entry.size));
}

void CheckpointWriter::put(std::string_view bytes) {
  hash_.update(bytes);
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(next_));
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) throw system_error(path_.string(), ExitCode::environment);
    next_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace sortie

#include "core/workspace/start_keeping.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/git/config/rule_files.h"
#include "core/workspace/git_conversions.h"
#include "core/workspace/start_state.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

Error keep_error(const std::string& path) {
  return system_error("the state at the start: " + path_text(path.empty() ? "." : path),
                      ExitCode::environment);
}

/// The tracked files of a workspace, from the start's index.
class TrackedFiles {
 public:
  TrackedFiles(const StartRecord& record, const std::string& prefix) : prefix_(prefix) {
    const fs::path file = record.folder / ".git/index";
    struct stat status {};
    if (!record.has_repository || ::stat(file.c_str(), &status) != 0 ||
        !open_index_file(index_, file))
      return;
    written_ = stamp_of(status).mtime;  // the copy has the time of the original
    const std::size_t count = git_index_entrycount(index_.get());
    entries_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) add(*git_index_get_byindex(index_.get(), i));
  }

  const git_index_entry* find(const std::string& path) const {
    const auto found = entries_.find(path);
    return found == entries_.end() ? nullptr : found->second;
  }
  bool has_below(const std::string& folder) const { return folders_.contains(folder); }

  /// Whether git's own record of the file proves that nobody wrote to it since it was last compared
  /// with its object. Files that are as old as the index could have been written after that (git
  /// calls them racily clean).
  bool is_clean(const git_index_entry& entry, const struct stat& now) const {
    const auto same = [](const git_index_time& time, const timespec& stamp) {
      return time.seconds == static_cast<std::int32_t>(stamp.tv_sec) &&
             time.nanoseconds == static_cast<std::uint32_t>(stamp.tv_nsec);
    };
    const std::int64_t modified = now.st_mtim.tv_sec * 1'000'000'000LL + now.st_mtim.tv_nsec;
    return S_ISREG(now.st_mode) && (entry.mode & 0170000) == 0100000 &&
           same(entry.mtime, now.st_mtim) && same(entry.ctime, now.st_ctim) &&
           entry.ino == static_cast<std::uint32_t>(now.st_ino) &&
           entry.file_size == static_cast<std::uint32_t>(now.st_size) && modified < written_;
  }

 private:
  void add(const git_index_entry& entry) {
    const std::string_view path = entry.path;
    if (git_index_entry_stage(&entry) != 0 || !path.starts_with(prefix_)) return;
    std::string name(path.substr(prefix_.size()));
    for (auto slash = name.rfind('/'); slash != std::string::npos && slash > 0;
         slash = name.rfind('/', slash - 1))
      if (!folders_.insert(name.substr(0, slash)).second) break;
    entries_.emplace(std::move(name), &entry);
  }

  std::string prefix_;
  GitIndex index_;
  std::int64_t written_ = 0;
  std::unordered_map<std::string, const git_index_entry*> entries_;
  std::unordered_set<std::string> folders_;
};

/// Walks the tree and keeps what has to be kept.
class StartKeeping {
 public:
  StartKeeping(const WorkspaceOptions& options, const StartRecord& record, const fs::path& kept)
      : options_(options),
        record_(record),
        kept_(kept),
        state_(record, options.root),
        tracked_(record, state_.prefix()),
        conversions_(record, state_) {
    list_.root = options.root;
    list_.cover = output_folders(options);
  }

  StartList run() {
    clones_ = can_clone(options_.root, kept_);
    const Fd root = open_folder(AT_FDCWD, options_.root.native(), options_.root);
    struct stat status {};
    if (::fstat(root.get(), &status) != 0) throw keep_error("");
    list_.add(
        {.path = "", .stamp = stamp_of(status), .user = status.st_uid, .group = status.st_gid});
    keep_rules(root, "");
    folder(root, "", false, 0);
    list_.sort();
    for (const auto& [file, names] : linked_)
      if (names.size() < file.second)
        for (const std::string& name : names) list_.linked.push_back(options_.root / name);
    if (next_ > 0) {
      const Fd open(::open(kept_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!open || ::syncfs(open.get()) != 0) throw keep_error(kept_.native());
    }
    pass_time(newest_);
    return std::move(list_);
  }

 private:
  void folder(const Fd& open, const std::string& path, bool ignored, int depth) {
    if (depth > kDeepestFolder)
      throw Error("the state at the start: " + path_text(path) + ": folders nested too deeply",
                  ExitCode::environment);
    for (const NamedStatus& entry : list_folder(open, options_.root / path)) {
      const std::string name = child_path(path, entry.name);
      if (!list_.cover.empty() && is_below_any(name, list_.cover)) continue;
      const bool git = ::strcasecmp(entry.name.c_str(), ".git") == 0;
      if (git && path.empty()) continue;
      one(open, entry, name, ignored, git, depth);
    }
  }

  void one(const Fd& parent, const NamedStatus& entry, const std::string& path, bool above_ignored,
           bool git, int depth) {
    const struct stat& status = entry.status;
    StartEntry made{
        .path = path, .stamp = stamp_of(status), .user = status.st_uid, .group = status.st_gid};
    newest_ = std::max(newest_, made.stamp.ctime);
    if (S_ISDIR(status.st_mode)) {
      const bool ignored = above_ignored || (!git && is_ignored(path + "/", path));
      list_.add(std::move(made));
      if (git) return;  // a repository of its own: protected
      if (!TreeReader(status).can_read(status) && ::geteuid() != 0) return;
      const Fd open = open_folder(parent.get(), entry.name, options_.root / path);
      if (!ignored || tracked_.has_below(path)) keep_rules(open, path);
      folder(open, path, ignored, depth + 1);
      return;
    }
    const git_index_entry* const listed = tracked_.find(path);
    if (S_ISLNK(status.st_mode)) {
      made.held = StartEntry::Held::link;
      made.place = target_of(parent, entry.name, path);
    } else if (S_ISREG(status.st_mode)) {
      if (status.st_nlink > 1)
        linked_[{{status.st_dev, status.st_ino}, status.st_nlink}].push_back(path);
      made.is_ignored = listed == nullptr && (above_ignored || is_ignored(path, path));
      if (!made.is_ignored)
        hold(parent, entry, listed, made);
      else if (options_.keeps_ignored && options_.keeps_ignored(path))
        hold_ignored(parent, entry, made);
    }
    list_.add(std::move(made));
  }

  /// What git tracks is never ignored.
  bool is_ignored(const std::string& asked, const std::string& path) const {
    return !tracked_.has_below(path) && state_.ignored(asked);
  }

  void hold(const Fd& parent, const NamedStatus& entry, const git_index_entry* listed,
            StartEntry& made) {
    const bool in_git = listed != nullptr &&
                        (tracked_.is_clean(*listed, entry.status)
                             ? !conversions_.may_convert(made.path, listed->id, made.stamp.size)
                             : has_same_bytes(parent, entry, *listed));
    made.held = in_git ? StartEntry::Held::object : StartEntry::Held::kept;
    made.place = in_git ? id_text(listed->id) : std::to_string(next_++);
    if (!in_git) copy(parent, entry, made);
  }

  /// One that can't be read, is being written, or for which there is no room, is only missed once
  /// the run changed it.
  void hold_ignored(const Fd& parent, const NamedStatus& entry, StartEntry& made) {
    const std::uint64_t bytes = stored_bytes(entry);
    if (::faccessat(parent.get(), entry.name.c_str(), R_OK, AT_EACCESS) != 0) return;
    if (!clones_ && ignored_bytes_ + bytes > options_.copy_limit) return;
    made.place = std::to_string(next_++);
    if (copy_file(parent, entry, made)) {
      ignored_bytes_ += bytes;
      made.held = StartEntry::Held::kept;
    } else {
      ::unlink((kept_ / made.place).c_str());
      made.place.clear();
    }
  }

  static std::uint64_t stored_bytes(const NamedStatus& entry) {
    return std::min(static_cast<std::uint64_t>(entry.status.st_blocks) * 512,
                    static_cast<std::uint64_t>(entry.status.st_size));
  }

  /// For a file whose times alone are new: reading it costs no space.
  bool has_same_bytes(const Fd& parent, const NamedStatus& entry,
                      const git_index_entry& listed) const {
    constexpr off_t kMostRead = 32 << 20;
    if ((listed.mode & 0170000) != 0100000 || entry.status.st_size > kMostRead ||
        !conversions_.has(listed.id))
      return false;
    const Fd source(
        ::openat(parent.get(), entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::string content(static_cast<std::size_t>(entry.status.st_size), '\0');
    std::size_t size = 0;
    for (ssize_t count = 1; source && count > 0 && size < content.size();
         size += static_cast<std::size_t>(count)) {
      count = ::read(source.get(), content.data() + size, content.size() - size);
      if (count < 0) return false;
    }
    struct stat after {};
    const git_oid id = blob_id({content.data(), size});
    return source && git_oid_equal(&id, &listed.id) != 0 && ::fstat(source.get(), &after) == 0 &&
           stamp_of(after) == stamp_of(entry.status);
  }

  void copy(const Fd& parent, const NamedStatus& entry, StartEntry& made) {
    bytes_ += stored_bytes(entry);
    if (!clones_ && bytes_ > options_.copy_limit)
      throw Error("--isolation none: more than " + std::to_string(options_.copy_limit) +
                      " bytes of the workspace would have to be copied, reached at " +
                      path_text(made.path) +
                      ": files that git does not have unchanged, and does not ignore; raise "
                      "workspace.copy_limit, or commit or ignore them",
                  ExitCode::environment);
    if (!copy_file(parent, entry, made))
      throw Error(path_text(made.path) + ": changed while the state at the start was kept",
                  ExitCode::environment);
  }

  /// @return  false if somebody wrote to it meanwhile
  bool copy_file(const Fd& parent, const NamedStatus& entry, const StartEntry& made) {
    const Fd source(
        ::openat(parent.get(), entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!source || ::fstat(source.get(), &status) != 0) throw keep_error(made.path);
    if (!S_ISREG(status.st_mode)) return false;
    const Fd to(
        ::open((kept_ / made.place).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!to) throw keep_error(made.path);
    copy_content(source.get(), to.get(), status.st_size, made.path);
    struct stat after {};
    if (::fstat(source.get(), &after) != 0) throw keep_error(made.path);
    return stamp_of(after) == made.stamp;
  }

  static std::string target_of(const Fd& parent, const std::string& name, const std::string& path) {
    std::string target(4096, '\0');
    const ssize_t size = ::readlinkat(parent.get(), name.c_str(), target.data(), target.size());
    if (size < 0) throw keep_error(path);
    target.resize(static_cast<std::size_t>(size));
    return target;
  }

  /// Later the tree's own may be the run's.
  void keep_rules(const Fd& folder, const std::string& path) {
    for (const char* name : {".gitignore", ".gitattributes"}) {
      struct stat status {};
      if (::fstatat(folder.get(), name, &status, 0) != 0 || !S_ISREG(status.st_mode)) continue;
      const auto rules = read_rule_file(options_.root / path / name);
      if (!rules || rules->empty()) continue;
      if (std::string_view(name) == ".gitattributes") conversions_.look_at(*rules);
      const fs::path below = state_.prefix() + path;
      std::error_code error;
      fs::create_directories(record_.folder / below, error);
      if (!fs::exists(record_.folder / below / name, error))
        write_record(record_.folder / below / name, *rules);
    }
  }

  const WorkspaceOptions& options_;
  const StartRecord& record_;
  const fs::path kept_;
  const StartState state_;
  const TrackedFiles tracked_;
  GitConversions conversions_;
  bool clones_ = false;
  std::uint64_t bytes_ = 0;
  std::uint64_t ignored_bytes_ = 0;
  std::uint64_t next_ = 0;
  std::int64_t newest_ = 0;
  std::map<std::pair<std::pair<dev_t, ino_t>, nlink_t>, std::vector<std::string>> linked_;
  StartList list_;
};

}  // namespace

namespace {

/// Tells the folder from all others: nobody can choose an inode number and a birth time.
std::string folder_mark(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) throw keep_error(folder.native());
  return std::to_string(status.st_ino) + ' ' +
         std::to_string(birth_of(AT_FDCWD, folder.native()).value_or(0));
}

}  // namespace

StartPlace start_place(const fs::path& state) { return {state / "in-place"}; }

StartList load_start_list(const StartPlace& place) { return load_start_list(place, place.list()); }

StartList load_start_list(const StartPlace& place, const fs::path& file) {
  auto list = parse_start_list(read_file(file, 4ull << 30));
  const char* problem = !list ? ": the record of the state at the start is damaged"
                        : list->mark != folder_mark(place.folder)
                            ? ": the record of the state at the start was made in another folder"
                            : nullptr;
  if (problem != nullptr) throw Error(path_text(file) + problem, ExitCode::environment);
  return std::move(*list);
}

StartList keep_start_list(const WorkspaceOptions& options, const StartRecord& record) {
  const StartPlace place = start_place(options.state);
  std::error_code error;
  if (fs::exists(place.list(), error)) return load_start_list(place);
  fs::remove_all(place.folder, error);
  fs::create_directories(place.kept(), error);
  if (error) throw Error(path_text(place.kept()) + ": " + error.message(), ExitCode::environment);
  StartList list = StartKeeping(options, record, place.kept()).run();
  list.mark = folder_mark(place.folder);
  write_file(place.list(), start_list_text(list), 0600);
  return list;
}

}  // namespace sortie

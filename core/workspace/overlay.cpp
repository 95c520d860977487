#include "core/workspace/overlay.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/start_record.h"
#include "core/workspace/tree.h"
#include "core/workspace/workspace_options.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

using Kind = FileStatus::Kind;
using Own = ChangedPath::Own;

/// An attribute that the kernel set. Commands could set those of the other namespace, so they are
/// ignored: overlays of root hide `trusted.overlay.*`, others `user.overlay.*`.
std::string overlay_attribute(const Fd& folder, const std::string& name) {
  const std::string full = (::geteuid() == 0 ? "trusted.overlay." : "user.overlay.") + name;
  char value[256];
  const ssize_t size = ::fgetxattr(folder.get(), full.c_str(), value, sizeof value);
  if (size >= 0) return std::string(value, static_cast<std::size_t>(size));
  return errno == ERANGE ? "?" : "";
}

/// The kernel's handle (name_to_handle_at(2): type and bytes) of the lower file that an upper one
/// was copied from: the attribute `overlay.origin`, which the kernel sets (trusted. as root, user.
/// elsewhere) and commands can't, as ovl_encode_real_fh() writes it.
struct OverlayOrigin {
  bool copied = false;  ///< whether it was copied from a lower file
  std::string handle;   ///< "" if the attribute does not tell from which
};

// struct ovl_fb (fs/overlayfs/overlayfs.h): version 0, magic, length of all, flags, type of the
// handle, UUID of the file system, the handle's bytes.
OverlayOrigin origin_of(const fs::path& upper) {
  constexpr std::size_t kHead = 4 + 1 + 16;
  constexpr char kMagic = '\xfb';
  const std::string full =
      (::geteuid() == 0 ? "trusted.overlay." : "user.overlay.") + std::string("origin");
  std::array<char, 256> value{};
  const ssize_t size = ::lgetxattr(upper.c_str(), full.c_str(), value.data(), value.size());
  if (size < 0) return {errno == ERANGE || errno == EACCES, ""};
  const std::string text(value.data(), static_cast<std::size_t>(size));
  if (text.size() <= kHead || text[0] != 0 || text[1] != kMagic) return {true, ""};
  return {true, text[4] + text.substr(kHead)};
}

/// The handle of a file or folder, its last link not followed; "" if unknown.
std::string handle_of(int folder, const std::string& path) {
  alignas(struct file_handle) std::array<char, sizeof(struct file_handle) + MAX_HANDLE_SZ> room{};
  auto* const handle = reinterpret_cast<struct file_handle*>(room.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(folder, path.c_str(), handle, &mount, 0) != 0) return "";
  return static_cast<char>(handle->handle_type) +
         std::string(room.data() + sizeof(struct file_handle), handle->handle_bytes);
}

/// Compares the upper folder with the lower one.
class UpperWalk {
 public:
  UpperWalk(const DiskFiles& start, std::int64_t began, const Files& view, const MountPlan& plan,
            const CancelCheck& check_cancel)
      : start_(start),
        began_(began),
        view_(view),
        plan_(plan),
        reader_(status_of_tree(plan.upper)),
        check_cancel_(check_cancel) {}

  std::vector<ChangedPath> run() {
    folder(open_folder(AT_FDCWD, plan_.upper.native(), plan_.upper), "",
           {true, true, written_since("")}, 0);
    explain_origins();
    std::sort(changes_.begin(), changes_.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(changes_);
  }

 private:
  /// The lower tree below an upper folder.
  struct Under {
    bool folder;   ///< the lower tree has a folder at the same path, links not followed
    bool shows;    ///< no upper folder above hides it: folders in a hiding one are not marked
    bool written;  ///< the nearest lower folder was written to since the start
  };

  void folder(const Fd& upper, const std::string& path, Under under, int depth) {
    if (depth > kDeepestFolder) {
      throw Error(path_text(path) + ": folders nested too deeply", ExitCode::task_failed);
    }
    // The kernel could then show files below this folder that are in no upper folder.
    if (!overlay_attribute(upper, "redirect").empty()) {
      throw Error(path_text(path) + ": the overlay was mounted with redirect_dir");
    }
    const auto entries = list_folder(upper, plan_.upper / path);
    under.shows = under.shows && overlay_attribute(upper, "opaque") != "y";
    if (under.folder && !under.shows) hidden(path, entries);
    for (const NamedStatus& entry : entries) {
      const std::string name = child_path(path, entry.name);
      if (!is_below_any(name, plan_.cover)) one(upper, entry, name, under, depth);
    }
  }

  void one(const Fd& parent, const NamedStatus& entry, const std::string& path, Under above,
           int depth) {
    if (check_cancel_) check_cancel_();
    const auto lower = above.folder ? start_.status(path) : std::nullopt;
    const bool lower_folder = lower && lower->kind == Kind::folder;
    if (S_ISDIR(entry.status.st_mode)) {
      if (lower && !lower_folder) gone(path, lower->kind);
      if (!reader_.can_read(entry.status)) {
        changes_.push_back({path, ChangedPath::Kind::unreadable});
        return;
      }
      folder(open_folder(parent.get(), entry.name, plan_.upper / path), path,
             {lower_folder, above.shows, lower_folder ? written_since(path) : above.written},
             depth + 1);
    } else if (S_ISREG(entry.status.st_mode) || S_ISLNK(entry.status.st_mode)) {
      if (lower_folder) gone(path, Kind::folder);
      if (!reader_.can_read(entry.status))
        changes_.push_back(
            {path, ChangedPath::Kind::unreadable_file, lower ? own(path) : Own::as_it_was});
      else
        file(path, lower, above);
    } else if (lower) {
      gone(path, lower->kind);  // a whiteout; or a pipe or socket, which trees don't contain
    } else if (S_ISCHR(entry.status.st_mode) && entry.status.st_rdev == 0) {
      // Only the kernel makes whiteouts, over existing files: the user removed the file, too.
      changes_.push_back({path, ChangedPath::Kind::deleted, Own::changed});
    }
  }

  void file(const std::string& path, const std::optional<FileStatus>& lower, const Under& above) {
    const bool was = lower && (lower->kind == Kind::file || lower->kind == Kind::symlink);
    if (was) {
      const Own meanwhile = own(path);
      if (!same(path, *lower))
        changes_.push_back({path, ChangedPath::Kind::modified, meanwhile});
      else if (meanwhile == Own::changed)  // changed equally by the user, or only touched
        changes_.push_back(
            {path, made_since(path) ? ChangedPath::Kind::added : ChangedPath::Kind::modified,
             meanwhile});
      return;
    }
    const bool perhaps = !lower && above.written;
    changes_.push_back(
        {path, ChangedPath::Kind::added, perhaps ? Own::perhaps_gone : Own::as_it_was});
    if (!perhaps) return;
    const OverlayOrigin origin = origin_of(plan_.upper / path);
    if (origin.copied) copied_[path] = origin.handle;
  }

  /// If a copied file has no lower file, the user removed it, unless the run moved the copy there:
  /// then its origin still exists, and the run removed it.
  void explain_origins() {
    if (copied_.empty()) return;
    std::set<std::string> removed;
    for (const ChangedPath& change : changes_)
      if (change.kind == ChangedPath::Kind::deleted || change.kind == ChangedPath::Kind::modified)
        removed.insert(handle_of(start_.root(), change.path));
    removed.erase("");
    for (ChangedPath& change : changes_) {
      const auto copy = copied_.find(change.path);
      if (copy != copied_.end() && removed.count(copy->second) == 0) change.own = Own::changed;
    }
  }

  /// Whether the user's own file or folder was written to since the start. A change within the same
  /// tick of the kernel's clock happened before the run read anything.
  bool written_since(const std::string& path) const {
    struct stat status {};
    const std::string name = path.empty() ? "." : path;
    return ::fstatat(start_.root(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           stamp_of(status).ctime > began_;
  }
  /// Whether the user's own file was created since the start. Editors that replace files create new
  /// ones, too.
  bool made_since(const std::string& path) const {
    const auto birth = birth_of(start_.root(), path);
    return birth && *birth > began_;
  }
  /// Whether the user's own folder may have been replaced by another: that updates the ctime of
  /// both folders (rename(2)), but so does work in them. If the run wrote below the folder, the
  /// kernel recorded which one it was.
  bool moved_since(const std::string& path) const {
    const fs::path above = fs::path(path).parent_path();
    if (written_since(path) && written_since(above.native())) return true;
    const std::string origin = origin_of(plan_.upper / path).handle;
    if (origin.empty()) return false;
    const std::string now = handle_of(start_.root(), path);
    return !now.empty() && now != origin;
  }
  /// The same for all folders above a path, each checked once.
  bool moved_above(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().native();
    if (folder.empty()) return false;
    if (const auto known = moved_.find(folder); known != moved_.end()) return known->second;
    const bool moved = moved_above(folder) || moved_since(folder);
    return moved_[folder] = moved;
  }
  Own own(const std::string& path) {
    return written_since(path) || moved_above(path) ? Own::changed : Own::as_it_was;
  }

  bool same(const std::string& path, const FileStatus& lower) const {
    const auto now = view_.status(path);
    if (!now) throw Error(path_text(path) + ": is in the upper folder, but not in the view");
    return is_same_file(path, start_, lower, view_, *now);
  }

  /// Adds everything that a hiding folder hides and does not replace.
  void hidden(const std::string& path, const std::vector<NamedStatus>& entries) {
    for (const FolderEntry& below : start_.list(path)) {
      const auto found = std::lower_bound(
          entries.begin(), entries.end(), below.name,
          [](const NamedStatus& entry, const std::string& name) { return entry.name < name; });
      if (found != entries.end() && found->name == below.name) continue;
      gone(child_path(path, below.name), below.kind);
    }
  }

  /// Adds a removed path of the lower tree, with everything below it.
  void gone(const std::string& path, Kind kind) {
    if (check_cancel_) check_cancel_();
    if (is_below_any(path, plan_.cover)) return;
    if (kind == Kind::file || kind == Kind::symlink) {
      changes_.push_back({path, ChangedPath::Kind::deleted, own(path)});
    }
    if (kind != Kind::folder) return;
    // New files in it are added elsewhere; nothing else remains of it.
    if (written_since(path))
      changes_.push_back({path, ChangedPath::Kind::removed_folder, Own::changed});
    for (const FolderEntry& below : start_.list(path))
      gone(child_path(path, below.name), below.kind);
  }

  const DiskFiles& start_;
  const std::int64_t began_;
  const Files& view_;
  const MountPlan& plan_;
  const TreeReader reader_;
  const CancelCheck& check_cancel_;
  std::vector<ChangedPath> changes_;
  std::map<std::string, std::string> copied_;  ///< path without a lower file → handle of its origin
  std::map<std::string, bool> moved_;          ///< folder → moved_above, itself included
};

void make_like(const fs::path& folder, const struct stat& model) {
  const bool made = ::mkdir(folder.c_str(), 0700) == 0;
  if (!made && errno == EEXIST) return;
  const auto step = path_text(folder);
  if (!made) throw system_error(step, ExitCode::environment);
  // The view's root shows the upper folder's owner and mode.
  if (::geteuid() == 0 && ::chown(folder.c_str(), model.st_uid, model.st_gid) != 0) {
    throw system_error(step, ExitCode::environment);
  }
  if (::chmod(folder.c_str(), model.st_mode & 07777) != 0) {
    throw system_error(step, ExitCode::environment);
  }
}

struct stat stat_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw system_error(path_text(folder), ExitCode::environment);
  }
  return status;
}

/// A file in the top levels whose owner prevents copying up without root, or "".
std::string foreign_file(const fs::path& root) {
  constexpr int kMostLooked = 2000;
  int looked = 0;
  std::error_code ignored;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(root, options, ignored), end; it != end;
       it.increment(ignored)) {
    if (++looked > kMostLooked) break;
    if (it.depth() >= 1) it.disable_recursion_pending();
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0) continue;
    if (status.st_uid != ::geteuid() || status.st_gid != ::getegid()) {
      return path_text(it->path().lexically_relative(root));
    }
  }
  return "";
}

/// Removes the folders of a probe, however it ends.
struct ProbeFolder {
  fs::path path;
  ~ProbeFolder() { remove_tree(path); }
};

/// The plan of an overlay whose folders are created in `state`.
/// @throws Error  ExitCode::environment if that fails
MountPlan make_overlay_plan(const fs::path& root, const fs::path& state,
                            std::vector<fs::path> cover) {
  MountPlan plan{.kind = MountPlan::Kind::overlay,
                 .workspace = root,
                 .source = {},
                 .upper = state / "upper",
                 .work = state / "work",
                 .cover = std::move(cover)};
  std::error_code error;
  fs::create_directories(state, error);
  if (error) throw Error(path_text(state) + ": " + error.message(), ExitCode::environment);
  make_like(plan.upper, stat_folder(root));
  make_like(plan.work, stat_folder(state));
  return plan;
}

class OverlayWorkspace : public Workspace {
 public:
  OverlayWorkspace(const WorkspaceOptions& options, std::string reason)
      : Workspace(Isolation::overlay, std::move(reason),
                  make_overlay_plan(options.root, options.state, output_folders(options)),
                  options) {}
  OverlayWorkspace(const Workspace& run, const fs::path& folder)
      : Workspace(Isolation::overlay,
                  make_overlay_plan(run.mount_plan().workspace, folder, run.mount_plan().cover),
                  run) {}

 private:
  std::vector<ChangedPath> find_changes(const Files& view,
                                        const CancelCheck& check_cancel) const override {
    return UpperWalk(start_files(), record().began, view, mount_plan(), check_cancel).run();
  }
};

}  // namespace

std::unique_ptr<Workspace> make_overlay(const WorkspaceOptions& options, std::string reason) {
  return std::make_unique<OverlayWorkspace>(options, std::move(reason));
}

std::unique_ptr<Workspace> make_overlay_beside(const Workspace& run, const fs::path& folder) {
  return std::make_unique<OverlayWorkspace>(run, folder);
}

std::string why_no_overlay(const WorkspaceOptions& options) {
  if (!options.namespaces) return "namespaces are not available";
  if (!options.probe_overlay) return "it can't be probed here";
  std::error_code error;
  fs::create_directories(options.state, error);
  if (error) return path_text(options.state) + ": " + error.message();
  struct statfs system {};
  if (::statfs(options.state.c_str(), &system) != 0) return errno_text(errno);
  if (system.f_type == OVERLAYFS_SUPER_MAGIC) {
    return path_text(options.state) + " is on an overlayfs itself";
  }
  if (::geteuid() != 0) {
    const std::string foreign = foreign_file(options.root);
    if (!foreign.empty()) return foreign + " belongs to another user or group";
  }
  if (options.overlay_assumed) return "";
  const ProbeFolder probe{options.state / "probe"};
  remove_tree(probe.path);
  return options.probe_overlay(
      make_overlay_plan(options.root, probe.path, output_folders(options)));
}

}  // namespace sortie

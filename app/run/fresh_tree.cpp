#include "app/run/fresh_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/files/disk_place.h"
#include "core/files/open_beneath.h"
#include "core/files/path_below.h"
#include "core/workspace/diff/diff_effect.h"
#include "core/workspace/diff/path_patterns.h"
#include "core/workspace/overlay.h"
#include "core/workspace/own_tree_beside.h"
#include "core/workspace/start_state.h"
#include "core/workspace/tree.h"
#include "core/workspace/tree_copy.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

using Kind = FileStatus::Kind;

/// Where globs of verify.keep are searched.
constexpr SearchReach kKeepReach = {.levels = 16, .entries = 300'000};

/// A name beside the run's own upper folder or copy. Two may exist at once.
fs::path next_folder(const MountPlan& plan) {
  static std::atomic<int> count = 0;
  const fs::path& own = plan.upper.empty() ? plan.source : plan.upper;
  return (plan.in_place ? plan.beside : own.parent_path()) / ("fresh-" + std::to_string(++count));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder.string() + ": " + error.message(), ExitCode::environment);
}

fs::path at_descriptor(const Fd& folder) {
  return "/proc/self/fd/" + std::to_string(folder.get()) + "/.";
}

/// Whether the run's tree can be on an overlay as far as can be told without mounting one.
bool may_be_overlay(const Workspace& run, const fs::path& folder) {
  if (run.isolation() == Isolation::overlay) return true;
  WorkspaceOptions options;
  options.root = run.mount_plan().workspace;
  options.state = folder;
  options.overlay_assumed = true;
  options.probe_overlay = [](const MountPlan&) { return std::string(); };
  return why_no_overlay(options).empty();
}

}  // namespace

FreshTree::FreshTree(const Parts& parts, std::string set, DiffEffect effect)
    : parts_(parts),
      own_(dynamic_cast<const OwnTreeWorkspace*>(&parts.run)),
      set_(std::move(set)),
      folder_(next_folder(parts.run.mount_plan())) {
  remove_tree(folder_);
  make_folder(folder_);
  try {
    find_kept();
    if (parts_.host.can_make_tree())
      mount();
    else if (own_ != nullptr)
      swap_own();
    else
      swap();
    put_start();
    for (const std::string& path : kept_files_) copy_kept(path);
    if (!parts_.task.restore.empty()) {
      const StartState start(parts_.run.record(), parts_.run.mount_plan().workspace);
      restore_.emplace(parts_.task.restore, parts_.run.start(), start.index_links());
      restored_ = restore_->take_out(effect);
    }
    write_effect(effect, *files_, changed_in(parts_.view));
    date_anew(*files_, restored_);
    restore_kept();
    guard();
  } catch (...) {
    made_.reset();
    files_.reset();
    workspace_.reset();
    parts_.host.drop_private_set(set_);
    swapped_.reset();
    aside_.reset();
    remove_tree(folder_);
    throw;
  }
}

/// After the diff was written: what it makes is as in the run.
void FreshTree::guard() {
  if (!parts_.host.can_make_tree()) return;
  Fd root(::fcntl(files_->root(), F_DUPFD_CLOEXEC, 3));
  if (!root) throw system_error("dup");
  made_ = parts_.host.guard_tree(workspace_->mount_plan(), std::move(root));
}

FreshTree::~FreshTree() {
  made_.reset();
  files_.reset();
  workspace_.reset();
  parts_.host.drop_private_set(set_);
  swapped_.reset();
  aside_.reset();
  remove_tree(folder_);
}

void FreshTree::end() {
  if (aside_) aside_->end();
}

/// An overlay on the user's own tree, where that works, even if the run has a copy of it.
void FreshTree::mount() {
  const bool copied = parts_.run.isolation() != Isolation::overlay;
  if (may_be_overlay(parts_.run, folder_) && (mount_as(SetTree::Kind::overlay) || !copied)) return;
  mount_as(SetTree::Kind::copy);
}

/// @return  false if a run with a copy can't have an overlay
/// @throws Error  the tree can't be made
bool FreshTree::mount_as(SetTree::Kind kind) {
  const bool is_overlay = kind == SetTree::Kind::overlay;
  workspace_ = own_ != nullptr ? make_beside_own_tree(
                                     *own_, is_overlay ? Beside::overlay : Beside::copy, folder_)
               : is_overlay ? make_overlay_beside(parts_.run, folder_)
                            : make_copy_beside(parts_.run, folder_ / "tree");
  SetTree tree{.set = set_, .folder = folder_.filename().native(), .kind = kind};
  keep_folders();
  tree.keep = kept_folders_;
  Fd root;
  try {
    root = parts_.host.make_tree(tree);
  } catch (const Error&) {
    // Overlays can't lie on each other as deep as wanted: then kept folders are copied.
    tree.keep.clear();
    try {
      root = parts_.host.make_tree(tree);
    } catch (const Error&) {
      if (is_overlay && parts_.run.isolation() != Isolation::overlay) return false;
      throw;
    }
    kept_files_.insert(kept_files_.end(), kept_folders_.begin(), kept_folders_.end());
  }
  files_ = std::make_unique<DiskFiles>(std::move(root));
  return true;
}

void FreshTree::swap() {
  const fs::path& place = parts_.run.mount_plan().source;
  workspace_ = make_copy_beside(parts_.run, folder_ / "tree");
  swapped_.emplace(place, folder_ / "tree");
  parts_.host.clean_tree();
  files_ = std::make_unique<DiskFiles>(open_folder(AT_FDCWD, place.native(), place));
  kept_files_.insert(kept_files_.end(), kept_folders_.begin(), kept_folders_.end());
}

/// What is kept stays in it.
void FreshTree::swap_own() {
  std::vector<fs::path> kept(kept_folders_.begin(), kept_folders_.end());
  kept.insert(kept.end(), kept_files_.begin(), kept_files_.end());
  kept_files_.clear();
  const fs::path& place = own_->list().root;
  aside_.emplace(*own_, std::move(kept));
  workspace_ = make_beside_own_tree(*own_, Beside::itself, folder_);
  files_ = std::make_unique<DiskFiles>(open_folder(AT_FDCWD, place.native(), place));
}

/// The trees of the others show the start already.
void FreshTree::put_start() {
  if (own_ == nullptr || aside_) return;
  const Fd root = open_beneath(files_->root(), ".", O_RDONLY | O_DIRECTORY);
  put_start_in(*own_, root, {kept_folders_.begin(), kept_folders_.end()});
}

/// Sorts what the run has of verify.keep into folders and files. Links, also on the way, are none.
void FreshTree::find_kept() {
  std::set<std::string> paths;
  std::vector<std::string> globs;
  for (const std::string& entry : parts_.task.keep) {
    fs::path path = fs::path(entry).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (has_wildcard(entry))
      globs.push_back(entry);
    else
      paths.insert(path.native());
  }
  const Fd top = open_beneath(parts_.view.root(), ".", O_RDONLY | O_DIRECTORY);
  bool complete = true;
  if (!globs.empty())
    for (const auto& path : search_globs(at_descriptor(top), globs, &complete, kKeepReach))
      paths.insert(path.native());
  std::vector<fs::path> taken;
  for (const std::string& path : paths) {
    if (is_below_any(path, taken) || in_git_folder(path)) continue;
    try {
      const auto status = parts_.view.status(path);
      if (!status || parts_.view.resolve(path) != fs::path(path)) continue;
      if (is_untouched(path)) continue;
      if (status->kind == Kind::folder) kept_folders_.push_back(path);
      if (status->kind == Kind::file) kept_files_.push_back(path);
      taken.emplace_back(path);
    } catch (const ToolError&) {  // it leads elsewhere: nothing to keep
    }
  }
}

/// Whether the run's overlay shows the start's own path: then every fresh tree has it already.
bool FreshTree::is_untouched(const std::string& path) const {
  const fs::path& upper = parts_.run.mount_plan().upper;
  struct stat status {};
  return !upper.empty() && ::lstat((upper / path).c_str(), &status) != 0 && errno == ENOENT;
}

/// Folders on disk for the overlays.
void FreshTree::keep_folders() {
  for (std::size_t i = 0; i < kept_folders_.size(); ++i) {
    const fs::path own = folder_ / ("keep-" + std::to_string(i));
    make_folder(own / "upper");
    make_folder(own / "work");
  }
}

void FreshTree::copy_kept(const std::string& path) {
  try {
    remove_at(*files_, path);
    const auto [above, name] = disk::split_name(path);
    const Fd to = disk::make_folders(files_->root(), above, path);
    const auto status = parts_.view.status(path);
    if (!status) return;
    if (status->kind == Kind::file) {
      const auto content = parts_.view.read(path);
      if (content) files_->write(path, *content, status->mode);
      return;
    }
    const Fd from = open_beneath(parts_.view.root(), path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (from) copy_tree(at_descriptor(from), at_descriptor(to) / name, {});
  } catch (const ToolError& error) {
    throw Error(std::string("verify.keep: ") + error.what(), ExitCode::environment, error.cause());
  }
}

/// verify.restore is stronger than verify.keep.
void FreshTree::restore_kept() {
  if (!restore_ || parts_.task.keep.empty()) return;
  std::vector<fs::path> kept(kept_folders_.begin(), kept_folders_.end());
  kept.insert(kept.end(), kept_files_.begin(), kept_files_.end());
  DiffEffect back;
  for (const ChangedPath& changed : parts_.run.changed_paths(parts_.view))
    if (is_below_any(changed.path, kept) && restore_->match(changed.path) &&
        !add_start(changed.path, back))
      back.removes.insert(changed.path);
  write_effect(back, *files_, {});
}

/// Adds what the start has at a path, if it has a file or link there.
bool FreshTree::add_start(const std::string& path, DiffEffect& back) const {
  const Files& start = parts_.run.start();
  const auto status = start.status(path);
  if (!status) return false;
  if (status->kind == Kind::symlink) {
    back.makes.emplace(path, TreeEntry{0120000, start.read_link(path)});
    return true;
  }
  const auto content = start.read(path);
  if (!content) return false;
  back.makes.emplace(path, TreeEntry{(status->mode & 0100) != 0 ? 0100755u : 0100644u, *content});
  return true;
}

std::vector<std::string> FreshTree::take_out_made() {
  std::vector<std::string> removed;
  if (!restore_) return removed;
  const PathPatterns free(parts_.task.may_change, "verify.may_change");
  const StartState start(parts_.run.record(), parts_.run.mount_plan().workspace);
  const auto is_kept = [this](const std::string& path) {
    return is_below_any(path, {kept_folders_.begin(), kept_folders_.end()}) ||
           std::find(kept_files_.begin(), kept_files_.end(), path) != kept_files_.end();
  };
  for (const ChangedPath& changed : workspace_->changed_paths(*files_)) {
    const std::string& path = changed.path;
    if (changed.kind != ChangedPath::Kind::added || !restore_->match(path) || free.match(path) ||
        is_kept(path) || in_git_folder(path) || has_path(parts_.run.start(), path) ||
        (!start.tracked(path) && start.ignored(path)))
      continue;
    remove_at(*files_, path);
    removed.push_back(path);
  }
  return removed;
}

void FreshTree::put_back(const std::vector<std::string>& paths, const DiffEffect& effect) {
  DiffEffect back;
  for (const std::string& path : paths) {
    const auto made = effect.makes.find(path);
    if (std::binary_search(restored_.begin(), restored_.end(), path))
      add_start(path, back);
    else if (made != effect.makes.end())
      back.makes.insert(*made);
    else if (effect.removes.contains(path))
      back.removes.insert(path);
    else
      add_start(path, back);
  }
  // Dated to the present: a product of what the verification wrote must not pass for newer.
  write_effect(back, *files_, {});
}

}  // namespace sortie

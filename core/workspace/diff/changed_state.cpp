#include "core/workspace/diff/changed_state.h"

#include <fcntl.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/path_below.h"
#include "core/workspace/diff/diff_scope.h"
#include "core/workspace/diff/tree_parts.h"
#include "core/workspace/start_record.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// The state of a path: kind and mode as git stores them, and the digest of the content.
std::string word_of(const Files& view, const std::string& path) {
  try {
    const auto status = view.status(path);
    if (!status) return "none";
    if (status->kind == FileStatus::Kind::symlink) return "link " + view.read_link(path);
    if (status->kind != FileStatus::Kind::file) return "other";
    const auto content = view.read(path);
    const char* mode = (status->mode & 0100) != 0 ? "755 " : "644 ";
    return mode + (content ? sha256_hex(*content) : "none");
  } catch (const ToolError&) {
    return "unreadable";
  }
}

/// Thrown to stop the search of a tree.
struct TooMany {};

/// Collects files, links and the overlay's marks of deletion.
template <typename Each>
void look_through(const Fd& folder, const fs::path& shown, const std::string& path,
                  const std::vector<fs::path>& cover, int depth, const Each& each) {
  if (depth > kDeepestFolder) throw TooMany();
  for (const NamedStatus& entry : list_folder(folder, shown)) {
    const std::string name = child_path(path, entry.name);
    if (is_below_any(name, cover) || in_git_folder(entry.name)) continue;
    if (!S_ISDIR(entry.status.st_mode)) {
      each(name, entry.status);
      continue;
    }
    // Folders count, too, so that many empty ones are not searched again and again.
    each("", entry.status);
    look_through(open_folder(folder.get(), entry.name, shown / entry.name), shown / entry.name,
                 name, cover, depth + 1, each);
  }
}

/// The state of a tree, or of a part of one.
/// @param state  gets it with the paths of the workspace
void add_state(const Workspace& workspace, const Files& view, const fs::path& root,
               const DiffOptions& options, const PathPatterns& free, ChangedState& state) {
  const auto changes = workspace.changed_paths(view, options.check_cancel);
  if (changes.empty()) return;
  const StartState start(workspace.record(), root);
  DiffScope scope(workspace, view, start, options, changes);
  for (const ChangedPath& changed : changes) {
    if (options.check_cancel) options.check_cancel();
    const std::string path = options.within + changed.path;
    if (in_git_folder(changed.path) || free.match(path)) continue;
    if (scope.place_of(changed).kind != DiffScope::Place::Kind::inside) continue;
    state.emplace(
        path, changed.kind == ChangedPath::Kind::deleted ? "none" : word_of(view, changed.path));
  }
}

bool is_whiteout(const FileStamp& stamp) { return S_ISCHR(stamp.mode); }

}  // namespace

ChangedState changed_state(const Workspace& workspace, const Files& view,
                           const std::filesystem::path& root, const DiffOptions& options,
                           const std::vector<std::string>& may_change,
                           const CancelCheck& check_cancel) {
  ChangedState state;
  const PathPatterns free(may_change, "verify.may_change");
  DiffOptions own = options;
  own.check_cancel = check_cancel;
  const std::vector<TreePart> parts = parts_of(workspace, view, root, check_cancel);
  if (parts.empty()) add_state(workspace, view, root, own, free, state);
  for (const TreePart& part : parts)
    add_state(*part.workspace, *part.view, part.root, options_within(part, own), free, state);
  return state;
}

std::vector<std::string> differing_paths(const ChangedState& one, const ChangedState& other) {
  std::set<std::string> paths;
  const auto add = [&](const ChangedState& from, const ChangedState& in) {
    for (const auto& [path, word] : from) {
      const auto found = in.find(path);
      if (found == in.end() || found->second != word) paths.insert(path);
    }
  };
  add(one, other);
  add(other, one);
  return {paths.begin(), paths.end()};
}

TouchedPaths::TouchedPaths(const Workspace& workspace, std::uint64_t file_limit,
                           std::size_t most_entries)
    : plan_(workspace.mount_plan()), file_limit_(file_limit), most_entries_(most_entries) {
  take();
}

TouchedPaths::Stamps TouchedPaths::look() const {
  const fs::path& top = plan_.kind == MountPlan::Kind::overlay ? plan_.upper : plan_.source;
  Stamps stamps;
  std::size_t seen = 0;
  look_through(open_folder(AT_FDCWD, top.native(), top), top, "", plan_.cover, 0,
               [&](const std::string& name, const struct stat& status) {
                 if (++seen > most_entries_) throw TooMany();
                 if (!name.empty()) stamps.emplace(name, stamp_of(status));
               });
  return stamps;
}

/// Whether the user's own tree has it: the overlay shows that until it is replaced.
bool TouchedPaths::stood_below(const std::string& path) const {
  struct stat status {};
  return plan_.kind == MountPlan::Kind::overlay &&
         ::lstat((plan_.workspace / path).c_str(), &status) == 0;
}

std::string TouchedPaths::line(const std::string& path, const FileStamp* was,
                               const FileStamp* is) const {
  if (is == nullptr || is_whiteout(*is)) return "D " + path;
  const bool there = was != nullptr ? !is_whiteout(*was) : stood_below(path);
  return (there ? "M " : "A ") + path;
}

std::vector<std::string> TouchedPaths::take() {
  std::vector<std::string> lines;
  at_limit_.clear();
  if (given_up_) return lines;
  Stamps now;
  try {
    now = look();
  } catch (const TooMany&) {
    given_up_ = true;
  } catch (const Error&) {
    given_up_ = true;  // a folder that a command made unreadable: the diff reports it
  }
  if (given_up_) {
    known_.clear();
    return lines;
  }
  std::size_t more = 0;
  const auto tell = [&](const std::string& path, const FileStamp* was, const FileStamp* is) {
    if (lines.size() < kMaxListed)
      lines.push_back(line(path, was, is));
    else
      ++more;
    if (is != nullptr && S_ISREG(is->mode) && file_limit_ > 0 && is->size == file_limit_ &&
        at_limit_.size() < kMaxListed)
      at_limit_.push_back(path);
  };
  auto old = known_.begin();
  auto fresh = now.begin();
  while (old != known_.end() || fresh != now.end()) {
    if (fresh == now.end() || (old != known_.end() && old->first < fresh->first)) {
      if (!is_whiteout(old->second)) tell(old->first, &old->second, nullptr);
      ++old;
    } else if (old == known_.end() || fresh->first < old->first) {
      tell(fresh->first, nullptr, &fresh->second);
      ++fresh;
    } else {
      if (!(old->second == fresh->second)) tell(old->first, &old->second, &fresh->second);
      ++old;
      ++fresh;
    }
  }
  known_ = std::move(now);
  if (more > 0) lines.push_back("… " + std::to_string(more) + " more");
  return lines;
}

}  // namespace sortie

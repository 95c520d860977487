#include "core/workspace/diff/make_diff.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/path_below.h"
#include "core/git/git_repository.h"
#include "core/git/stored_bytes.h"
#include "core/workspace/diff/diff_selection.h"
#include "core/workspace/diff/patch_check.h"
#include "core/workspace/diff/patch_text.h"
#include "core/workspace/diff/tree_parts.h"
#include "core/workspace/diff/whole_diff.h"
#include "core/workspace/start_record.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

bool is_file(const std::optional<TreeEntry>& entry) {
  return entry && (entry->mode & 0170000) == 0100000;
}

/// What git stores for the file at the start, if that is HEAD's and the file has other bytes.
std::optional<TreeEntry> converted_head(const Change& change, const StartState& start) {
  if (change.no_start || !is_file(change.before) || start.head_has(change.path, change.before))
    return std::nullopt;
  TreeEntry stored{change.before->mode, start.to_git(change.path, change.before->content)};
  if (stored.content == change.before->content || !start.head_has(change.path, stored))
    return std::nullopt;
  return stored;
}

/// Whether the file is as git checks it out from HEAD: with other line ends, say.
bool is_checked_out(const Change& change, const StartState& start) {
  const auto stored = converted_head(change, start);
  return stored &&
         same_but_ids(start.to_tree(change.path, stored->content), change.before->content);
}

/// A tree that a diff may apply to, besides the files that the diff is about.
struct OtherTree {
  std::function<bool(const std::string& path)> has_file;
  std::function<std::size_t(const std::string& path)> files_below;
};

/// Whether the tree has no file where the diff needs a folder, and no folder where it makes a file.
bool has_room(const std::set<std::string>& made, const std::set<std::string>& had,
              const OtherTree& tree) {
  return std::all_of(made.begin(), made.end(), [&](const std::string& path) {
    for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      if (const auto above = path.substr(0, slash); !had.contains(above) && tree.has_file(above))
        return false;
    if (had.contains(path)) return true;
    std::size_t taken = 0;
    for (auto it = had.lower_bound(path + "/"); it != had.end() && it->starts_with(path + "/");
         ++it)
      ++taken;
    return tree.files_below(path) <= taken;
  });
}

OtherTree head_of(const StartState& start) {
  return {[&](const std::string& path) { return start.head_has_file(path); },
          [&](const std::string& path) { return start.head_files_below(path); }};
}

OtherTree index_of(const StartState& start) {
  return {[&](const std::string& path) { return start.tracked(path); },
          [&](const std::string& path) { return start.index_files_below(path); }};
}

bool head_has_room(const std::vector<Change>& changes, const StartState& start) {
  std::set<std::string> made;
  std::set<std::string> had;
  for (const Change& change : changes) {
    if (change.after) made.insert(change.path);
    if (change.before) had.insert(change.path);
  }
  return has_room(made, had, head_of(start));
}

bool clean(const std::vector<Change>& changes, const StartState& start) {
  return head_has_room(changes, start) &&
         std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
           return change.no_start || start.head_has(change.path, change.before) ||
                  is_checked_out(change, start);
         });
}

DiffBase choose_base(DiffBase asked, const std::vector<Change>& changes, const StartState& start) {
  const bool has_head = !start.head_commit().empty();
  if (asked == DiffBase::head && !has_head) {
    throw Error("output.diff.base: head: the workspace has no commit; use start", ExitCode::usage);
  }
  if (asked != DiffBase::automatic) return asked;
  return has_head && clean(changes, start) ? DiffBase::head : DiffBase::start;
}

/// What the diff is made from, each content once.
struct Sides {
  TouchedFiles before;
  TouchedFiles after;
  bool from_start = true;  ///< `before` is the state at the start
  /// What git makes in the working tree of those files of `after` that it converts.
  TouchedFiles in_tree{};
};

/// The bytes of the working tree can't stand in a diff for `git apply` if git converts more than
/// line ends: both sides are what git stores then.
void convert_text(Change& change, Sides& sides, const StartState& start,
                  std::vector<std::string>& line_ends) {
  if (!start.converts_text(change.path)) return;
  const auto store = [&](std::optional<TreeEntry>& side) {
    if (!is_file(side)) return;
    std::string stored = start.to_git(change.path, side->content);
    const bool is_after = &side == &change.after;
    if (is_after) {
      std::string in_tree = start.to_tree(change.path, stored);
      if (!same_but_ids(in_tree, side->content)) line_ends.push_back(change.path);
      sides.in_tree.emplace(start.prefix() + change.path,
                            TreeEntry{side->mode, std::move(in_tree)});
    }
    side->content = std::move(stored);
  };
  store(change.before);
  store(change.after);
}

/// Against HEAD, both sides are what git stores: what `git apply --index` compares with. Line ends
/// that git would not restore in the working tree stay as they are, unless the start had others than
/// HEAD, too.
void convert(Change& change, Sides& sides, const StartState& start,
             std::vector<std::string>& line_ends) {
  auto stored = converted_head(change, start);
  const bool was_converted = stored.has_value();
  if (stored) change.before = std::move(stored);
  if (change.no_start || !is_file(change.after)) return;
  // So a large file is not copied to be compared with itself.
  if (!was_converted && !start.may_convert(change.path)) return;
  std::string& content = change.after->content;
  std::string made = start.to_git(change.path, content);
  if (made == content && !was_converted) return;
  std::string in_tree = start.to_tree(change.path, made);
  const bool differs = !same_but_ids(in_tree, content);
  if (differs && !was_converted && !start.converts_text(change.path)) return;
  if (differs) line_ends.push_back(change.path);
  content = std::move(made);
  sides.in_tree.emplace(start.prefix() + change.path,
                        TreeEntry{change.after->mode, std::move(in_tree)});
}

std::vector<std::string> judge_applies_to(const std::vector<Change>& changes, const Sides& sides,
                                          const StartState& start) {
  const auto side = [&](const std::string& path) {
    const auto found = sides.before.find(start.prefix() + path);
    return found == sides.before.end() ? nullptr : &found->second;
  };
  const auto all = [&](const auto& holds) {
    return std::all_of(changes.begin(), changes.end(), holds);
  };
  const auto paths_of = [&](const TouchedFiles& files) {
    std::set<std::string> paths;
    for (const auto& file : files) paths.insert(file.first.substr(start.prefix().size()));
    return paths;
  };
  const std::set<std::string> made = paths_of(sides.after);
  const std::set<std::string> had = paths_of(sides.before);
  std::vector<std::string> names;
  if (sides.from_start) names.push_back("start");
  if (!start.head_commit().empty() &&
      all([&](const Change& c) { return start.head_has(c.path, side(c.path)); }) &&
      has_room(made, had, head_of(start))) {
    names.push_back("head");
  }
  if (start.has_index() &&
      all([&](const Change& c) { return start.index_has(c.path, side(c.path)); }) &&
      has_room(made, had, index_of(start))) {
    names.push_back("index");
  }
  return names;
}

/// Leaves out the changes whose old content HEAD alone knows, if its object is missing: in a partial
/// clone, where nothing is fetched.
void leave_out_missing(std::vector<Change>& changes, const StartState& start, DiffBase base,
                       std::vector<LeftOut>& left_out) {
  std::erase_if(changes, [&](const Change& change) {
    if ((base != DiffBase::head && !change.no_start) || !start.head_lacks_object(change.path) ||
        start.head_has(change.path, change.before) || converted_head(change, start))
      return false;
    left_out.push_back({change.path, LeftOut::Why::missing,
                        "HEAD's version of it is not in this repository, and nothing is fetched"});
    return true;
  });
  std::stable_sort(left_out.begin(), left_out.end(),
                   [](const LeftOut& a, const LeftOut& b) { return a.path < b.path; });
}

/// Takes the contents out of the changes.
Sides take_sides(std::vector<Change>& changes, const StartState& start, DiffBase base,
                 const CancelCheck& check_cancel, std::vector<std::string>& line_ends) {
  Sides sides;
  for (Change& change : changes) {
    if (check_cancel) check_cancel();
    if (base == DiffBase::head)
      convert(change, sides, start, line_ends);
    else
      convert_text(change, sides, start, line_ends);
    const auto put = [&](TouchedFiles& side, std::optional<TreeEntry> entry) {
      if (entry) side.emplace(start.prefix() + change.path, std::move(*entry));
    };
    // If the start equals HEAD, its bytes are used: HEAD's objects may be missing.
    const bool from_head = (base == DiffBase::head || change.no_start) &&
                           start.head_has_file(change.path) &&
                           !start.head_has(change.path, change.before);
    const bool none = base == DiffBase::head && !start.head_has_file(change.path);
    if (change.no_start || from_head || (none && change.before)) sides.from_start = false;
    auto was = std::exchange(change.before, {});
    if (from_head)
      put(sides.before, start.head_entry(change.path));
    else if (!none)
      put(sides.before, std::move(was));
    put(sides.after, std::exchange(change.after, {}));
  }
  return sides;
}

/// A diff that nobody applies.
PatchText draft_patch(const TouchedFiles& before, const TouchedFiles& after,
                      const DiffOptions& options) {
  constexpr std::size_t kMostPairs = 100'000;
  return make_patch(before, after, options.context_lines, options.renames, options.check_cancel,
                    kMostPairs);
}

/// Renames are optional: if the diff fails its check with them, it is made without.
PatchText proved_patch(const TouchedFiles& before, const TouchedFiles& after,
                       const DiffOptions& options) {
  constexpr std::size_t kMostPairs = 1'000'000;  // as git: diff.renameLimit 1000 on each side
  std::string flaw;
  for (const bool renames : {true, false}) {
    if (renames && !options.renames) continue;
    PatchText patch = make_patch(before, after, options.context_lines, renames,
                                 options.check_cancel, kMostPairs, options.scratch);
    flaw = check_patch(patch.text, before, after, options.check_cancel,
                       [&] { patch.text.give_back(); });
    if (flaw.empty()) return patch;
  }
  throw Error("the diff fails its own check: " + flaw, ExitCode::internal);
}

std::vector<DiffFile> without_prefix(std::vector<DiffFile> files, const std::string& prefix) {
  for (DiffFile& file : files) {
    file.path.erase(0, prefix.size());
    if (!file.old_path.empty()) file.old_path.erase(0, prefix.size());
  }
  return files;
}

/// What a checkout of the applied diff has: with line ends as git restores them. The sides are not
/// needed any more.
DiffEffect take_effect(Sides& sides, std::size_t prefix) {
  DiffEffect effect;
  for (const auto& [path, entry] : sides.before)
    if (!sides.after.contains(path)) effect.removes.insert(path.substr(prefix));
  for (auto& [path, entry] : sides.after) {
    const auto converted = sides.in_tree.find(path);
    effect.makes.emplace(path.substr(prefix),
                         std::move(converted == sides.in_tree.end() ? entry : converted->second));
  }
  return effect;
}

/// Contents of the base that no commit has are kept up to this size, all together.
constexpr std::uint64_t kMostBaseContent = 4u << 20;

/// Fills in the sides of each file, before the prefix is removed from its paths.
void add_sides(std::vector<DiffFile>& files, const Sides& sides, const StartState& start,
               const CancelCheck& check_cancel) {
  const auto side_of = [](const TreeEntry& entry) {
    return DiffSide{entry.mode, sha256_hex(entry.content), entry.content.size()};
  };
  std::uint64_t kept = 0;
  for (DiffFile& file : files) {
    if (check_cancel) check_cancel();
    if (const auto after = sides.after.find(file.path); after != sides.after.end())
      file.after = side_of(after->second);
    const std::string& old_path = file.old_path.empty() ? file.path : file.old_path;
    const auto before = sides.before.find(old_path);
    if (before == sides.before.end()) continue;
    const TreeEntry& entry = before->second;
    file.before = side_of(entry);
    file.in_head = start.head_has(old_path.substr(start.prefix().size()), &entry);
    if (file.in_head || kept + entry.content.size() > kMostBaseContent) continue;
    kept += entry.content.size();
    file.base_content = entry.content;
  }
}

}  // namespace

void check_start(const fs::path& root) {
  if (const FoundRepository found = find_repository(root); found.handle)
    (void)head_tree(*found.handle);
}

namespace {

/// Makes the diff of a tree, or of a part of one.
Diff diff_of_tree(const Workspace& workspace, const Files& view, const fs::path& root,
                  const DiffOptions& options) {
  const StartState start(workspace.record(), root);
  Diff diff;
  diff.head_commit = start.head_commit();
  diff.index_problem = start.index_problem();
  std::vector<Change> changes = select_changes(workspace, view, start, options, diff);
  const DiffBase base = choose_base(options.base, changes, start);
  diff.base = base == DiffBase::head ? "head" : "start";

  leave_out_missing(changes, start, base, diff.left_out);
  Sides sides = take_sides(changes, start, base, options.check_cancel, diff.line_ends);
  PatchText patch = options.draft ? draft_patch(sides.before, sides.after, options)
                                  : proved_patch(sides.before, sides.after, options);
  diff.text = std::move(patch.text);
  for (const DiffFile& file : patch.files)
    if (!file.old_path.empty())
      diff.moved_ids[file.old_path] = id_text(blob_id(sides.before.at(file.old_path).content));
  for (const auto& [path, entry] : sides.in_tree) diff.converted.insert(path);
  diff.prefix = start.prefix();
  if (!options.draft) add_sides(patch.files, sides, start, options.check_cancel);
  diff.files = without_prefix(std::move(patch.files), start.prefix());
  if (!options.draft) diff.applies_to = judge_applies_to(changes, sides, start);
  if (!options.draft && options.effect) diff.effect = take_effect(sides, start.prefix().size());
  return diff;
}

/// The part of `only` that is in a folder: nothing if it is elsewhere, "" for all of it.
std::optional<std::string> only_within(const std::string& only, const std::string& submodule) {
  if (is_below(submodule, only)) return "";
  if (!is_below(only, submodule)) return std::nullopt;
  return only.substr(submodule.size() + 1);
}

/// A diff of its files can't say that a submodule is gone, or is none any more.
void judge_place(const TreePart& part, Diff& whole) {
  try {
    if (part.view->status(".git")) return;
  } catch (const ToolError&) {  // a link that leads elsewhere
  }
  const bool known = std::any_of(whole.left_out.begin(), whole.left_out.end(),
                                 [&](const LeftOut& one) { return one.path == part.submodule; });
  if (!known)
    whole.left_out.push_back({part.submodule, LeftOut::Why::submodule,
                              "the submodule itself was removed, or replaced by a folder that is "
                              "none"});
}

}  // namespace

Diff make_diff(const Workspace& workspace, const Files& view, const fs::path& root,
               const DiffOptions& options) {
  const std::vector<TreePart> parts = parts_of(workspace, view, root, options.check_cancel);
  if (parts.empty()) return diff_of_tree(workspace, view, root, options);
  Diff whole = diff_of_tree(*parts[0].workspace, *parts[0].view, root, options);
  for (const TreePart& part : std::span(parts).subspan(1)) {
    const auto only = only_within(options.only, part.submodule);
    if (!only) continue;
    judge_place(part, whole);
    DiffOptions own = options_within(part, options);
    own.max_bytes -= std::min(own.max_bytes, whole.bytes);
    own.only = *only;
    Diff diff = diff_of_tree(*part.workspace, *part.view, part.root, own);
    diff.submodule = part.submodule;
    add_submodule(whole, std::move(diff));
  }
  return whole;
}

}  // namespace sortie

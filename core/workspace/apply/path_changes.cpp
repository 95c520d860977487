#include "core/workspace/apply/path_changes.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"

namespace sortie {
namespace {

using Kind = PresentEntry::Kind;

bool is_plain_file(const PresentEntry& now) {
  return now.kind == Kind::file && now.entry.mode != 0120000;
}

/// The content in the form that the diff has it in: as in the tree, or as git stores it.
struct Known {
  std::string content;
  bool stored = false;
};

/// @param wanted  the id that the diff names; "": none, any content will do
Known known_form(const std::string& path, const PresentEntry& now, const std::string& wanted,
                 const PlanOptions& options) {
  Known known{now.entry.content};
  if (!options.conversion || !is_plain_file(now)) return known;
  if (!wanted.empty() && id_text(blob_id(known.content)) == wanted) return known;
  std::string stored = options.conversion->to_git(path, known.content);
  if (stored == known.content) return known;
  bool fits = wanted.empty() || id_text(blob_id(stored)) == wanted;
  if (!fits && options.base) {  // to be merged: in the form of the base
    const auto base = options.base(wanted);
    fits = base && options.conversion->to_git(path, *base) == *base;
  }
  if (fits) known = {std::move(stored), true};
  return known;
}

std::string wanted_id(const FilePatch& patch, const PlanOptions& options) {
  const PatchHeader& header = patch.header;
  const auto moved = options.moved_ids.find(header.old_path);
  return header.old_id.empty() && moved != options.moved_ids.end() ? moved->second : header.old_id;
}

std::string why_not_old(const FilePatch& patch, const PresentEntry& now, const Known& known,
                        const std::string& wanted) {
  switch (now.kind) {
    case Kind::none:
      return "is not there";
    case Kind::folder:
      return "is a folder now";
    case Kind::other:
      return "is no regular file now";
    case Kind::behind_link:
      return "is behind a link now";
    case Kind::file:
      break;
  }
  if (!patch.moves_only() && now.entry.mode != patch.header.old_mode) return "has another mode now";
  if (!wanted.empty() && id_text(blob_id(known.content)) != wanted)
    return "has another content now";
  return "";
}

/// Whether a patch that changes no content has been applied: it names no id.
/// @param made  what is at its new path
bool is_moved_already(const FilePatch& patch, const PresentEntry& made,
                      const PlanOptions& options) {
  const PatchHeader& header = patch.header;
  if (!patch.moves_only() && made.entry.mode != header.new_mode) return false;
  if (header.old_path == header.new_path) return true;
  const auto end = options.moved_ends.find(header.new_path);
  if (end == options.moved_ends.end()) return false;
  if (sha256_hex(made.entry.content) == end->second) return true;
  return options.conversion && is_plain_file(made) &&
         sha256_hex(options.conversion->to_git(header.new_path, made.entry.content)) == end->second;
}

/// Whether a patch has been applied already, as far as its ids tell.
bool is_there_already(const FilePatch& patch, const PresentEntry& now, ChangePlan& plan,
                      const PlanOptions& options) {
  const PatchHeader& header = patch.header;
  if (patch.deletes()) return now.kind == Kind::none;
  const bool moves = header.old_path != header.new_path;
  if (moves && now.kind != Kind::none) return false;
  const PresentEntry made = moves ? plan.at(header.new_path) : now;
  if (made.kind != Kind::file) return false;
  if (header.new_id.empty()) return is_moved_already(patch, made, options);
  if (made.entry.mode != header.new_mode) return false;
  const Known known = known_form(header.new_path, made, header.new_id, options);
  return id_text(blob_id(known.content)) == header.new_id;
}

/// Puts a new content into the plan: what git stores in the form that it has in the tree.
/// @param old  the content that it is made of, in the form that the diff has; null for a new file
void make(const FilePatch& patch, const TreeEntry& entry, const Known* old, ChangePlan& plan,
          const PlanOptions& options) {
  const std::string& path = patch.header.new_path;
  if (!options.conversion || entry.mode == 0120000) return plan.make(path, entry);
  const TreeConversion& conversion = *options.conversion;
  const bool stored = (old != nullptr && old->stored) || conversion.is_stored(path, entry.content);
  if (!stored) return plan.make(path, entry);
  plan.make(path, {entry.mode, conversion.to_tree(path, entry.content)}, entry.content);
}

/// A file whose content stays keeps its bytes, if git stores the same for them in the new place.
bool keeps_bytes(const FilePatch& patch, const PresentEntry& now, const Known& known,
                 const PlanOptions& options) {
  return patch.body.empty() && known.stored && is_plain_file(now) &&
         options.conversion->to_git(patch.header.new_path, now.entry.content) == known.content;
}

void plan_one(const FilePatch& patch, ChangePlan& plan, const PlanOptions& options) {
  const PatchHeader& header = patch.header;
  if (patch.adds())
    return make(patch, {header.new_mode, patched_content(patch, "")}, nullptr, plan, options);
  const PresentEntry now = plan.at(header.old_path);
  if (is_there_already(patch, now, plan, options)) return;
  const std::string wanted = wanted_id(patch, options);
  const Known known = known_form(header.old_path, now, wanted, options);
  if (const std::string why = why_not_old(patch, now, known, wanted); !why.empty()) {
    PresentEntry theirs = now;
    theirs.entry.content = known.content;
    const Merged merged = options.base ? merge(patch, theirs, options.base) : Merged{.why = why};
    if (!merged.why.empty()) return plan.conflict(header.old_path, merged.why);
    plan.remove(header.old_path);
    if (known.stored) plan.was_stored_as(header.old_path, known.content);
    if (merged.entry) make(patch, *merged.entry, &known, plan, options);
    return;
  }
  plan.remove(header.old_path);
  if (known.stored) plan.was_stored_as(header.old_path, known.content);
  const std::string made = patched_content(patch, known.content);
  if (patch.deletes()) return;
  const TreeEntry entry{patch.moves_only() ? now.entry.mode : header.new_mode, made};
  if (keeps_bytes(patch, now, known, options))
    return plan.make(header.new_path, {entry.mode, now.entry.content}, made);
  make(patch, entry, &known, plan, options);
}

}  // namespace

const PresentEntry& ChangePlan::at(const std::string& path) {
  const auto found = read_.find(path);
  return found != read_.end() ? found->second : read_.emplace(path, present_(path)).first->second;
}

void ChangePlan::remove(const std::string& path) {
  removed_.insert(path);
  after_.try_emplace(path, std::nullopt);
}

void ChangePlan::make(const std::string& path, TreeEntry entry, std::optional<std::string> stored) {
  after_[path] = std::move(entry);
  stored_after_.erase(path);
  if (stored) stored_after_.emplace(path, std::move(*stored));
}

void ChangePlan::was_stored_as(const std::string& path, std::string content) {
  stored_before_[path] = std::move(content);
}

void ChangePlan::conflict(const std::string& path, const std::string& why) {
  conflicts_.try_emplace(path, why);
}

/// A new file needs a free path: nothing there, and folders above it.
void ChangePlan::check_new(const std::string& path, const std::optional<TreeEntry>& after) {
  const PresentEntry& now = at(path);
  if (now.kind == Kind::file && now.entry != *after) conflict(path, "is there already");
  if (now.kind == Kind::other) conflict(path, "is there already, and is no regular file");
  if (now.kind == Kind::behind_link) conflict(path, "is behind a link");
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    if (after_.contains(above)) continue;  // a file that is removed
    const Kind kind = at(above).kind;
    if (kind == Kind::file || kind == Kind::other)
      conflict(path, "needs a folder in the place of the file " + path_text(above));
  }
}

PlannedChanges ChangePlan::finish() {
  for (const auto& [path, after] : after_) {
    // What no patch removes or changes must not be there.
    if (after && !removed_.contains(path)) check_new(path, after);
  }
  PlannedChanges planned;
  for (auto& [path, after] : after_) {
    const PresentEntry& now = at(path);
    PathChange change{.path = path, .before = {}, .after = std::move(after), .status = {}};
    const auto stored = [&](const std::map<std::string, std::string>& contents) {
      const auto found = contents.find(path);
      return found == contents.end() ? std::nullopt : std::optional(found->second);
    };
    change.stored_before = stored(stored_before_);
    change.stored_after = stored(stored_after_);
    if (now.kind == Kind::file) {
      change.before = now.entry;
      change.status = now.status;
    }
    if (change.before != change.after) planned.changes.push_back(std::move(change));
  }
  for (const auto& [path, why] : conflicts_)
    planned.conflicts.push_back(path_text(path) + ": " + why);
  return planned;
}

PlannedChanges plan_changes(const std::vector<FilePatch>& patches, const ReadPresent& present,
                            const PlanOptions& options) {
  ChangePlan plan(present);
  for (const FilePatch& patch : patches) {
    if (options.check_cancel) options.check_cancel();
    plan_one(patch, plan, options);
  }
  return plan.finish();
}

}  // namespace sortie

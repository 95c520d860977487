#include "core/workspace/apply/path_changes.h"

#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"

namespace sortie {
namespace {

using Kind = PresentEntry::Kind;

std::string why_not_old(const FilePatch& patch, const PresentEntry& now,
                        const std::map<std::string, std::string>& moved_ids) {
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
  const PatchHeader& header = patch.header;
  if (!patch.moves_only() && now.entry.mode != header.old_mode) return "has another mode now";
  std::string wanted = header.old_id;
  if (const auto moved = moved_ids.find(header.old_path);
      wanted.empty() && moved != moved_ids.end())
    wanted = moved->second;
  if (!wanted.empty() && id_text(blob_id(now.entry.content)) != wanted)
    return "has another content now";
  return "";
}

/// Whether a patch has been applied already, as far as its ids tell.
bool is_there_already(const FilePatch& patch, const PresentEntry& now, ChangePlan& plan) {
  const PatchHeader& header = patch.header;
  if (patch.deletes()) return now.kind == Kind::none;
  if (header.new_id.empty()) return false;
  const bool moves = header.old_path != header.new_path;
  if (moves && now.kind != Kind::none) return false;
  const PresentEntry made = moves ? plan.at(header.new_path) : now;
  return made.kind == Kind::file && made.entry.mode == header.new_mode &&
         id_text(blob_id(made.entry.content)) == header.new_id;
}

void plan_one(const FilePatch& patch, ChangePlan& plan, const PlanOptions& options) {
  const PatchHeader& header = patch.header;
  const PresentEntry now = patch.adds() ? PresentEntry{} : plan.at(header.old_path);
  if (!patch.adds()) {
    if (is_there_already(patch, now, plan)) return;
    if (const std::string why = why_not_old(patch, now, options.moved_ids); !why.empty()) {
      const Merged merged = options.base ? merge(patch, now, options.base) : Merged{.why = why};
      if (!merged.why.empty()) return plan.conflict(header.old_path, merged.why);
      plan.remove(header.old_path);
      if (merged.entry) plan.make(header.new_path, *merged.entry);
      return;
    }
    plan.remove(header.old_path);
  }
  const std::string made = patched_content(patch, now.entry.content);
  if (patch.deletes()) return;
  plan.make(header.new_path, {patch.moves_only() ? now.entry.mode : header.new_mode, made});
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

void ChangePlan::make(const std::string& path, TreeEntry entry) { after_[path] = std::move(entry); }

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

#include "core/workspace/diff/diff_scope.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/workspace/diff/products.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using PathKind = ChangedPath::Kind;

/// Larger files are judged by their names alone.
constexpr std::uint64_t kMostLookedAt = 64u << 20;

std::string name_in(const std::string& path) { return fs::path(path).filename().native(); }

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().native(); }

}  // namespace

DiffScope::DiffScope(const Workspace& workspace, const Files& view, const StartState& start,
                     const DiffOptions& options, const std::vector<ChangedPath>& changes)
    : workspace_(workspace),
      view_(view),
      start_(start),
      options_(options),
      included_(options.include, "output.diff.include"),
      run_rules_(view, start, changes) {
  for (const ChangedPath& change : changes) {
    if (change.kind != PathKind::deleted) continue;
    deleted_lines_.insert(ignore_line_for(change.path));
    try {
      if (const auto status = workspace.start().status(change.path);
          status && status->kind == FileStatus::Kind::file)
        deleted_.emplace(status->size, change.path);
    } catch (const ToolError&) {  // not comparable
    }
  }
}

/// Whether neither the start nor git knows the path.
bool DiffScope::is_new(const ChangedPath& changed) const {
  return changed.kind == PathKind::added && changed.own != ChangedPath::Own::changed &&
         !start_.tracked(changed.path) && !start_.head_has_file(changed.path);
}

/// A new ignore file in a folder of the start is always in the diff, so that nobody has to guess
/// what hides the other files.
bool DiffScope::is_ignored_by_run(const ChangedPath& changed) {
  if (!run_rules_.differ() || !is_new(changed)) return false;
  if (name_in(changed.path) == ".gitignore") {
    const std::string folder = folder_of(changed.path);
    if (folder.empty() || has_path(workspace_.start(), folder)) return false;
  }
  return run_rules_.ignored(changed.path);
}

DiffScope::Place DiffScope::place_of(const ChangedPath& changed) {
  if (included_.match(options_.within + changed.path)) return {};
  const bool folder =
      changed.kind == PathKind::unreadable || changed.kind == PathKind::removed_folder;
  if (folder)
    return {.kind =
                start_.ignored(changed.path + "/") ? Place::Kind::ignored : Place::Kind::inside};
  if (!start_.tracked(changed.path) && start_.ignored(changed.path))
    return {.kind = Place::Kind::ignored};
  if (is_ignored_by_run(changed)) return {.kind = Place::Kind::ignored, .by_run = true};
  if (options_.products == Products::include || options_.patched.contains(changed.path) ||
      !is_new(changed))
    return {};
  for (auto slash = changed.path.find('/'); slash != std::string::npos;
       slash = changed.path.find('/', slash + 1)) {
    const std::string above = changed.path.substr(0, slash);
    if (std::string meaning = folder_meaning(above); !meaning.empty())
      return {.kind = Place::Kind::product, .product = above + "/", .meaning = std::move(meaning)};
  }
  if (std::string meaning = content_meaning(changed.path); !meaning.empty())
    return {.kind = Place::Kind::product, .product = changed.path, .meaning = std::move(meaning)};
  return {};
}

std::string DiffScope::folder_meaning(const std::string& folder) {
  const auto [found, is_new] = folders_.try_emplace(folder);
  if (is_new) found->second = find_folder_meaning(folder);
  return found->second;
}

/// Names that a tool gives count unless HEAD has the folder, or the run moves such files. Signs in a
/// folder count if the folder is new, or had them at the start.
std::string DiffScope::find_folder_meaning(const std::string& folder) const {
  if (start_.head_has_folder(folder)) return "";
  const std::string name = name_in(folder);
  if (is_product_folder_name(name))
    return deleted_lines_.contains(ignore_line_for(name + "/x")) ? "" : "made by a tool";
  const bool existed = has_path(workspace_.start(), folder);
  for (const FolderSign& sign : folder_signs()) {
    if (!sign.folder.empty() && sign.folder != name) continue;
    const std::string entry = folder + "/" + std::string(sign.entry);
    if (options_.patched.contains(entry) || !has_sign(view_, entry, sign.begins)) continue;
    if (existed && !has_sign(workspace_.start(), entry, sign.begins)) continue;
    return std::string(sign.meaning);
  }
  return "";
}

/// A sign that was only moved is no work of a tool in this run.
bool DiffScope::has_sign(const Files& files, const std::string& entry,
                         std::string_view begins) const {
  constexpr std::uint64_t kMostSign = 4u << 20;
  try {
    const auto status = files.status(entry);
    if (!status || status->kind == FileStatus::Kind::symlink) return false;
    if (status->kind != FileStatus::Kind::file) return begins.empty();
    if (begins.empty() && !deleted_.contains(status->size)) return true;
    const auto content = files.read(entry, kMostSign);
    return content && content->starts_with(begins) && !was_moved(entry, status->size, *content);
  } catch (const ToolError&) {
    return false;
  }
}

/// What a new file is if a tool made it, by its name or its first bytes; "" otherwise.
std::string DiffScope::content_meaning(const std::string& path) {
  try {
    const auto status = view_.status(path);
    if (!status || status->kind != FileStatus::Kind::file) return "";
    std::string meaning = is_product_file_name(name_in(path)) ? "made by a tool" : "";
    const bool may_be_moved = deleted_.contains(status->size);
    if (status->size > kMostLookedAt || (!meaning.empty() && !may_be_moved)) return meaning;
    const auto content = view_.read(path, kMostLookedAt);
    if (!content) return meaning;
    if (meaning.empty()) meaning = product_content(*content);
    return meaning.empty() || was_moved(path, status->size, *content) ? "" : meaning;
  } catch (const ToolError&) {
    return "";
  }
}

/// Whether a deleted file of the start had the same content, so that this is the file at its new
/// place.
bool DiffScope::was_moved(const std::string& path, std::uint64_t size,
                          const std::string& content) const {
  const auto [begin, end] = deleted_.equal_range(size);
  return std::any_of(begin, end, [&](const auto& one) {
    try {
      return one.second != path && workspace_.start().read(one.second, kMostLookedAt) == content;
    } catch (const ToolError&) {
      return false;
    }
  });
}

}  // namespace sortie

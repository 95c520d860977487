#include "core/workspace/diff/patch_check.h"

#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/workspace/diff/file_patch.h"

namespace sortie {
namespace {

/// The effect of one patch, parsed from its text. What it makes has been compared already.
struct Effect {
  std::optional<std::string> removes;
  std::optional<std::string> makes;
};

/// Why a file is not as it is wanted, or "".
std::string difference_of(const std::string& path, const TreeEntry& file,
                          const TouchedFiles& wanted) {
  const auto found = wanted.find(path);
  if (found == wanted.end()) return path_text(path) + ": the diff leaves it behind";
  if (found->second.mode != file.mode) return path_text(path) + ": another mode";
  return found->second.content == file.content ? "" : path_text(path) + ": other bytes";
}

/// Applies one patch to the file that it changes. Nothing of the content is kept.
/// @throws Error  it does not apply, or makes something else than `after` has
Effect apply_one(const FilePatch& patch, const TouchedFiles& before, const TouchedFiles& after,
                 const ReadOn& read_on) {
  const PatchHeader& header = patch.header;
  static const TreeEntry kNone;
  const TreeEntry* old = &kNone;
  Effect effect;
  if (!patch.adds()) {
    const auto found = before.find(header.old_path);
    const std::string name = path_text(header.old_path);
    if (found == before.end()) throw Error(name + ": is not there");
    old = &found->second;
    effect.removes = header.old_path;
    if (!patch.moves_only() && old->mode != header.old_mode)
      throw Error(name + ": has another mode");
    if (!header.old_id.empty() && id_text(blob_id(old->content)) != header.old_id)
      throw Error(name + ": has another content");
  }
  if (patch.deletes()) {
    static const std::string kNothing;
    if (!patch_gives(patch, old->content, kNothing, read_on))
      throw Error(path_text(header.old_path) + ": deletes a part of it");
    return effect;
  }
  const std::string name = path_text(header.new_path);
  const auto wanted = after.find(header.new_path);
  if (wanted == after.end()) throw Error(name + ": the diff leaves it behind");
  if (wanted->second.mode != (patch.moves_only() ? old->mode : header.new_mode))
    throw Error(name + ": another mode");
  if (!patch_gives(patch, old->content, wanted->second.content, read_on))
    throw Error(name + ": other bytes");
  effect.makes = header.new_path;
  return effect;
}

/// Files that no patch makes have to be as before.
std::string first_difference(const TouchedFiles& before, const TouchedFiles& wanted,
                             const std::set<std::string>& removed,
                             const std::set<std::string>& made) {
  for (const auto& [path, entry] : wanted) {
    if (made.contains(path)) continue;
    const auto found = before.find(path);
    if (found == before.end() || removed.contains(path))
      return path_text(path) + ": the diff does not make it";
    if (auto difference = difference_of(path, found->second, wanted); !difference.empty())
      return difference;
  }
  for (const auto& [path, entry] : before)
    if (!wanted.contains(path) && !removed.contains(path))
      return path_text(path) + ": the diff leaves it behind";
  return "";
}

}  // namespace

std::string check_patch(std::string_view text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& check_cancel,
                        const ReadOn& read_on) {
  std::set<std::string> removed;
  std::set<std::string> made;
  for (std::string_view rest = text; !rest.empty();) {
    if (check_cancel) check_cancel();
    try {
      const Effect effect = apply_one(take_patch(rest, read_on), before, after, read_on);
      if (effect.removes && !removed.insert(*effect.removes).second)
        return path_text(*effect.removes) + ": removed twice";
      if (effect.makes && !made.insert(*effect.makes).second)
        return path_text(*effect.makes) + ": made twice";
    } catch (const Error& error) {
      return error.what();
    }
  }
  // Like git: all files are removed before any are created.
  for (const std::string& path : made)
    if (before.contains(path) && !removed.contains(path)) return path_text(path) + ": made twice";
  return first_difference(before, after, removed, made);
}

}  // namespace sortie

#include "core/workspace/diff/patch_check.h"

#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"
#include "core/workspace/diff/patch_header.h"
#include "core/workspace/diff/patch_piece.h"

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
Effect apply_piece(const PatchPiece& piece, const TouchedFiles& before, const TouchedFiles& after) {
  const PatchHeader header = piece.header();
  const bool stays = header.old_mode == 0 && header.new_mode == 0;  // a pure rename
  const bool adds = header.old_mode == 0 && !stays;
  const bool deletes = header.new_mode == 0 && !stays;
  static const TreeEntry kNone;
  const TreeEntry* old = &kNone;
  Effect effect;
  if (!adds) {
    const auto found = before.find(header.old_path);
    if (found == before.end()) throw Error("changes a file that is not there");
    old = &found->second;
    effect.removes = header.old_path;
    if (!stays && old->mode != header.old_mode) throw Error("names another mode");
  }
  if (!adds && !header.old_id.empty() && id_text(blob_id(old->content)) != header.old_id) {
    throw Error("names another content");
  }
  static const std::string kNothing;
  if (deletes) {
    if (!piece.gives(old->content, kNothing)) throw Error("deletes a part of a file");
    return effect;
  }
  const auto wanted = after.find(header.new_path);
  if (wanted == after.end())
    throw Error(path_text(header.new_path) + ": the diff leaves it behind");
  if (wanted->second.mode != (stays ? old->mode : header.new_mode))
    throw Error(path_text(header.new_path) + ": another mode");
  if (!piece.gives(old->content, wanted->second.content))
    throw Error(path_text(header.new_path) + ": other bytes");
  if (!header.new_id.empty() && id_text(blob_id(wanted->second.content)) != header.new_id)
    throw Error("names another content than it gives");
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

std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& check_cancel) {
  std::set<std::string> removed;
  std::set<std::string> made;
  for (std::string_view rest = text; !rest.empty();) {
    if (check_cancel) check_cancel();
    const PatchPiece piece(rest);
    try {
      const Effect effect = apply_piece(piece, before, after);
      if (effect.removes && !removed.insert(*effect.removes).second)
        return path_text(*effect.removes) + ": removed twice";
      if (effect.makes && !made.insert(*effect.makes).second)
        return path_text(*effect.makes) + ": made twice";
    } catch (const Error& error) {
      return piece.title() + ": " + error.what();
    }
  }
  // Like git: all files are removed before any are created.
  for (const std::string& path : made)
    if (before.contains(path) && !removed.contains(path)) return path_text(path) + ": made twice";
  return first_difference(before, after, removed, made);
}

}  // namespace sortie

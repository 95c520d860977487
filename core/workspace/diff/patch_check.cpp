#include <optional>

#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/diff/git_scratch.h"
#include "core/workspace/diff/patch_header.h"
#include "core/workspace/diff/patch_text.h"

namespace sortie {
namespace {

/// The text cut before each "diff --git ". No other line begins so: lines of content begin with
/// one of " +-\\", and those of binary patches hold no space.
std::vector<std::string> split_patches(const std::string& text) {
  std::vector<std::string> pieces;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto next = text.find("\ndiff --git ", begin);
    const auto end = next == std::string::npos ? text.size() : next + 1;
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}

/// What one patch does, found by reading it back from its text.
struct Effect {
  std::optional<std::string> removes;
  std::optional<std::pair<std::string, TreeEntry>> makes;
};

/// Lets libgit2 apply the content of a patch, as one of a file with a plain name.
std::string apply_body(Scratch& scratch, const PatchHeader& header, const std::string& before,
                       std::string_view body) {
  if (body.empty()) return header.new_mode == 0 && header.old_mode != 0 ? "" : before;
  const PatchHeader plain{.old_path = "f",
                          .new_path = "f",
                          .old_mode = 0100644,
                          .new_mode = 0100644,
                          .old_id = header.old_mode == 0 ? id_text(blob_id("")) : header.old_id,
                          .new_id = header.new_mode == 0 ? id_text(blob_id("")) : header.new_id,
                          .text = header.text};
  const std::string text = write_header(plain) + std::string(body);
  GitDiff diff;
  check_git(git_diff_from_buffer(GitOut(diff), text.data(), text.size()), "can't be read back");
  const GitTree tree = scratch.tree({{"f", {0100644, before}}});
  GitIndex index;
  check_git(git_apply_to_tree(GitOut(index), scratch.repository(), tree.get(), diff.get(), nullptr),
            "can't be applied");
  const git_index_entry* entry = git_index_get_bypath(index.get(), "f", 0);
  if (entry == nullptr) throw Error("makes no file");
  return scratch.content(entry->id);
}

Effect apply_piece(Scratch& scratch, std::string_view text, const TouchedFiles& before) {
  PatchHeader header = read_header(text);
  const bool stays = header.old_mode == 0 && header.new_mode == 0;  // a pure rename
  const bool adds = header.old_mode == 0 && !stays;
  const bool deletes = header.new_mode == 0 && !stays;
  TreeEntry old;
  Effect effect;
  if (!adds) {
    const auto found = before.find(header.old_path);
    if (found == before.end()) throw Error("changes a file that is not there");
    old = found->second;
    effect.removes = header.old_path;
    if (!stays && old.mode != header.old_mode) throw Error("names another mode");
  }
  if (!adds && !header.old_id.empty() && id_text(blob_id(old.content)) != header.old_id) {
    throw Error("names another content");
  }
  const std::string made = apply_body(scratch, header, old.content, text);
  if (deletes) {
    if (!made.empty()) throw Error("deletes a part of a file");
    return effect;
  }
  if (!header.new_id.empty() && id_text(blob_id(made)) != header.new_id)
    throw Error("gives other bytes");
  effect.makes = {header.new_path, {stays ? old.mode : header.new_mode, made}};
  return effect;
}

std::string first_difference(const TouchedFiles& made, const TouchedFiles& wanted) {
  for (const auto& [path, entry] : wanted) {
    const auto found = made.find(path);
    if (found == made.end()) return path_text(path) + ": the diff does not make it";
    if (found->second.mode != entry.mode) return path_text(path) + ": another mode";
    if (found->second.content != entry.content) return path_text(path) + ": other bytes";
  }
  for (const auto& [path, entry] : made) {
    if (wanted.count(path) == 0) return path_text(path) + ": the diff leaves it behind";
  }
  return "";
}

}  // namespace

std::string check_patch(const std::string& text, const TouchedFiles& before,
                        const TouchedFiles& after, const CancelCheck& pace) {
  TouchedFiles made = before;
  std::vector<Effect> effects;
  Scratch scratch;
  for (const std::string& piece : split_patches(text)) {
    if (pace) pace();
    try {
      effects.push_back(apply_piece(scratch, piece, before));
    } catch (const Error& error) {
      return one_line(repair_utf8(piece.substr(0, piece.find('\n')))) + ": " + error.what();
    }
  }
  // As git does it: all that goes is removed before anything is made.
  for (const Effect& effect : effects) {
    if (effect.removes && made.erase(*effect.removes) == 0) {
      return path_text(*effect.removes) + ": removed twice";
    }
  }
  for (const Effect& effect : effects) {
    if (effect.makes && !made.insert(*effect.makes).second) {
      return path_text(effect.makes->first) + ": made twice";
    }
  }
  return first_difference(made, after);
}

}  // namespace sortie

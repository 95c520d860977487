#include "core/workspace/diff/patch_body.h"

#include "core/base/error.h"
#include "core/git/git_repository.h"
#include "core/workspace/diff/scratch_trees.h"
#include "core/workspace/diff/text_hunks.h"

namespace sortie {

std::string_view take_patch(std::string_view& text) {
  const auto next = text.find("\ndiff --git ");
  const std::string_view patch = text.substr(0, next == text.npos ? text.size() : next + 1);
  text.remove_prefix(patch.size());
  return patch;
}

namespace {

/// Lets libgit2 apply a binary patch to a file with a plain name.
std::string apply_binary(const PatchHeader& header, const std::string& before,
                         std::string_view body) {
  const PatchHeader plain{.old_path = "f",
                          .new_path = "f",
                          .old_mode = 0100644,
                          .new_mode = 0100644,
                          .old_id = header.old_mode == 0 ? id_text(blob_id("")) : header.old_id,
                          .new_id = header.new_mode == 0 ? id_text(blob_id("")) : header.new_id,
                          .text = header.text};
  const std::string text = write_header(plain) + std::string(body);
  ScratchTrees scratch;
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

}  // namespace

std::string apply_body(const PatchHeader& header, const std::string& before,
                       std::string_view body) {
  if (body.empty()) return header.new_mode == 0 && header.old_mode != 0 ? "" : before;
  return header.text ? apply_hunks(before, body) : apply_binary(header, before, body);
}

bool body_gives(const PatchHeader& header, const std::string& before, std::string_view body,
                const std::string& after) {
  if (!body.empty() && header.text) return hunks_give(before, body, after);
  return apply_body(header, before, body) == after;
}

}  // namespace sortie

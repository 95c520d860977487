#include "core/workspace/apply/merge_changes.h"

#include <git2.h>

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"

namespace sortie {
namespace {

constexpr unsigned kLink = 0120000;
constexpr std::size_t kLookedAt = 8000;  // git: buffer_is_binary

bool is_binary(const std::string& content) {
  return std::string_view(content).substr(0, kLookedAt).find('\0') != std::string_view::npos;
}

git_merge_file_input input_of(const std::string& content) {
  git_merge_file_input input = GIT_MERGE_FILE_INPUT_INIT;
  input.ptr = content.data();
  input.size = content.size();
  return input;
}

/// Merges lines; nothing if both changed the same ones.
std::optional<std::string> merge_lines(const std::string& base, const std::string& ours,
                                       const std::string& theirs) {
  start_libgit2();
  const git_merge_file_input ancestor = input_of(base);
  const git_merge_file_input our = input_of(ours);
  const git_merge_file_input their = input_of(theirs);
  git_merge_file_result result{};
  check_git(git_merge_file(&result, &ancestor, &our, &their, nullptr), "merge");
  std::optional<std::string> merged;
  if (result.automergeable != 0) merged.emplace(result.ptr, result.len);
  git_merge_file_result_free(&result);
  return merged;
}

std::optional<std::string> merge_content(const std::string& base, const std::string& ours,
                                         const std::string& theirs) {
  if (ours == base || ours == theirs) return theirs;
  if (theirs == base) return ours;
  if (is_binary(base) || is_binary(ours) || is_binary(theirs)) return {};
  return merge_lines(base, ours, theirs);
}

}  // namespace

Merged merge(const FilePatch& patch, const PresentEntry& now, const BaseContent& base) {
  const PatchHeader& header = patch.header;
  if (now.kind == PresentEntry::Kind::none && patch.deletes()) return {};
  if (now.kind == PresentEntry::Kind::none)
    return {.why = "was removed meanwhile, and the diff changes it"};
  if (now.kind != PresentEntry::Kind::file)
    return {.why = "is no regular file now, and the diff changes it"};
  if (patch.deletes()) return {.why = "has changed meanwhile, and the diff removes it"};
  if (header.old_id.empty()) {  // its mode alone changes, or it is moved: any content will do
    if ((now.entry.mode == kLink) != (header.old_mode == kLink))
      return {.why = "is of another kind now"};
    const bool moves = patch.moves_only() || now.entry.mode != header.old_mode;
    return {.entry = TreeEntry{moves ? now.entry.mode : header.new_mode, now.entry.content}};
  }
  const auto before = base(header.old_id);
  if (!before)
    return {.why =
                "has changed meanwhile, and this repository lacks the version that the run "
                "began with"};
  if (now.entry.mode == kLink || header.old_mode == kLink || header.new_mode == kLink)
    return {.why = "has changed meanwhile, and links are not merged"};
  const auto merged = merge_content(*before, now.entry.content, patched_content(patch, *before));
  if (!merged) return {.why = "has changed meanwhile in the same places (or is binary)"};
  // The side that changed the mode wins; if both did, they chose the same: there are only two.
  const unsigned mode = now.entry.mode == header.old_mode ? header.new_mode : now.entry.mode;
  return {.entry = TreeEntry{mode, *merged}};
}

}  // namespace sortie

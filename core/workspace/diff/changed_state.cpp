#include "core/workspace/diff/changed_state.h"

#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/workspace/diff/diff_selection.h"
#include "core/workspace/start_record.h"
#include "core/workspace/tree.h"

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

}  // namespace

ChangedState changed_state(const Workspace& workspace, const Files& view,
                           const std::filesystem::path& root,
                           const std::vector<std::string>& include,
                           const std::vector<std::string>& may_change,
                           const CancelCheck& check_cancel) {
  const auto changes = workspace.changed_paths(view, check_cancel);
  ChangedState state;
  if (changes.empty()) return state;
  const StartState start(workspace.record(), root);
  const PathPatterns included(include, "output.diff.include");
  const PathPatterns free(may_change, "verify.may_change");
  for (const ChangedPath& changed : changes) {
    if (check_cancel) check_cancel();
    if (in_git_folder(changed.path) || free.match(changed.path)) continue;
    if (is_left_to_ignore_rules(changed, start, included)) continue;
    state.emplace(changed.path, changed.kind == ChangedPath::Kind::deleted
                                    ? "none"
                                    : word_of(view, changed.path));
  }
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

}  // namespace sortie

#include "tools/git/git_status.h"

#include <fcntl.h>

#include <optional>

#include "core/base/error.h"
#include "core/files/open_beneath.h"
#include "core/git/git_content.h"
#include "core/git/git_tree.h"
#include "core/text/text.h"
#include "tools/git/git_comparison.h"
#include "tools/git/time_limit.h"
#include "tools/search/tree_walk.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr int kCommits = 5;

std::string upstream_text(const GitTreeState& state) {
  std::string text = "upstream " + one_line(state.upstream);
  if (state.upstream_is_gone) return text + ", which is gone";
  if (!state.ahead || !state.behind) return text;
  if (*state.ahead + *state.behind == 0) return text + ", up to date";
  if (*state.ahead > 0) text += ", " + std::to_string(*state.ahead) + " ahead";
  if (*state.behind > 0) text += ", " + std::to_string(*state.behind) + " behind";
  return text;
}

std::string first_lines(const GitTreeState& state) {
  std::string text = state.branch.empty() ? "HEAD is detached at " + state.head.substr(0, 10)
                                          : "branch: " + one_line(state.branch);
  if (!state.upstream.empty()) text += " (" + upstream_text(state) + ")";
  text += "\n";
  if (state.head.empty()) text += "no commit yet\n";
  if (!state.doing.empty()) text += "in the middle of a " + state.doing + "\n";
  return text;
}

/// A rename with one hidden side is shown as a deletion or an addition of the other side.
PathList staged_paths(const GitTreeState& state, const GitStatusOptions& options) {
  PathList list{options.max_paths};
  const auto is_hidden = [&](const std::string& path) {
    return options.hidden && options.hidden(fs::path(path));
  };
  for (const StagedChange& change : state.staged) {
    const bool hides_new = is_hidden(change.path);
    const bool hides_old = change.old_path.empty() || is_hidden(change.old_path);
    if (hides_new && hides_old) continue;
    if (hides_new)
      list.add("D " + one_line(change.old_path, 4096));
    else if (change.kind == 'R' && hides_old)
      list.add("A " + one_line(change.path, 4096));
    else
      list.add(std::string(1, change.kind) + " " +
               (change.kind == 'R' ? one_line(change.old_path, 4096) + " -> " : "") +
               one_line(change.path, 4096));
  }
  return list;
}

/// @param whole  whether the comparison was completed
std::string status_text(const GitTreeState& state, const PathList& staged,
                        const GitComparison& tree, bool whole) {
  std::string text = first_lines(state) + staged.section("staged") +
                     tree.unstaged().section("unstaged") + tree.untracked().section("untracked");
  if (staged.count + tree.unstaged().count + tree.untracked().count == 0 && whole)
    text += "no changes\n";
  if (!state.commits.empty()) text += "last commits:\n";
  for (const CommitLine& commit : state.commits)
    text += commit.id + " " + commit.date + " " + one_line(commit.author, 60) + ": " +
            one_line(commit.subject, 160) + "\n";
  return text;
}

}  // namespace

GitStatus::GitStatus(const DiskFiles& files, fs::path repository, const Clock& clock,
                     GitStatusOptions options)
    : files_(files),
      repository_(std::move(repository)),
      clock_(clock),
      options_(std::move(options)) {
  spec_.name = "git_status";
  spec_.description =
      "Shows the state of the git repository: branch, upstream and how many commits they differ "
      "by, staged, unstaged (M modified, A added, D deleted, R renamed, T type changed, U conflict) "
      "and untracked paths, and the last commits. Ignored files and submodules are left out.";
  spec_.parameters =
      parse_json(R"({"type": "object", "properties": {}, "additionalProperties": false})");
}

std::vector<Action> GitStatus::actions(const Json&) const { return {ReadPath{"."}}; }

ToolResult GitStatus::run(const Json&, std::stop_token stop) {
  GitTreeState state;
  std::optional<GitContent> content;
  std::vector<OuterIgnoreFile> outer;
  const auto deadline = clock_.steady() + options_.time_limit;
  try {
    state = read_git_tree(repository_, kCommits, cancel_after(options_.time_limit, clock_, stop));
    content.emplace(repository_);
    outer = outer_ignore_files(repository_);
  } catch (const Error& error) {
    throw ToolError("Can't read the repository: " + std::string(error.what()));
  }
  GitComparison tree(state, *content, files_, options_.hidden, options_.max_paths);
  bool ended = false;
  const auto may_go_on = [&] {
    ended = ended || stop.stop_requested() || clock_.steady() >= deadline;
    return !ended;
  };
  WalkOptions walk_options{
      .dot_names = true,
      .with_links = true,
      .keeps = [&](std::string_view path,
                   bool is_folder) { return tree.is_tracked(path, is_folder); },
      .goes_on = may_go_on};
  TreeWalk walk(
      outer_rules(outer), [&](const std::string& path) { return !tree.is_submodule(path); },
      std::move(walk_options));
  std::size_t seen = 0;
  Fd root = open_beneath(files_.root(), ".", O_RDONLY | O_DIRECTORY);
  if (!root) throw ToolError("Can't read the workspace");
  walk.run(std::move(root), "", [&](const WalkedFile& file) {
    if (seen++ % 16 == 0 && !may_go_on()) return false;
    tree.add(file);
    return true;
  });
  if (!ended) tree.finish();

  ToolResult result;
  result.text = status_text(state, staged_paths(state, options_), tree, !ended);
  if (ended) result.note = "the comparison stopped early: there may be more changes";
  return result;
}

}  // namespace sortie

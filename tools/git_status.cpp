#include "tools/git_status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/open_beneath.h"
#include "core/base/text.h"
#include "core/workspace/git_tree.h"
#include "tools/search/tree_walk.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr int kCommits = 5;
constexpr std::uint64_t kLargestCompared = 256ull << 20;

/// Paths of one kind.
struct PathList {
  std::size_t most;
  std::size_t count = 0;
  std::string text{};
  void add(const std::string& line) {
    if (++count <= most) text += line + "\n";
  }
  std::string section(const char* title) const {
    if (count == 0) return "";
    std::string whole = std::string(title) + " (" + std::to_string(count) + "):\n" + text;
    if (count > most) whole += "… and " + std::to_string(count - most) + " more\n";
    return whole;
  }
};

/// Compares the working tree with the index. Both come in the order of their paths' bytes.
class Comparison {
 public:
  Comparison(const GitTreeState& state, const DiskFiles& files, const GitStatusOptions& options)
      : state_(state),
        files_(files),
        options_(options),
        unstaged{options.most_paths},
        untracked{options.most_paths} {}

  void look_at(const WalkedFile& file) {
    pass_to(file.path);
    const auto& tracked = state_.tracked;
    if (next_ < tracked.size() && tracked[next_].path == file.path)
      compare(tracked[next_++], file);
    else
      add_untracked(std::string(file.path));
  }
  void finish() {
    for (; next_ < state_.tracked.size(); ++next_) check_deleted(state_.tracked[next_]);
  }
  /// Whether the index lists the path, or something below it.
  bool is_tracked(std::string_view path, bool is_folder) const {
    const std::string wanted = std::string(path) + (is_folder ? "/" : "");
    const auto at = std::lower_bound(
        state_.tracked.begin(), state_.tracked.end(), wanted,
        [](const TrackedFile& file, const std::string& text) { return file.path < text; });
    if (at == state_.tracked.end()) return false;
    return is_folder ? at->path.starts_with(wanted) : at->path == wanted;
  }
  /// A submodule's folder is another repository's business.
  bool is_submodule(const std::string& path) const {
    const auto at = std::lower_bound(
        state_.tracked.begin(), state_.tracked.end(), path,
        [](const TrackedFile& file, const std::string& text) { return file.path < text; });
    return at != state_.tracked.end() && at->path == path && at->mode == 0160000;
  }

 private:
  const GitTreeState& state_;
  const DiskFiles& files_;
  const GitStatusOptions& options_;
  std::size_t next_ = 0;
  std::string folder_;  ///< the untracked one that was named last, with a slash at its end

 public:
  PathList unstaged;
  PathList untracked;

 private:
  bool is_hidden(const std::string& path) const {
    return options_.hidden && options_.hidden(fs::path(path));
  }
  void pass_to(std::string_view path) {
    const auto& tracked = state_.tracked;
    for (; next_ < tracked.size() && tracked[next_].path < path; ++next_)
      check_deleted(tracked[next_]);
  }
  void add_unstaged(char kind, const std::string& path) {
    if (!is_hidden(path)) unstaged.add(std::string(1, kind) + " " + one_line(path, 4096));
  }
  void check_deleted(const TrackedFile& file) {
    if (file.not_looked_at || file.mode == 0160000) return;
    try {
      const auto status = files_.status(file.path);
      if (!status) return add_unstaged(file.conflicted ? 'U' : 'D', file.path);
      // Something that no walk comes to: a pipe, or a folder in its place.
      if (status->kind == FileStatus::Kind::folder || status->kind == FileStatus::Kind::other)
        add_unstaged('T', file.path);
    } catch (const ToolError&) {  // behind what can't be read: not known
    }
  }
  void compare(const TrackedFile& file, const WalkedFile& found) {
    if (file.conflicted) return add_unstaged('U', file.path);
    if (file.not_looked_at) return;
    struct stat status {};
    if (::fstatat(found.folder, found.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    const bool was_link = file.mode == 0120000;
    if (was_link != S_ISLNK(status.st_mode)) return add_unstaged('T', file.path);
    const bool executable = (status.st_mode & 0100) != 0;
    if (!was_link && executable != (file.mode == 0100755)) return add_unstaged('M', file.path);
    const bool same_times =
        status.st_mtim.tv_sec == file.modified_s && status.st_mtim.tv_nsec == file.modified_ns &&
        status.st_ctim.tv_sec == file.changed_s && status.st_ctim.tv_nsec == file.changed_ns;
    if (same_times && file.settled && static_cast<std::uint32_t>(status.st_size) == file.size)
      return;
    if (!has_content(file, content_of(found, was_link))) add_unstaged('M', file.path);
  }
  std::string content_of(const WalkedFile& found, bool is_link) const {
    try {
      const fs::path path(found.path);
      if (is_link) return files_.read_link(path);
      return files_.read(path, kLargestCompared).value_or("");
    } catch (const ToolError&) {
      return "";
    }
  }
  /// Names the highest folder that has nothing tracked in it, as git does.
  void add_untracked(std::string path) {
    if (!folder_.empty() && path.starts_with(folder_)) return;
    if (is_hidden(path)) return;
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      if (!is_tracked(std::string_view(path).substr(0, slash), true)) {
        path.resize(slash + 1);
        folder_ = path;
        break;
      }
    untracked.add(one_line(path, 4096));
  }
};

std::string first_lines(const GitTreeState& state) {
  std::string text = state.branch.empty() ? "HEAD is detached at " + state.head.substr(0, 10)
                                          : "branch: " + one_line(state.branch);
  if (!state.upstream.empty()) text += " (upstream " + one_line(state.upstream) + ")";
  text += "\n";
  if (state.head.empty()) text += "no commit yet\n";
  if (!state.doing.empty()) text += "in the middle of a " + state.doing + "\n";
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
      "Shows the state of the git tree: branch and upstream, staged, unstaged (M changed, D "
      "deleted, "
      "T of another type, U in conflict) and untracked paths, and the last commits.";
  spec_.parameters =
      parse_json(R"({"type": "object", "properties": {}, "additionalProperties": false})");
}

std::vector<Action> GitStatus::actions(const Json&) const { return {ReadPath{"."}}; }

ToolResult GitStatus::run(const Json&, std::stop_token stop) {
  GitTreeState state;
  try {
    state = read_git_tree(repository_, kCommits);
  } catch (const Error& error) {
    throw ToolError("The repository can't be read: " + std::string(error.what()));
  }
  Comparison tree(state, files_, options_);
  const auto deadline = clock_.steady() + options_.time_limit;
  bool ended = false;
  WalkOptions walk_options{
      .dot_names = true, .with_links = true, .keeps = [&](std::string_view path, bool is_folder) {
        return tree.is_tracked(path, is_folder);
      }};
  TreeWalk walk(
      {}, [&](const std::string& path) { return !tree.is_submodule(path); },
      std::move(walk_options));
  std::size_t seen = 0;
  Fd root = open_beneath(files_.root(), ".", O_RDONLY | O_DIRECTORY);
  if (!root) throw ToolError("The workspace can't be read");
  walk.run(std::move(root), "", [&](const WalkedFile& file) {
    if (++seen % 64 == 0) ended = stop.stop_requested() || clock_.steady() >= deadline;
    if (!ended) tree.look_at(file);
    return !ended;
  });
  if (!ended) tree.finish();

  PathList staged{options_.most_paths};
  for (const StagedChange& change : state.staged)
    if (!options_.hidden || !options_.hidden(fs::path(change.path)))
      staged.add(std::string(1, change.kind) + " " + one_line(change.path, 4096));
  ToolResult result;
  result.text = first_lines(state) + staged.section("staged") + tree.unstaged.section("unstaged") +
                tree.untracked.section("untracked");
  if (staged.count + tree.unstaged.count + tree.untracked.count == 0 && !ended)
    result.text += "nothing is changed\n";
  if (!state.commits.empty()) result.text += "last commits:\n";
  for (const CommitLine& commit : state.commits)
    result.text += commit.id + " " + commit.date + " " + one_line(commit.author, 60) + ": " +
                   one_line(commit.subject, 160) + "\n";
  if (ended) result.note = "the comparison was ended early: there may be more changes";
  return result;
}

}  // namespace sortie

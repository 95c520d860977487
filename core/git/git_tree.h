#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/threads.h"

namespace sortie {

/// A file that the index lists, and what git remembers of it.
struct TrackedFile {
  std::string path;  ///< relative to the workspace
  unsigned mode = 0100644;
  std::array<unsigned char, 20> id{};
  std::uint32_t size = 0;  ///< of its last 32 bits; 0 also where git has to look again
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  std::int64_t changed_s = 0;
  std::uint32_t changed_ns = 0;
  bool settled = true;         ///< not touched when the index was written, or later
  bool not_looked_at = false;  ///< assume-unchanged, skip-worktree
  bool to_be_added = false;    ///< git add -N: listed without a content
  unsigned conflict = 0;  ///< what there is of it: 1 the base, 2 ours, 4 theirs; 0: no conflict
};

/// A path that differs between HEAD and the index.
struct StagedChange {
  char kind = 'M';  ///< A, M, D, T, R
  std::string path;
  std::string old_path{};  ///< of R
};

struct CommitLine {
  std::string id;    ///< 10 digits
  std::string date;  ///< "2026-11-20", UTC
  std::string author;
  std::string subject;
};

/// The repository's side of a status: nothing of it is run, written or fetched.
struct GitTreeState {
  std::string branch;                ///< "" where HEAD is detached
  std::string upstream;              ///< "origin/main"; "" for none
  bool upstream_is_gone = false;     ///< it is configured, and not there
  std::optional<std::size_t> ahead;  ///< commits that the upstream lacks; nothing: not known
  std::optional<std::size_t> behind;
  std::string head;                  ///< full id; "" before the first commit
  std::string doing;                 ///< "merge", "rebase", …; "" for nothing
  bool modes_count = true;           ///< core.fileMode
  bool links_count = true;           ///< core.symlinks
  std::vector<TrackedFile> tracked;  ///< of the workspace, sorted by path
  std::vector<StagedChange> staged;  ///< of the workspace, sorted by path
  std::vector<CommitLine> commits;   ///< the last ones of HEAD, the newest first
};

/// @param workspace  absolute, links resolved: a working tree, or a folder of one
/// @param pace       what it throws goes through
/// @throws Error  ExitCode::environment for a repository that can't be read
GitTreeState read_git_tree(const std::filesystem::path& workspace, int commits,
                           const CancelCheck& pace = {});

/// Names that begin with a dot and that the index lists, or that it lists something below:
/// ".github", "web/.eslintrc". Relative to the workspace; none where there is no repository, or
/// none that can be read.
std::set<std::string, std::less<>> tracked_dot_names(const std::filesystem::path& workspace);

}  // namespace sortie

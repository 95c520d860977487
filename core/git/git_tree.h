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

/// An entry of the index, with the file attributes that git recorded.
struct TrackedFile {
  std::string path;  ///< relative to the workspace
  unsigned mode = 0100644;
  std::array<unsigned char, 20> id{};
  std::uint32_t size = 0;  ///< modulo 2^32; 0 also if git has to check again
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  std::int64_t changed_s = 0;
  std::uint32_t changed_ns = 0;
  bool settled = true;  ///< last changed before the index was written, so its times are reliable
  bool not_looked_at = false;  ///< assume-unchanged or skip-worktree
  bool to_be_added = false;    ///< git add -N: listed without content
  unsigned conflict = 0;       ///< existing sides: 1 base, 2 ours, 4 theirs; 0: no conflict
};

/// A path that differs between HEAD and the index.
struct StagedChange {
  char kind = 'M';  ///< A, M, D, T, R
  std::string path;
  std::string old_path{};  ///< for R
};

struct CommitLine {
  std::string id;    ///< 10 hex digits
  std::string date;  ///< "2026-11-20", UTC
  std::string author;
  std::string subject;
};

/// The repository's side of a status. Nothing is run, written or fetched.
struct GitTreeState {
  std::string branch;                ///< "" if HEAD is detached
  std::string upstream;              ///< "origin/main"; "" for none
  bool upstream_is_gone = false;     ///< configured, but missing
  std::optional<std::size_t> ahead;  ///< commits that the upstream lacks; nothing: unknown
  std::optional<std::size_t> behind;
  std::string head;                  ///< full id; "" before the first commit
  std::string doing;                 ///< operation in progress: "merge", "rebase", … or ""
  bool modes_count = true;           ///< core.fileMode
  bool links_count = true;           ///< core.symlinks
  std::vector<TrackedFile> tracked;  ///< in the workspace, sorted by path
  std::vector<StagedChange> staged;  ///< in the workspace, sorted by path
  std::vector<CommitLine> commits;   ///< the last commits of HEAD, newest first
};

/// @param workspace     absolute, links resolved: a working tree, or a folder in one
/// @param check_cancel  its exceptions propagate
/// @throws Error  ExitCode::environment if the repository can't be read
GitTreeState read_git_tree(const std::filesystem::path& workspace, int commits,
                           const CancelCheck& check_cancel = {});

/// Tracked files, and folders of tracked files, whose names begin with a dot: ".github",
/// "web/.eslintrc". Relative to the workspace; empty without a readable repository.
std::set<std::string, std::less<>> tracked_dot_names(const std::filesystem::path& workspace);

}  // namespace sortie

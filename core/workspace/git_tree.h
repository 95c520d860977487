#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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
  bool conflicted = false;
};

/// A path that differs between HEAD and the index.
struct StagedChange {
  char kind = 'M';  ///< A, M, D, T
  std::string path;
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
  std::string head;                  ///< full id; "" before the first commit
  std::string doing;                 ///< "merge", "rebase", …; "" for nothing
  std::vector<TrackedFile> tracked;  ///< of the workspace, sorted by path
  std::vector<StagedChange> staged;  ///< of the workspace, sorted by path
  std::vector<CommitLine> commits;   ///< the last ones of HEAD, the newest first
};

/// @param workspace  absolute, links resolved: a working tree, or a folder of one
/// @throws Error  ExitCode::environment for a repository that can't be read
GitTreeState read_git_tree(const std::filesystem::path& workspace, int commits);

/// Whether git would store this content under the file's id: as it stands, or with LF for CR LF.
bool has_content(const TrackedFile& file, std::string_view content);

}  // namespace sortie

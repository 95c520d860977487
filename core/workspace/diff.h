#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/workspace/workspace.h"

namespace sortie {

enum class DiffBase { automatic, start, head };

struct DiffOptions {
  DiffBase base = DiffBase::automatic;
  int context_lines = 3;
  bool renames = true;
  std::vector<std::string> include;  ///< ignored paths that belong into the diff, as git
                                     ///< pathspecs: "dist", "*.log"
  std::uint64_t max_file_size = 10ull << 20;
  /// Of all changed files together, both sides: they are held in memory, and compressing what is no
  /// text takes time. Files full of holes cost the agent nothing.
  std::uint64_t max_bytes = 256ull << 20;
  std::string only{};  ///< a file or folder: no other change is looked at; "": all are
  /// One to be looked at, not kept: it is not applied to prove it, and where there are very many
  /// pairs of files to compare, no renames are looked for.
  bool draft = false;
  Pace pace{};
};

/// Paths are relative to the workspace.
struct DiffFile {
  std::string path;
  std::string old_path;  ///< where a rename came from, else ""
  ChangedPath::Kind kind = ChangedPath::Kind::modified;
  int added_lines = 0;
  int deleted_lines = 0;
};

/// What a run changed, as git sees a tree.
struct Diff {
  /// git's extended unified format; "" if nothing changed. Where the workspace is a folder of a
  /// repository, its paths begin at the repository's toplevel: git apply (is_toplevel_relative in
  /// its source) takes them so in every folder, and skips others in silence.
  std::string text;
  std::vector<DiffFile> files;  ///< sorted by path
  std::vector<std::string> ignored_changes;
  std::vector<std::string> too_large;   ///< "PATH sha256:… BYTES"; of a draft the path alone
  std::vector<std::string> applies_to;  ///< of "start", "head", "index": those it applies to; a
                                        ///< draft's is not asked
  std::string base;                     ///< "start" or "head": what was diffed against
  std::string head_commit;              ///< "" where there is no repository or no commit
};

/// Makes the diff of a workspace and applies it to a scratch copy of the touched files to prove it.
///
/// The user's git, its config, hooks, filters and attributes are never run; ignore rules and the
/// list of tracked files are those of the start state.
/// What `options.pace` throws goes through.
/// @throws Error  ExitCode::internal when the diff does not apply or gives other bytes;
///                ExitCode::task_failed for what a diff can't hold (too large, lfs, submodules)
Diff make_diff(const Workspace& workspace, const Files& view, const std::filesystem::path& root,
               const DiffOptions& options);

}  // namespace sortie

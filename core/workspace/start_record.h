#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/git/index_file.h"
#include "core/workspace/workspace_options.h"

namespace sortie {

/// The git state of a workspace at the start of its run, stored in the state folder as a small
/// repository of its own, which later changes to the user's repository do not affect.
struct StartRecord {
  std::filesystem::path folder;    ///< its working tree: ignore and attribute files
  std::filesystem::path toplevel;  ///< of the user's repository; without one, the workspace
  bool has_repository = false;
  std::vector<std::filesystem::path> objects;  ///< object folders of the user's repository
  bool converts = false;  ///< the repository's settings convert line ends (core.autocrlf, core.eol)
  std::int64_t began = 0;  ///< start time by the clock of file stamps (ctime), nanoseconds
  /// Its index, which nobody changes any more: that of a large tree is read and checked once only.
  std::shared_ptr<IndexOnce> index = std::make_shared<IndexOnce>();
};

/// Creates the record in options.state, or reuses an existing one: a resumed run keeps its start.
/// @throws Error  ExitCode::environment if the repository can't be read, or the disk is full
StartRecord keep_start(const WorkspaceOptions& options);

/// A submodule whose changes get a diff of their own, with its git state at the start.
struct SubmoduleStart {
  std::string path;  ///< relative to the workspace
  StartRecord record;
};

/// The same for options.submodules, sorted by path. A resumed run keeps those of its start, whatever
/// has become of them.
/// @throws Error  as keep_start() and listed_submodules()
std::vector<SubmoduleStart> keep_submodules(const WorkspaceOptions& options);

/// Writes the rules of an ignore or attribute file for libgit2 (readable_rules()). @throws Error
void write_rules(const std::filesystem::path& file, std::string_view rules);

/// Writes a small file atomically. Not synced: after a power loss it is made again.
/// @throws Error  ExitCode::environment
void write_record(const std::filesystem::path& file, std::string_view content);

}  // namespace sortie

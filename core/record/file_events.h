#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"

namespace sortie {

enum class ChangeKind { add, remove, update, move };
template <>
inline constexpr auto kSpelling<ChangeKind> =
    std::to_array<Spelled<ChangeKind>>({{ChangeKind::add, "add"},
                                        {ChangeKind::remove, "delete"},
                                        {ChangeKind::update, "update"},
                                        {ChangeKind::move, "move"}});

/// A file that a call changed.
struct FileChange {
  std::string path;
  ChangeKind kind = ChangeKind::update;
  std::string moved_from{};   ///< the old path of a move
  unsigned mode = 0644;       ///< after the change; of a deleted file: before it
  std::string sha256_before;  ///< hex; "" if there was no file, or it was not read
  std::string sha256_after;
  std::string by{};           ///< "command"; "" for a patch of the agent
  std::string not_read{};     ///< why a digest is missing: "larger than …"
  std::string link_target{};  ///< of a link: the digests are those of its target's text
  /// Base64 of the file after the change, where a replay can't make it again; "" if not kept.
  std::string content{};
};

/// One side of a file in a diff, as git sees it.
struct RecordedSide {
  std::string mode;    ///< "100644", "100755", "120000" (a link, whose content is its target)
  std::string sha256;  ///< hex
  std::uint64_t bytes = 0;
};

/// A file of a diff, with the paths of the diff itself.
struct DiffedFile {
  std::string path;
  std::string old_path{};                ///< of a rename, else ""
  std::optional<RecordedSide> before{};  ///< nothing: the diff adds the file
  std::optional<RecordedSide> after{};   ///< nothing: the diff deletes it
  bool in_commit = false;                ///< the base commit has `before`
  std::string base_content{};            ///< Base64 of `before`, if the commit lacks it
};

/// A folder that files of a diff lie in.
struct DiffedFolder {
  std::string path;  ///< "" is the workspace
  /// What is in it without the diff; nothing: there is no such folder.
  std::optional<std::vector<std::string>> names{};
};

/// A diff of the run, which is about to be written: its base and its end, file by file.
struct DiffWritten {
  std::string name;         ///< in --out (diff_names.h)
  std::string submodule{};  ///< that it is of: its path in the workspace; "": of none
  std::string sha256;       ///< hex, of the diff
  std::string base;         ///< "start" | "head"
  std::string base_commit;  ///< "" if there is none
  std::string prefix;       ///< the workspace within its repository: "" or "sub/folder/"
  std::vector<DiffedFile> files;
  std::vector<DiffedFolder> folders{};  ///< without a base commit, if they hold few names
};

}  // namespace sortie

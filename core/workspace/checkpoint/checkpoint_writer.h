#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/workspace/checkpoint/checkpoint.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// Writes checkpoints: each adds what changed since the last one, and is on disk when add() returns.
/// Torn in the middle, the file still holds the one before.
///
///     base.json         {"version","run_id","in_place"}
///     base/0, base/1 …  what the tree was at the start, where git does not know it (base_list.h)
///     tree/PATH …       what changed since the last checkpoint, whole
///     checkpoint.json   {"turn","records","removed","as_before","was","left_out","sha256"}: the end
///                       of one; the digest is of all bytes since the one before
class CheckpointWriter {
 public:
  /// @param apart  as for own_changes_since()
  CheckpointWriter(std::filesystem::path file, std::string run_id,
                   std::vector<std::filesystem::path> apart);
  /// What own_changes_since() found in the tree at the start, all of it: the first add() looks
  /// otherwise.
  void know_start(std::vector<std::string> paths) { start_paths_ = std::move(paths); }
  /// Without a change since the last one, nothing is written before the first change.
  /// @param view          as commands see the tree
  /// @param before_first  is called before a file is begun, and throws to prevent it
  /// @throws Error  environment: a full disk, or the tree can't be read; the one before is kept
  void add(const Workspace& workspace, const DiskFiles& view, const CheckpointMark& mark,
           const std::function<void()>& before_first = {});

 private:
  struct Step;
  void begin(const Workspace& workspace);
  Step look(const Workspace& workspace, const DiskFiles& view) const;
  void write_base(const Workspace& workspace, const Step& step);
  void write_file(const DiskFiles& view, const std::string& path, const FileStamp& stamp);
  void write_member(const TarEntry& entry, std::string_view content);
  void put(std::string_view bytes);

  std::filesystem::path path_;
  std::string run_id_;
  std::vector<std::filesystem::path> apart_;
  std::optional<std::vector<std::string>> start_paths_;
  Fd file_;
  std::uint64_t end_ = 0;   ///< of the last checkpoint
  std::uint64_t next_ = 0;  ///< where the next byte goes
  Sha256 hash_;
  std::map<std::string, FileStamp> held_;  ///< as of the last one; all zero: it was removed
};

}  // namespace sortie

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/workspace/checkpoint/tar.h"

namespace sortie {

/// Which state of a run's tree a checkpoint holds.
struct CheckpointMark {
  int turn = 0;               ///< the last one whose changes are in it
  std::uint64_t records = 0;  ///< of the transcript, before it
};

/// What a run changed in its tree, as of the last whole checkpoint of a file.
class Checkpoint {
 public:
  /// Reads the last one that the transcript knows.
  /// @param records  of the transcript
  /// @return  nothing if there is none of this run
  static std::optional<Checkpoint> find(const std::filesystem::path& file,
                                        const std::string& run_id, std::uint64_t records);

  const CheckpointMark& mark() const noexcept { return mark_; }
  /// Changed paths that were too much for it.
  const std::vector<std::string>& left_out() const noexcept { return left_out_; }
  /// The paths in which a tree is not the one that the run began with.
  /// @param apart  as for own_changes_since()
  std::vector<std::string> base_differences(const std::filesystem::path& root,
                                            const std::vector<std::filesystem::path>& apart) const;
  /// Makes a tree that is as at the start as it was at the checkpoint.
  /// @throws Error  environment: it can't be written; integrity: it names what no tree holds
  void restore(const std::filesystem::path& root_shown, DiskFiles& view) const;

 private:
  struct Mapped;
  void take(const Json& mark, std::map<std::string, TarMember>& since);

  std::shared_ptr<const Mapped> file_;  ///< what `files_` points into
  CheckpointMark mark_;
  std::vector<std::string_view> base_;  ///< pieces of base_list.h
  bool in_place_ = false;               ///< of a run that worked in the user's own tree
  std::map<std::string, TarMember> files_;
  std::set<std::string> removed_;
  std::map<std::string, std::string> was_;  ///< path → content_mark() at the start
  std::vector<std::string> left_out_;
};

}  // namespace sortie

#pragma once

#include <filesystem>
#include <string>

#include "core/base/fd.h"
#include "core/batch/shard.h"

namespace sortie {

/// The folder of a batch: DIR/runs/NAME for each run, DIR/logs/NAME.log, and the results. Locked against
/// a second start of the same batch for as long as this object lives; shards of one batch may share it.
class BatchFolder {
 public:
  /// Creates or opens the folder and locks it.
  /// @throws Error  usage: not a folder, or it holds what no batch wrote; busy: another process is at work
  ///                in it (with its id)
  BatchFolder(const std::filesystem::path& path, const Shard& shard);
  BatchFolder(const BatchFolder&) = delete;
  BatchFolder& operator=(const BatchFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path run(const std::string& name) const { return path_ / "runs" / name; }
  std::filesystem::path log(const std::string& name) const {
    return path_ / "logs" / (name + ".log");
  }
  std::filesystem::path state() const { return path_ / "state"; }
  std::filesystem::path checkouts() const { return path_ / with_shard("checkouts", ""); }
  /// "results.jsonl", or "results-2-of-4.jsonl" for a shard.
  std::string with_shard(const std::string& stem, const std::string& ending) const;

 private:
  void lock(const Shard& shard);
  Fd lock_file(const std::string& name, bool alone) const;

  std::filesystem::path path_;
  std::string suffix_;
  Fd whole_;
  Fd own_;
};

}  // namespace sortie

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/inputs/options.h"

namespace sortie {

/// The flags of `sortie batch`; empty or absent if not given.
struct BatchOptions {
  std::string manifest;
  std::string out;
  std::string jobs;         ///< a number, or "auto"
  std::string shard;        ///< "i/n", "auto" or "auto/n"
  std::string status_file;  ///< where the outcome is told in one line; "" for nowhere
  bool keep_going = false;
  bool dry_run = false;
  bool json = false;   ///< events on stdout
  bool fresh = false;  ///< discard what earlier starts left of the runs
  /// What is given on to each run: policy, model, key, variables. Its max_cost and max_tokens are the
  /// batch's.
  RunOptions run{};
};

/// The flags of `sortie batch report`.
struct BatchReportOptions {
  std::vector<std::string> folders;
  std::string out;  ///< "": the first folder
  bool json = false;
};

inline constexpr const char* kBatchOut = "sortie-batch";  ///< the default of --out

}  // namespace sortie

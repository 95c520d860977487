#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"

namespace sortie {

struct ThreadRun;
class HeldOutput;

/// Which finished runs in --out are returned instead of run again.
enum class Reuse { success, any, none };
template <>
inline constexpr auto kSpelling<Reuse> = std::to_array<Spelled<Reuse>>({{Reuse::success, "success"},
                                                                        {Reuse::any, "any"},
                                                                        {Reuse::none, "none"}});

/// The flags of `sortie run`; empty or absent if not given.
struct RunOptions {
  std::string task;                   ///< file, or "-" for stdin; "-" with a prompt
  std::optional<std::string> prompt;  ///< instead of a task; "-" for stdin
  std::string policy;                 ///< file or preset name
  std::string approval;
  std::string workspace;  ///< -C
  std::string out = "sortie-out";
  std::string diff;  ///< file, or "-" for stdout
  std::string last_message;
  /// What `diff` and `last_message` lead to, open since before any command: the run and its parts have
  /// copies of the flags. Null: nothing is held, and nothing is written.
  std::shared_ptr<const std::vector<HeldOutput>> held{};
  std::vector<std::string> variables;  ///< NAME=VALUE or NAME@FILE
  std::vector<std::string> variable_files;
  std::string model;
  std::string provider;
  std::string base_url;
  std::string api_key_file;
  std::optional<int> api_key_fd;
  std::string auth_file;
  std::string rate_limits;  ///< file of the limits that runs share
  std::string replay;
  std::string record;
  std::string anchor;       ///< file, pipe or descriptor for the transcript's head
  std::string status_file;  ///< where the outcome is told in one line
  std::string isolation;
  std::string expect_task;    ///< the only digest that is taken; "": any
  std::string expect_policy;  ///< likewise
  std::optional<int> max_turns;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_cost;  ///< USD
  std::string timeout;             ///< a duration: 10m
  bool apply = false;              ///< write the changes into the workspace
  std::optional<int> best_of;      ///< attempts
  bool fresh = false;
  Reuse reuse = Reuse::success;
  bool json = false;  ///< live events on stdout
  /// Of `sortie batch`, which starts many runs: its folder around --out, which no command of the run
  /// sees; "" for none.
  std::string batch_folder;
  // Of `sortie replay`, not flags of `run`.
  std::string replay_calls;  ///< the transcript with the calls that are not made again; "": none
  std::string replay_moved_from;  ///< the workspace's path in that record, to be read as this one's
  bool silent = false;            ///< neither the final message nor the last line is printed
  /// Of `sortie exec`: replaces `task` and the file of `policy`. Outlives the run; null for others.
  const ThreadRun* thread = nullptr;
};

/// The verbosity and colours of stderr.
struct OutputStyle {
  std::string color = "auto";  ///< auto | always | never
  bool quiet = false;
  bool verbose = false;
  /// The lines go to another process of sortie, which shows them: no status line, no commands to a CI
  /// system; of this width, 0: any.
  bool relayed = false;
  std::size_t columns = 0;
};

}  // namespace sortie

#pragma once

#include <string>

#include "app/inputs/options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// What a replay does with the tools.
enum class ReplayTools {
  live,      ///< they run again, in the same sandbox and isolation
  recorded,  ///< nothing runs: what sortie itself makes of the record is compared
};

struct ReplayOptions {
  std::string run;            ///< a run's output folder, or its transcript
  std::string workspace;      ///< with the base's content; "": the recorded path
  std::string isolation;      ///< "": the recorded one
  std::string policy;         ///< file or preset in place of the recorded one; "": that
  bool trust_policy = false;  ///< the recorded policy may do what a stranger's could do harm with
  std::string out;            ///< keeps what the replay leaves; "": nothing is kept
  ReplayTools tools = ReplayTools::live;
  bool strict = false;  ///< outputs have to be equal too
};

/// Runs a recorded run again with its recorded responses, compares the two, and prints the result:
/// that they are equal, or the first difference with both sides.
/// @return  success or integrity
/// @throws Error  usage: there is no record, or no such base; integrity: the record is damaged; what
///                a run throws before it starts
ExitCode replay_run(const ReplayOptions& options, const OutputStyle& style);

}  // namespace sortie

#pragma once

#include <map>
#include <string>

#include "app/artifacts/output_folder.h"
#include "app/inputs/options.h"
#include "app/run/acceptance.h"
#include "app/run/agent_work.h"
#include "app/run/run_record.h"
#include "app/run/run_tree.h"
#include "app/run/signals.h"
#include "ci/result.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The final message as stdout gets it. A pipe or file gets it as data; a terminal would act on
/// control sequences in it, and a CI system that reads the pipe as its log on commands.
std::string message_for_stdout(const std::string& message, bool is_json);

/// A warning that the file or stdout of --diff has only the diff of the workspace itself; "" if that
/// is all of it. @param artifacts  of the run, by name
std::string lack_of_submodules(const RunOptions& options,
                               const std::map<std::string, std::string>& artifacts);

/// Writes a run's diff and final message at its end, to --out and the files of the flags.
class Handover {
 public:
  /// Everything in it outlives the object.
  struct Parts {
    const RunOptions& options;
    const OutputFolder& out;
    const Redactor& redactor;
    const RunTree* tree = nullptr;  ///< these are null if the run ended too early to have one
    const Acceptance* acceptance = nullptr;
    const Signals* signals = nullptr;
    RunRecord& record;
    RunResult& result;
  };
  explicit Handover(const Parts& parts) : parts_(parts) {}

  void take(AgentWork::Answer answer);
  /// The agent's last message; "" for none.
  const std::string& message() const noexcept { return message_; }

  /// Writes everything for a success, else what there is to look at.
  /// @throws Error
  void write_artifacts();
  /// Writes the files of the flags, and the diff to stdout if that is asked for.
  /// @param diff  of a success
  void hand_out(std::string_view diff);
  /// Removes everything that looks like a success, if the run fails at last. A step that fails becomes
  /// a warning.
  void withdraw_success();
  /// Prints the final message on stdout.
  void print_message();

 private:
  bool has_diff() const { return parts_.tree != nullptr && parts_.tree->diff().has_value(); }
  std::string_view diff() const {
    return has_diff() ? std::string_view(parts_.tree->diff()->text) : std::string_view();
  }
  void write_diff(const std::string& name);
  bool write_part(const Diff& diff, const std::string& name);
  void print(std::string_view text);
  int write(std::string_view text) const;
  Error error_of(int number) const;

  Parts parts_;
  std::string message_;  ///< with a newline
  bool is_json_ = false;
};

}  // namespace sortie

#pragma once

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

/// What a run hands over at its end: its diff and its final message, in --out and where the flags
/// ask for them.
class Handover {
 public:
  /// All of it outlives the object.
  struct Parts {
    const RunOptions& options;
    const OutputFolder& out;
    const Redactor& redactor;
    const RunTree* tree = nullptr;  ///< these are null where the run ended before it had any
    const Acceptance* acceptance = nullptr;
    const Signals* signals = nullptr;
    RunRecord& record;
    RunResult& result;
  };
  explicit Handover(const Parts& parts) : parts_(parts) {}

  void take(AgentWork::Answer answer);

  /// By the result: of a success all, else what there is to look at.
  /// @throws Error
  void write_artifacts();
  /// Leaves nothing that looks like a success, of a run that had been one so far. Each step that
  /// fails is a warning.
  void withdraw_success();
  /// The final message, on stdout.
  void print_message();

 private:
  bool has_diff() const { return parts_.tree != nullptr && parts_.tree->diff().has_value(); }
  std::string diff() const { return has_diff() ? parts_.tree->diff()->text : ""; }
  void write_diff(const std::string& name);
  void print(const std::string& text);

  Parts parts_;
  std::string message_;  ///< with a newline
  bool is_json_ = false;
};

}  // namespace sortie

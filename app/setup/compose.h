#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/confinement/protected_paths.h"
#include "app/inputs/inputs.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/setup/models.h"
#include "ci/result.h"
#include "core/agent/loop.h"
#include "core/git/git_info.h"
#include "core/net/proxy.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/workspace.h"
#include "tools/git/git_diff.h"
#include "tools/plain_tools.h"
#include "tools/whole_outputs.h"

namespace sortie {

/// What is known of this machine's namespaces.
enum class Namespaces {
  assumed,  ///< not probed: the keeper and the canary try the real thing at once
  proved,   ///< they work; each mount is probed before it is relied on
  none,     ///< refused here
};

/// Opens the workspace with the isolation that task and flags ask for. Forks to probe.
std::unique_ptr<Workspace> open_run_workspace(const RunInputs& inputs,
                                              const std::filesystem::path& out,
                                              const std::filesystem::path& state,
                                              Namespaces namespaces);

DiffOptions diff_options(const RunInputs& inputs);
/// Of the diff that the model is shown while the run is under way.
DiffOptions draft_options(const RunInputs& inputs, const std::string& only, const Pace& pace);

/// What run.started tells.
RunStart describe_start(const RunInputs& inputs, const RunResult& result, const GitInfo& git,
                        const Workspace& workspace, const Confinement& confinement);

/// The model, the tools and the loop of a run.
class Agent {
 public:
  struct Parts {
    const RunInputs& inputs;
    const RunOptions& options;
    const ModelKeys& keys;
    const std::optional<RunSignIn>& sign_in;
    const ProxySettings& proxy;
    Confinement& confinement;
    ProtectedPaths* protected_paths;  ///< compared after each command; may be null
    const GitInfo& git;
    EventSink& events;
    const Redactor& redactor;
    Clock& clock;
    Budget& budget;
    /// Runs the task's verification for the model that asks for it.
    std::function<RunTests::Outcome(std::stop_token)> run_tests;
    std::function<void(const std::string&)> say;  ///< a line for the operator
    const Environment& own;                       ///< sortie's own, with the servers' tokens
    std::stop_token stop;
    WholeOutputs* outputs = nullptr;  ///< where outputs stand whole; nothing: nowhere
    MakeDiff diff{};                  ///< the run's, as it is now
    std::function<std::vector<ChangedPath>()> changed_paths{};  ///< the same, by name alone
    std::function<std::vector<std::string>()> touched_paths{};  ///< as in PathQuestions
    std::function<std::vector<std::string>()> led_elsewhere{};  ///< the same
  };
  explicit Agent(Parts parts);
  ~Agent();

  Loop& loop();
  /// The text as the next message; before the first one stands what a run begins with, and the
  /// task's images go with it.
  std::vector<Item> message(const std::string& text);
  /// Ends what runs on between the calls: sessions, and the servers of tools whose programs may
  /// write; these are started anew with the agent's next turn. @return how many there were
  int end_background();
  /// From here on the stage's own tools, sandbox and limits hold.
  void enter_stage(const TaskStage& stage);
  /// Those of the run again.
  void leave_stage();
  /// Whether the message that ends what is under way is the run's final one, which the task's
  /// output schema is for.
  bool asks_for_answer() const;
  /// Of the stage that was entered.
  StageRecord stage_record(const std::string& prompt) const;
  /// For the operator: project docs that were cut, tools that are left out.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sortie

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/engine/passed_words.h"
#include "policies/rules/action.h"
#include "policies/rules/command_rules.h"
#include "policies/rules/decision.h"
#include "policies/rules/path_rules.h"
#include "policies/rules/policy.h"
#include "policies/shell/script.h"

namespace sortie {

/// How a stage of the task narrows what the policy allows. It never widens it.
struct StageLimits {
  std::string stage{};               ///< its name, for people
  bool read_only = false;            ///< the workspace may not be written
  std::vector<std::string> tools{};  ///< those that may be called; empty: all; "[]": none
};

/// Policy + action → decision; nothing else decides. Pure except for the constructor, which reads
/// from disk which lookup folders are the same. The policy must outlive it.
class Engine {
 public:
  /// @param approval   the policy's, or a stricter one from the command line
  /// @param workspace  absolute, links resolved
  /// @param out        --out, absolute; protected where it lies inside the workspace
  /// @param path       absolute folders in which a command's name is looked up
  /// @param protected_files  absolute: the task's file and the files it reads; the policy's own
  ///                         files come from the policy
  /// @param home             what "~" in hidden paths means; empty: any folder
  /// @param tracked          see PathPlaces
  Engine(const Policy& policy, Approval approval, std::filesystem::path workspace,
         std::filesystem::path out, std::vector<std::filesystem::path> path,
         std::vector<std::filesystem::path> protected_files = {}, std::filesystem::path home = {},
         std::function<bool(const std::string& path)> tracked = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Sets how script rules find out whether a file has changed since the start; without it they
  /// decide by words alone.
  void judge_scripts_by(ScriptFiles scripts) { scripts_ = std::move(scripts); }
  /// Sets how the engine finds concurrent commands; without it there are none.
  void look_beside_by(LookBeside look) { look_beside_ = std::move(look); }
  /// Limits that hold until the next call, in every approval mode.
  void limit_to(StageLimits limits) { limits_ = std::move(limits); }
  const StageLimits& limits() const noexcept { return limits_; }
  /// In approval mode `audit`, commands and tools that strict rules would deny are allowed and
  /// marked `audited`; `paths` are always enforced.
  Decision decide(const Action& action) const;
  /// The escalation of a call that asks for escalated permissions. Has a value if each of its
  /// commands matches an allow rule that escalates, and the policy has `escalation: rules`.
  std::optional<Escalation> find_escalation(const RunCommand& command) const;
  /// The commands and servers that are running now.
  ConcurrentCommands concurrent_commands() const {
    return look_beside_ ? look_beside_() : ConcurrentCommands();
  }
  /// Why an allowed tool may not be called now: its server has a sandbox of its own, and a running
  /// session could change files that control it. Nothing if it may be called.
  std::optional<Decision> refused_beside(const CallTool& tool) const;
  /// Whether a script rule matches some command in it, by its words.
  bool runs_script(const RunCommand& command) const;
  /// Whether some git command in it is allowed by the class read-only, or by no rule: it then runs
  /// in the environment that restricts git to one repository (environment.h), which the class
  /// assumes. A git command that another rule allows runs in the ordinary environment.
  bool holds_git(const RunCommand& command) const;
  /// Whether the tool is offered to the model.
  bool shows_tool(const CallTool& tool) const;
  bool shows_tool(const std::string& name) const { return shows_tool(CallTool{name}); }
  /// Whether a path relative to the workspace is protected (also one that does not exist yet).
  bool is_protected(const std::filesystem::path& path) const;
  bool is_hidden(const std::filesystem::path& path) const;
  Approval approval() const noexcept { return approval_; }
  /// The folders in which a command's name is looked up, in all equivalent spellings.
  const std::vector<std::filesystem::path>& folders() const noexcept { return folders_; }
  /// The script as the strict reader reads it, if the command is a shell string.
  std::optional<ScriptReading> read(const RunCommand& command) const;
  const Policy& policy() const noexcept { return policy_; }
  const std::filesystem::path& workspace() const noexcept { return workspace_; }

 private:
  /// A command without a shell around it, or one command of a script.
  struct Simple {
    std::span<const std::string> argv;
    std::span<const std::size_t> globs{};  ///< indexes of the words that the shell may expand
    CommandPlace place;
    /// The commands of the same pipeline before it.
    std::span<const SimpleCommand> upstream{};
    bool passed = false;  ///< `find -exec` or `xargs` runs it, perhaps often
  };

  Decision decide_by_policy(const Action& action) const;
  std::optional<Escalation> escalation_by_rules(const RunCommand& command) const;
  std::optional<Decision> refused_by_stage(const Action& action) const;
  Decision decide_strictly(const Action& action) const;
  Decision decide_command(const RunCommand& command) const;
  Decision decide_freely(const RunCommand& command) const;
  Decision decide_script(const ScriptReading& reading, const CommandPlace& place,
                         const std::string& line) const;
  /// Where and how a part of a script runs.
  struct PartPlace {
    CommandPlace place;
    bool behind_cd = false;  ///< a cd comes before it
    std::span<const SimpleCommand> upstream{};
  };
  Decision decide_part(const SimpleCommand& command, const PartPlace& part) const;
  Decision decide_in_folders(const SimpleCommand& command, PartPlace part,
                             const std::set<std::string>& folders) const;
  std::optional<Decision> refused_input_file(const SimpleCommand& command,
                                             const CommandPlace& place) const;
  static std::optional<Decision> refused_beside_others(const ScriptReading& reading, std::size_t at,
                                                       std::span<const Decision> decisions);
  Decision decide_simple(const Simple& simple) const;
  Decision decide_matched(const Simple& simple, const CommandRule& rule) const;
  std::optional<Decision> decide_runner(const Simple& simple) const;
  std::optional<Decision> decide_wrapper(const Simple& simple) const;
  Decision decide_passed(const Simple& simple, const PassedWords& passed) const;
  std::optional<Decision> decide_setting(std::span<const ScriptWord> words) const;
  Decision decide_cd(const Simple& simple) const;
  Decision decide_unmatched(const Simple& simple) const;
  Decision unreadable(const ScriptRefusal& refusal) const;
  std::optional<Decision> refused_input(const RunCommand& command) const;
  std::optional<Decision> refused_beside(const Simple& simple, const CommandRule& rule) const;

  const Policy& policy_;
  Approval approval_;
  std::filesystem::path workspace_;
  std::vector<std::filesystem::path> folders_;
  std::string instead_;             ///< the commands to use in place of a denied one
  const CommandRule* class_;        ///< the rule that allows the class read-only, or nothing
  std::vector<CommandRule> rules_;  ///< the policy's, see rules_without_planted()
  CommandRules commands_;
  PathRules paths_;
  ToolRules tools_;
  ScriptFiles scripts_;
  LookBeside look_beside_;
  StageLimits limits_;
};

/// Decides commands by words and paths alone, as `policy check` does: programs need not be
/// installed, paths need not exist. The policy must outlive it.
class CommandCheck {
 public:
  /// @param workdir  absolute; taken as the workspace
  CommandCheck(const Policy& policy, Approval approval, const std::filesystem::path& workdir);
  Decision decide(const std::vector<std::string>& argv) const;
  /// The command as it is decided, and what decides it.
  RunCommand command(const std::vector<std::string>& argv) const;
  const Engine& engine() const noexcept { return engine_; }
  /// Whether a line of --batch, a JSON array of strings, is allowed. Any other line is denied.
  bool allows_line(std::string_view line) const;

 private:
  std::filesystem::path workdir_;
  Engine engine_;
};

}  // namespace sortie

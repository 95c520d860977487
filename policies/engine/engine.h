#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/rules/action.h"
#include "policies/rules/command_place.h"
#include "policies/rules/command_rules.h"
#include "policies/rules/decision.h"
#include "policies/rules/path_rules.h"
#include "policies/rules/policy.h"
#include "policies/shell/script.h"

namespace sortie {

/// What a stage of the task leaves of what the policy allows. It never adds to that.
struct StageLimits {
  std::string stage{};               ///< its name, for people
  bool read_only = false;            ///< nothing of the workspace may be written
  std::vector<std::string> tools{};  ///< the only ones that may be called; empty: all
};

/// Policy + action → decision; nothing else decides. Pure but for the constructor, which asks the
/// disk which lookup folders are the same. The policy must outlive it.
class Engine {
 public:
  /// @param approval   the policy's, or a stricter one from the command line
  /// @param workspace  absolute, links resolved
  /// @param out        --out, absolute; protected where it lies inside the workspace
  /// @param path       absolute folders in which a command's name is looked up
  /// @param protected_files  absolute: the task's file and what it reads; the policy's own are
  ///                         known from the policy
  /// @param home             what "~" in hidden paths means; empty: any folder
  /// @param tracked          as of PathPlaces
  Engine(const Policy& policy, Approval approval, std::filesystem::path workspace,
         std::filesystem::path out, std::vector<std::filesystem::path> path,
         std::vector<std::filesystem::path> protected_files = {}, std::filesystem::path home = {},
         std::function<bool(const std::string& path)> tracked = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// How script rules learn whether a file is as it was at the start; without it they judge by
  /// words alone.
  void judge_scripts_by(ScriptFiles scripts) { scripts_ = std::move(scripts); }
  /// How it learns what runs beside a command; without it nothing does.
  void look_beside_by(LookBeside look) { look_beside_ = std::move(look); }
  /// Until the next call. They hold in every approval mode.
  void limit_to(StageLimits limits) { limits_ = std::move(limits); }
  const StageLimits& limits() const noexcept { return limits_; }
  /// Under the approval mode audit commands and tools are allowed and marked `audited` where
  /// deny-by-default would have denied them; `paths` hold as ever.
  Decision decide(const Action& action) const;
  /// What a call that asks for escalated permissions gets: something where each of its commands
  /// is matched by an allow rule that escalates, and the policy has `escalation: rules`.
  std::optional<Escalation> find_escalation(const RunCommand& command) const;
  /// What runs now.
  ConcurrentCommands concurrent_commands() const {
    return look_beside_ ? look_beside_() : ConcurrentCommands();
  }
  /// Why a tool that is allowed is not called now: its server has a sandbox of its own, and obeys
  /// what a session could change. Nothing where it may be.
  std::optional<Decision> refused_beside(const CallTool& tool) const;
  /// Whether some command of it is one that a script rule is about, by its words.
  bool runs_script(const RunCommand& command) const;
  /// Whether some git command of it is allowed by the class read-only, or by no rule: it then runs
  /// in the environment that holds git to the one repository (environment.h), by which the class
  /// was judged. What another rule allows is the operator's own, and works as it does elsewhere.
  bool holds_git(const RunCommand& command) const;
  /// Whether the model is to be shown the tool at all.
  bool shows_tool(const CallTool& tool) const;
  bool shows_tool(const std::string& name) const { return shows_tool(CallTool{name}); }
  /// Whether a path relative to the workspace is protected (also one that does not exist yet).
  bool is_protected(const std::filesystem::path& path) const;
  bool is_hidden(const std::filesystem::path& path) const;
  Approval approval() const noexcept { return approval_; }
  /// In which a command's name is looked up, in all spellings that are the same.
  const std::vector<std::filesystem::path>& folders() const noexcept { return folders_; }
  /// What the strict reader makes of the script, where the command is a shell string.
  std::optional<ScriptReading> read(const RunCommand& command) const;
  const Policy& policy() const noexcept { return policy_; }
  const std::filesystem::path& workspace() const noexcept { return workspace_; }

 private:
  /// A command without a shell around it, or one of a script's.
  struct Simple {
    std::span<const std::string> argv;
    std::span<const std::size_t> globs{};  ///< its words that the shell may turn into others
    CommandPlace place;
    bool alone = true;  ///< nothing runs before it or beside it in the same script
  };

  Decision decide_by_policy(const Action& action) const;
  std::optional<Escalation> escalation_by_rules(const RunCommand& command) const;
  std::optional<Decision> refused_by_stage(const Action& action) const;
  Decision decide_strictly(const Action& action) const;
  Decision decide_command(const RunCommand& command) const;
  Decision decide_freely(const RunCommand& command) const;
  Decision decide_script(const ScriptReading& reading, const CommandPlace& place,
                         const std::string& line) const;
  /// What a part of a script may run in.
  struct PartPlace {
    CommandPlace place;
    bool behind_cd = false;  ///< some command before it is a cd
    bool alone = true;       ///< as Simple
  };
  Decision decide_part(const SimpleCommand& command, const PartPlace& part) const;
  Decision decide_simple(const Simple& simple) const;
  Decision decide_cd(const Simple& simple) const;
  Decision decide_unmatched(const Simple& simple) const;
  Decision unreadable(const ScriptRefusal& refusal) const;
  std::optional<Decision> refused_input(const RunCommand& command) const;
  std::optional<Decision> refused_beside(const Simple& simple, const CommandRule& rule) const;

  const Policy& policy_;
  Approval approval_;
  std::filesystem::path workspace_;
  std::vector<std::filesystem::path> folders_;
  std::string instead_;             ///< what is allowed in place of a denied command
  const CommandRule* class_;        ///< the rule that allows the class read-only, or nothing
  std::vector<CommandRule> rules_;  ///< the policy's, without what could only be planted
  CommandRules commands_;
  PathRules paths_;
  ToolRules tools_;
  ScriptFiles scripts_;
  LookBeside look_beside_;
  StageLimits limits_;
};

/// Decides commands by words and paths alone, as `policy check` does: a bare name that is not
/// installed is judged as if it were, paths need not exist. The policy must outlive it.
class CommandCheck {
 public:
  /// @param workdir  absolute; stands for the workspace
  CommandCheck(const Policy& policy, Approval approval, const std::filesystem::path& workdir);
  Decision decide(const std::vector<std::string>& argv) const;
  /// A line of --batch: a JSON array of strings. All else is denied.
  bool allows_line(std::string_view line) const;

 private:
  std::filesystem::path workdir_;
  Engine engine_;
};

}  // namespace sortie

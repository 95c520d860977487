#include "policies/engine/engine.h"

#include <algorithm>

#include "core/files/path_below.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "policies/engine/explain.h"
#include "policies/engine/instead.h"
#include "policies/rules/deny_search.h"
#include "policies/rules/open_words.h"
#include "policies/rules/planted_programs.h"
#include "policies/rules/read_only_checks.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/lookup.h"
#include "policies/shell/script_folders.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr const char* kShellInside =
    "a nested shell can't be checked: run the script directly with `bash -c SCRIPT` and nothing "
    "else, or send the command as a direct argv";

std::string command_line(std::span<const std::string> argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += word;
    if (line.size() > 2 * kLongestPart) break;
  }
  return one_line(line, kLongestPart);
}

/// Why no policy can allow the argv; "" for a valid one.
std::string malformed(const std::vector<std::string>& argv) {
  if (argv.empty()) return "the command is empty";
  if (argv[0].empty()) return "the command has no name";
  const bool has_nul = std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.find('\0') != std::string::npos;
  });
  return has_nul ? "a word of the command has a NUL byte" : "";
}

std::string place_text(const RulePlace& place) {
  return place.file + ':' + std::to_string(place.line);
}

/// The rule's own reason, or a default by its effect.
std::string reason_of(const CommandRule& rule) {
  if (!rule.why.empty()) return rule.why;
  if (rule.effect == Effect::allow) return "a rule allows it";
  return "a rule denies it";
}

Decision denied_by(const RuleMatch& match) {
  const CommandRule& rule = *match.rule;
  Decision decision{.effect = match.loose ? Effect::deny : rule.effect,
                    .rule = rule.place,
                    .part = one_line(match.part, kLongestPart),
                    .reason = reason_of(rule)};
  if (match.loose) {
    decision.reason = "a word of the script may match a deny rule (" + decision.reason + ')';
    decision.instead = "send the command as a direct argv, without a shell";
  }
  return decision;
}

const CommandRule* class_rule(const Policy& policy) {
  const auto it =
      std::find_if(policy.commands.begin(), policy.commands.end(), [](const CommandRule& rule) {
        return rule.effect == Effect::allow && rule.command_class == "read-only";
      });
  return it == policy.commands.end() ? nullptr : &*it;
}

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// The usual folders of programs, whatever this machine's PATH is.
std::vector<std::filesystem::path> usual_folders() {
  return {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
}

}  // namespace

Engine::Engine(const Policy& policy, Approval approval, std::filesystem::path workspace,
               std::filesystem::path out, std::vector<std::filesystem::path> path,
               std::vector<std::filesystem::path> protected_files, std::filesystem::path home,
               std::function<bool(const std::string& path)> tracked)
    : policy_(policy),
      approval_(approval),
      workspace_(without_trailing_slash(workspace)),
      folders_(lookup_folders(path, workspace_)),
      instead_(allowed_instead(policy)),
      class_(class_rule(policy)),
      rules_(rules_without_planted(policy, workspace_, home, folders_)),
      commands_(rules_),
      paths_(policy, {.workspace = workspace_,
                      .out = std::move(out),
                      .protected_files = std::move(protected_files),
                      .home = std::move(home),
                      .tracked = std::move(tracked)}),
      tools_(policy.tools) {}

Engine::~Engine() = default;

Decision Engine::decide(const Action& action) const {
  Decision decision = decide_by_policy(action);
  if (decision.effect != Effect::allow) return decision;
  return refused_by_stage(action).value_or(std::move(decision));
}

Decision Engine::decide_by_policy(const Action& action) const {
  Decision decision = decide_strictly(action);
  if (const auto* asks = std::get_if<RunCommand>(&action); asks != nullptr && asks->escalated) {
    if (decision.effect == Effect::allow) decision.escalation = find_escalation(*asks);
  }
  if (approval_ != Approval::audit || decision.effect == Effect::allow) return decision;
  // Invalid commands are denied in every mode, and so are paths.
  const auto* command = std::get_if<RunCommand>(&action);
  const bool may_run = command != nullptr ? malformed(command->argv).empty()
                                          : std::holds_alternative<CallTool>(action);
  if (!may_run) return decision;
  decision.audited = decision.effect;
  decision.effect = Effect::allow;
  return decision;
}

Decision Engine::decide_strictly(const Action& action) const {
  if (const auto* command = std::get_if<RunCommand>(&action)) {
    Decision decision = decide_command(*command);
    if (decision.effect != Effect::allow || !command->input) return decision;
    return refused_input(*command).value_or(std::move(decision));
  }
  if (const auto* read = std::get_if<ReadPath>(&action)) return paths_.decide_read(read->path);
  if (const auto* write = std::get_if<WritePath>(&action)) return paths_.decide_write(write->path);
  return tools_.decide(std::get<CallTool>(action), approval_);
}

std::optional<ScriptReading> Engine::read(const RunCommand& command) const {
  const auto script = shell_string(command.argv, folders_);
  return script ? std::optional(read_script(*script)) : std::nullopt;
}

Decision Engine::decide_command(const RunCommand& command) const {
  const std::vector<std::string>& argv = command.argv;
  if (const std::string problem = malformed(argv); !problem.empty()) {
    return {.effect = Effect::deny, .part = command_line(argv), .reason = problem};
  }
  // A command that gets input is already running.
  const ConcurrentCommands beside = command.input ? ConcurrentCommands() : concurrent_commands();
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_,
                           .beside = &beside};
  const bool strict = approval_ != Approval::full_auto;
  const RuleMatch match = commands_.find_deny(argv, place);
  if (match.rule != nullptr && !(match.loose && strict)) return denied_by(match);
  if (!strict) return decide_freely(command);

  const auto reading = read(command);
  // A syntax that can't be read says more than a word that may match a rule.
  if (reading && reading->refused) return unreadable(reading->refusal);
  if (match.rule != nullptr) return denied_by(match);
  if (!is_below(place.workdir.lexically_normal(), workspace_)) {
    return {.effect = Effect::deny,
            .part = place.workdir.string(),
            .reason = "the working folder is outside the workspace"};
  }
  if (reading) return decide_script(*reading, place, command_line(argv));
  return decide_simple({.argv = argv, .place = place});
}

Decision Engine::decide_freely(const RunCommand& command) const {
  const auto refusal = policy_.unreadable_allow ? std::nullopt : find_unreadable(command.argv);
  if (refusal) return unreadable(*refusal);
  return {.effect = Effect::allow,
          .part = command_line(command.argv),
          .reason = "full-auto: no rule denies it"};
}

Decision Engine::decide_simple(const Simple& simple) const {
  const std::vector<std::string> argv = shown_words(simple.argv);
  Decision decision{.effect = Effect::deny, .part = command_line(argv), .command = argv};
  // Not even by a rule of its own: the script in the string would run unchecked.
  if (is_shell(simple.argv[0]) && read_shell_call(simple.argv).script) {
    decision.reason = kShellInside;
    decision.instead = instead_;
    return decision;
  }
  if (command_name(simple.argv[0], folders_) == "cd") return decide_cd(simple);
  const RuleMatch match = commands_.find_allow(simple.argv, simple.place, simple.globs);
  if (match.rule != nullptr) return decide_matched(simple, *match.rule);
  if (match.excepted == nullptr) {
    auto runner = decide_runner(simple);
    return runner ? *std::move(runner) : decide_unmatched(simple);
  }
  decision.rule = match.excepted->place;
  decision.part = one_line(shown_word(match.part), kLongestPart);
  decision.reason = match.problem.empty()
                        ? "but_not of " + place_text(match.excepted->place) + " excepts this word"
                        : match.problem;
  decision.instead = instead_of(argv, instead_);
  return decision;
}

/// @param rule  the allow rule that matches it
Decision Engine::decide_matched(const Simple& simple, const CommandRule& rule) const {
  const std::vector<std::string> argv = shown_words(simple.argv);
  Decision decision{.effect = Effect::deny, .part = command_line(argv), .command = argv};
  if (!rule.script.empty() && simple.passed) {
    decision.reason = "a program of the workspace may run only once: it could change itself";
    decision.instead = "send it as a call of its own";
    return decision;
  }
  if (auto refused = refused_beside(simple, rule)) {
    refused->part = decision.part;
    refused->command = argv;
    return *refused;
  }
  return {.effect = Effect::allow,
          .rule = rule.place,
          .part = decision.part,
          .reason = reason_of(rule),
          .allowed = !rule.script.empty()          ? Decision::Allowed::as_script
                     : !rule.command_class.empty() ? Decision::Allowed::as_reading
                                                   : Decision::Allowed::by_prefix};
}

/// `cd` is a shell built-in of the class read-only: one literal folder inside the workspace.
Decision Engine::decide_cd(const Simple& simple) const {
  const std::vector<std::string> argv(simple.argv.begin(), simple.argv.end());
  Decision decision{.effect = Effect::deny,
                    .part = command_line(argv),
                    .instead = "send the call with `workdir`, or `cd FOLDER && COMMAND`",
                    .command = argv};
  if (argv[0] != "cd" || argv.size() != 2 || !simple.globs.empty() || argv[1].empty() ||
      argv[1].front() == '-') {
    decision.reason = "only `cd FOLDER` with one literal folder is supported";
  } else if (!is_below(std::filesystem::path(folder_behind(simple.place.workdir.string(), argv[1]))
                           .lexically_normal(),
                       workspace_)) {
    decision.reason = "cd leads out of the workspace";
  } else if (word_reaches_kernel_folder(argv[1], simple.place.workdir.string())) {
    // Where `link/../proc` is no folder as text, bash takes the one that the link leads to.
    decision.reason = "it may lead into /proc, /sys or /dev";
  } else {
    const RuleMatch match = commands_.find_allow(argv, simple.place);
    const CommandRule* rule = match.rule != nullptr ? match.rule : class_;
    if (rule == nullptr) return decide_unmatched(simple);
    decision = {.effect = Effect::allow,
                .rule = rule->place,
                .part = decision.part,
                .reason = reason_of(*rule),
                .allowed = Decision::Allowed::as_reading};
  }
  return decision;
}

Decision Engine::decide_unmatched(const Simple& simple) const {
  const std::vector<std::string> argv = shown_words(simple.argv);
  Decision denied{.effect = Effect::deny,
                  .part = command_line(argv),
                  .instead = instead_of(argv, instead_),
                  .command = argv};
  const std::string name(command_name(argv[0], folders_));
  const std::string shown = one_line(argv[0], kLongestPart);
  if (is_shell(argv[0])) {
    denied.reason =
        "the file that " + shown + " would run is not checked: it needs a rule of its own";
  } else if (name.empty()) {
    denied.part = shown;
    const bool has_scripts =
        std::any_of(policy_.commands.begin(), policy_.commands.end(),
                    [](const CommandRule& rule) { return !rule.script.empty(); });
    denied.reason = shown + (has_scripts ? " is a path that no script rule matches"
                                         : " is a path, not the bare name of an installed command");
  } else if (is_wrapper(name) && name != "command") {
    denied.part = name;
    denied.reason = name +
                    " runs another command and needs a rule of its own: send that command "
                    "itself, without " +
                    name;
  } else {
    std::vector<std::string> named = with_globs_for_marks(simple.argv);
    named[0] = name;
    const auto not_read_only = why_not_read_only(named, workspace_, simple.place.workdir);
    denied.unmatched = true;
    denied.reason = "no rule allows " + name;
    if (class_ != nullptr && not_read_only && not_read_only->known) {
      denied.part = one_line(not_read_only->part, kLongestPart);
      denied.reason = "not read-only: " + one_line(not_read_only->reason, kLongestPart);
    }
  }
  return denied;
}

bool Engine::shows_tool(const CallTool& tool) const { return decide(tool).effect == Effect::allow; }

bool Engine::is_protected(const std::filesystem::path& path) const {
  return paths_.is_protected(path);
}

bool Engine::is_hidden(const std::filesystem::path& path) const { return paths_.is_hidden(path); }

CommandCheck::CommandCheck(const Policy& policy, Approval approval,
                           const std::filesystem::path& workdir)
    : workdir_(workdir), engine_(policy, approval, workdir, {}, usual_folders()) {}

Decision CommandCheck::decide(const std::vector<std::string>& argv) const {
  return engine_.decide(command(argv));
}

RunCommand CommandCheck::command(const std::vector<std::string>& argv) const {
  return {.argv = argv, .workdir = workdir_};
}

bool CommandCheck::allows_line(std::string_view line) const {
  std::vector<std::string> argv;
  try {
    const Json json = parse_json(line);
    if (!json.is_array()) return false;
    for (const auto& word : json.items()) {
      if (!word.is_string()) return false;
      argv.push_back(word.text());
    }
    return decide(argv).effect == Effect::allow;
  } catch (const std::exception&) {
    return false;  // a command that can't be decided is denied
  }
}

}  // namespace sortie

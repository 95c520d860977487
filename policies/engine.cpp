#include "policies/engine.h"

#include <algorithm>

#include "core/base/text.h"
#include "policies/explain.h"
#include "policies/read_only_commands.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxPart = 160;
constexpr const char* kDirectArgv =
    "a shell string is not read: send the command as a direct argv such as [\"git\",\"status\"]";

std::string command_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    if (!line.empty()) line += ' ';
    line += word;
    if (line.size() > 2 * kMaxPart) break;
  }
  return one_line(line, kMaxPart);
}

/// What no policy can allow; "" for a proper argv.
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

/// The rule's own reason, or what it does.
std::string reason_of(const CommandRule& rule) {
  if (!rule.why.empty()) return rule.why;
  if (rule.effect == Effect::allow) return "a rule allows it";
  return "a rule denies it";
}

Decision denied_by(const RuleMatch& match) {
  const CommandRule& rule = *match.rule;
  Decision decision{.effect = match.loose ? Effect::deny : rule.effect,
                    .rule = rule.place,
                    .part = one_line(match.part, kMaxPart),
                    .reason = reason_of(rule)};
  if (match.loose) {
    decision.reason =
        "a word of the script could be what the rule denies (" + decision.reason + ')';
    decision.instead = "the command as a direct argv, without a shell";
  }
  return decision;
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto normal = path.lexically_normal();
  return std::mismatch(folder.begin(), folder.end(), normal.begin(), normal.end()).first ==
         folder.end();
}

std::filesystem::path without_trailing_slash(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

Engine::Engine(const Policy& policy, Approval approval, std::filesystem::path workspace,
               std::filesystem::path out, std::vector<std::filesystem::path> path,
               std::vector<std::filesystem::path> protected_files, std::filesystem::path home)
    : policy_(policy),
      approval_(approval),
      workspace_(without_trailing_slash(workspace)),
      folders_(lookup_folders(path, workspace_)),
      instead_(allowed_instead(policy)),
      commands_(policy.commands),
      paths_(policy, {.workspace = workspace_,
                      .out = std::move(out),
                      .protected_files = std::move(protected_files),
                      .home = std::move(home)}),
      tools_(policy.tools) {}

Engine::~Engine() = default;

Decision Engine::decide(const Action& action) const {
  Decision decision = decide_strictly(action);
  if (approval_ != Approval::audit || decision.effect == Effect::allow) return decision;
  // What no mode can run, and the paths, which hold in every mode.
  const auto* command = std::get_if<RunCommand>(&action);
  const bool may_run = command != nullptr ? malformed(command->argv).empty()
                                          : std::holds_alternative<CallTool>(action);
  if (!may_run) return decision;
  decision.effect = Effect::allow;
  decision.audited = true;
  return decision;
}

Decision Engine::decide_strictly(const Action& action) const {
  if (const auto* command = std::get_if<RunCommand>(&action)) return decide_command(*command);
  if (const auto* read = std::get_if<ReadPath>(&action)) return paths_.decide_read(read->path);
  if (const auto* write = std::get_if<WritePath>(&action)) return paths_.decide_write(write->path);
  return tools_.decide(std::get<CallTool>(action).name, approval_);
}

Decision Engine::decide_command(const RunCommand& command) const {
  const std::vector<std::string>& argv = command.argv;
  const std::string line = command_line(argv);
  if (const std::string problem = malformed(argv); !problem.empty()) {
    return {.effect = Effect::deny, .part = line, .reason = problem};
  }
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  if (const RuleMatch match = commands_.find_deny(argv, place); match.rule != nullptr) {
    return denied_by(match);
  }
  if (approval_ == Approval::full_auto) {
    return {.effect = Effect::allow, .part = line, .reason = "full-auto: no rule denies it"};
  }
  // Not even by a rule of its own: what the string says would run unseen.
  if (is_shell(argv[0]) && read_shell_call(argv).script) {
    return {.effect = Effect::deny, .part = line, .reason = kDirectArgv, .instead = instead_};
  }
  if (!is_below(place.workdir, workspace_)) {
    return {.effect = Effect::deny,
            .part = place.workdir.string(),
            .reason = "the working folder lies outside the workspace"};
  }
  const RuleMatch match = commands_.find_allow(argv, place);
  if (match.rule != nullptr) {
    return {.effect = Effect::allow,
            .rule = match.rule->place,
            .part = line,
            .reason = reason_of(*match.rule)};
  }
  if (match.excepted != nullptr) {
    return {.effect = Effect::deny,
            .rule = match.excepted->place,
            .part = one_line(match.part, kMaxPart),
            .reason = match.problem.empty()
                          ? "but_not of " + place_text(match.excepted->place) + " excepts this word"
                          : match.problem,
            .instead = instead_};
  }
  return decide_unmatched(command, line);
}

Decision Engine::decide_unmatched(const RunCommand& command, const std::string& line) const {
  const std::vector<std::string>& argv = command.argv;
  Decision denied{.effect = Effect::deny, .part = line, .instead = instead_};
  const std::string name(command_name(argv[0], folders_));
  const std::string shown = one_line(argv[0], kMaxPart);
  if (is_shell(argv[0])) {
    denied.reason = kDirectArgv;
  } else if (name.empty()) {
    denied.part = shown;
    const bool has_scripts =
        std::any_of(policy_.commands.begin(), policy_.commands.end(),
                    [](const CommandRule& rule) { return !rule.script.empty(); });
    denied.reason = shown + (has_scripts ? " is a path that no script rule matches"
                                         : " is a path, not the bare name of an installed command");
  } else if (is_wrapper(name)) {
    denied.part = name;
    denied.reason = name +
                    " runs another command and needs a rule of its own: send that command "
                    "itself, without " +
                    name;
  } else {
    std::vector<std::string> named = argv;
    named[0] = name;
    const auto not_read_only = why_not_read_only(named, workspace_, command.workdir);
    const bool has_class =
        std::any_of(policy_.commands.begin(), policy_.commands.end(),
                    [](const CommandRule& rule) { return rule.command_class == "read-only"; });
    denied.reason = "no rule allows " + name;
    if (has_class && not_read_only && not_read_only->known) {
      denied.part = one_line(not_read_only->part, kMaxPart);
      denied.reason = "not read-only: " + one_line(not_read_only->reason, kMaxPart);
    } else {
      denied.unmatched = true;
    }
  }
  return denied;
}

bool Engine::shows_tool(const std::string& name) const {
  return decide(CallTool{name}).effect == Effect::allow;
}

bool Engine::is_protected(const std::filesystem::path& path) const {
  return paths_.is_protected(path);
}

bool Engine::is_hidden(const std::filesystem::path& path) const { return paths_.is_hidden(path); }

}  // namespace sortie

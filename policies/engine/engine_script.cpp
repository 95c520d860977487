// How the engine decides a shell string: each of its simple commands by itself, in every folder in
// which it may run.
#include <algorithm>
#include <array>

#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/engine/instead.h"
#include "policies/rules/open_words.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/script_folders.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// Higher is stronger: a rule or a fixed limit goes before a missing rule.
int rank(const Decision& decision) {
  if (decision.effect == Effect::forbid) return 3;
  if (decision.effect == Effect::deny) return decision.unmatched ? 1 : 2;
  return 0;
}

bool may_be_git(const ScriptWord& word) {
  return could_be(base_name(word.glob ? loose_glob(word.text) : word.text), "git");
}

bool calls_git(const std::vector<ScriptWord>& words) {
  return may_be_git(words[0]) || (is_wrapper(base_name(words[0].text)) &&
                                  std::any_of(words.begin(), words.end(), may_be_git));
}

/// For each command, where its pipeline begins, if all parts of that are single commands.
void begin_pipelines(const ScriptNode& node, std::vector<std::size_t>& begins) {
  const bool is_plain =
      node.kind == ScriptNode::Kind::pipeline &&
      std::all_of(node.parts.begin(), node.parts.end(),
                  [](const ScriptNode& part) { return part.kind == ScriptNode::Kind::command; });
  for (const ScriptNode& part : node.parts) {
    if (is_plain) begins[part.command] = node.parts.front().command;
    begin_pipelines(part, begins);
  }
}

std::vector<std::size_t> begins_of_pipelines(const ScriptReading& reading) {
  std::vector<std::size_t> begins(reading.commands.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = i;
  begin_pipelines(reading.root, begins);
  return begins;
}

bool is_allowed(const Decision& decision, Decision::Allowed allowed) {
  return decision.effect == Effect::allow && decision.allowed == allowed;
}

/// The command without the words that may not be there.
SimpleCommand without_vanished(SimpleCommand command) {
  std::erase_if(command.words, [](const ScriptWord& word) { return word.may_vanish; });
  return command;
}

}  // namespace

Decision Engine::unreadable(const ScriptRefusal& refusal) const {
  const std::string line =
      refusal.line > 1 ? "line " + std::to_string(refusal.line) + ", " : std::string();
  return {.effect = Effect::deny,
          .part = refusal.part,
          .reason = "the script can't be checked at " + line + "column " +
                    std::to_string(refusal.column) + ": " + refusal.reason,
          .instead = instead_of_script(refusal.part, refusal.reason)};
}

Decision Engine::decide_script(const ScriptReading& reading, const CommandPlace& place,
                               const std::string& line) const {
  const std::span<const SimpleCommand> commands = reading.commands;
  const ScriptFolders found = follow_folders(reading, folder_behind(place.workdir.string(), "."));
  if (found.too_many)
    return {.effect = Effect::deny, .part = line, .reason = "the script changes folders too often"};
  const std::vector<std::size_t> begins = begins_of_pipelines(reading);
  std::vector<Decision> decisions;
  PartPlace part{.place = place};
  for (std::size_t at = 0; at < commands.size(); ++at) {
    part.upstream = commands.subspan(begins[at], at - begins[at]);
    decisions.push_back(decide_in_folders(commands[at], part, found.folders[at]));
    part.behind_cd = part.behind_cd || commands[at].words[0].text == "cd";
  }
  Decision worst{.effect = Effect::allow, .part = line};
  for (std::size_t at = 0; at < commands.size(); ++at) {
    Decision decision = refused_beside_others(reading, at, decisions).value_or(decisions[at]);
    if (worst.rule.line == 0 && worst.effect == Effect::allow) worst.rule = decision.rule;
    if (worst.reason.empty()) worst.reason = decision.reason;
    if (rank(decision) <= rank(worst)) continue;
    worst = std::move(decision);
    if (commands.size() > 1)
      worst.reason += " (command " + std::to_string(at + 1) + " of the script)";
  }
  if (worst.effect == Effect::allow && commands.size() > 1) {
    worst.reason = "each of its " + std::to_string(commands.size()) + " commands is allowed";
  }
  return worst;
}

/// The strongest decision of all folders, and of all words that may or may not be there.
Decision Engine::decide_in_folders(const SimpleCommand& command, PartPlace part,
                                   const std::set<std::string>& folders) const {
  Decision worst{.effect = Effect::allow};
  bool first = true;
  const bool vanishes = std::any_of(command.words.begin(), command.words.end(),
                                    [](const ScriptWord& word) { return word.may_vanish; });
  for (const std::string& folder : folders) {
    part.place.workdir = folder;
    Decision decision = decide_part(command, part);
    if (vanishes && decision.effect == Effect::allow)
      decision = decide_part(without_vanished(command), part);
    if (!first && rank(decision) <= rank(worst)) continue;
    worst = std::move(decision);
    if (folders.size() > 1 && worst.effect != Effect::allow)
      worst.reason += ", in " + one_line(folder, kLongestPart);
    first = false;
  }
  return worst;
}

/// A program of the workspace may run after and beside commands that only read: any other could
/// change its file between the check and its start.
std::optional<Decision> Engine::refused_beside_others(const ScriptReading& reading, std::size_t at,
                                                      std::span<const Decision> decisions) {
  if (!is_allowed(decisions[at], Decision::Allowed::as_script)) return std::nullopt;
  const std::span<const SimpleCommand> commands = reading.commands;
  for (std::size_t other = 0; other < commands.size(); ++other) {
    const bool itself = other == at && !commands[at].repeats;
    if (itself || commands[other].unit > commands[at].unit) continue;
    if (other != at && is_allowed(decisions[other], Decision::Allowed::as_reading)) continue;
    Decision decision = decisions[at];
    decision.effect = Effect::deny;
    decision.rule = {};
    decision.reason =
        "a program of the workspace must run alone, or after and beside commands that "
        "only read: " +
        one_line(commands[other].words[0].text) + " could change it";
    decision.instead = "send the same command as a call of its own";
    return decision;
  }
  return std::nullopt;
}

/// `set -e`, `export CI=1`, `exit 1`: like `cd`, part of the class read-only.
std::optional<Decision> Engine::decide_setting(std::span<const ScriptWord> words) const {
  if (!is_shell_setting(words)) return std::nullopt;
  std::vector<std::string> argv;
  for (const ScriptWord& word : words) argv.push_back(shown_word(word.text));
  if (class_ == nullptr)
    return Decision{.effect = Effect::deny,
                    .part = argv[0],
                    .reason = "no rule allows " + argv[0],
                    .instead = instead_,
                    .unmatched = true,
                    .command = argv};
  return Decision{.effect = Effect::allow,
                  .rule = class_->place,
                  .part = argv[0],
                  .reason = "it changes nothing but how the script goes on",
                  .allowed = Decision::Allowed::as_reading};
}

Decision Engine::decide_part(const SimpleCommand& command, const PartPlace& part) const {
  std::vector<std::string> argv;
  std::vector<std::size_t> globs;
  for (const ScriptWord& word : command.words) {
    if (word.glob) globs.push_back(argv.size());
    argv.push_back(word.text);
  }
  const std::vector<std::string> shown = shown_words(argv);
  Decision denied{.effect = Effect::deny,
                  .part = argv[0],
                  .instead = instead_of(shown, instead_),
                  .command = shown};
  if (std::string reason = why_changes_shell(command.words); !reason.empty()) {
    denied.reason = reason;
    return denied;
  }
  if (auto refused = refused_input_file(command, part.place)) return *refused;
  if (auto setting = decide_setting(command.words)) return *setting;
  const bool reads_pipe = std::all_of(command.redirections.begin(), command.redirections.end(),
                                      [](const auto& redirection) {
                                        return redirection.kind != ScriptRedirection::Kind::input &&
                                               redirection.kind != ScriptRedirection::Kind::text;
                                      });
  Decision decision =
      decide_simple({.argv = argv,
                     .globs = globs,
                     .place = part.place,
                     .upstream = reads_pipe ? part.upstream : part.upstream.first(0)});
  // The class read-only runs git for the one repository around the workspace, wherever it is called.
  const bool free_git = part.behind_cd && calls_git(command.words) &&
                        decision.effect == Effect::allow &&
                        !is_allowed(decision, Decision::Allowed::as_reading);
  if (!free_git) return decision;
  denied.reason =
      "only git commands that read are allowed after cd, because another repository may configure "
      "programs of its own";
  denied.instead = "pass workdir instead of cd";
  return denied;
}

/// A file that is read by a redirection has to be one that may be read.
std::optional<Decision> Engine::refused_input_file(const SimpleCommand& command,
                                                   const CommandPlace& place) const {
  for (const ScriptRedirection& redirection : command.redirections) {
    if (redirection.kind != ScriptRedirection::Kind::input) continue;
    const std::string file = folder_behind(place.workdir.string(), redirection.file);
    if (file == "/dev/null") continue;
    Decision denied{.effect = Effect::deny,
                    .part = "<" + one_line(redirection.file, kLongestPart),
                    .instead = instead_,
                    .command = {command.words[0].text}};
    for (std::size_t i = 1; i < command.words.size(); ++i)
      denied.command.push_back(shown_word(command.words[i].text));
    if (word_reaches_kernel_folder(redirection.file, place.workdir.string())) {
      denied.reason = "it may lead into /proc, /sys or /dev";
      return denied;
    }
    const Decision read = paths_.decide_read(file);
    if (read.effect == Effect::allow) continue;
    denied.reason = read.reason;
    return denied;
  }
  return std::nullopt;
}

}  // namespace sortie

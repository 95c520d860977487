// How the engine decides a shell string: each of its simple commands by itself, in every folder in
// which it may run.
#include <algorithm>
#include <array>

#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/script_folders.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr const char* kReadable =
    "send a script of plain commands joined by && || ; or |, with words literal or in quotes, or "
    "one command as a direct argv";

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

/// The commands from `first` on that a pipeline joins.
std::span<const SimpleCommand> pipeline_at(std::span<const SimpleCommand> commands,
                                           std::size_t first) {
  std::size_t end = first + 1;
  while (end < commands.size() && commands[end].link == ScriptLink::pipe) ++end;
  return commands.subspan(first, end - first);
}

}  // namespace

Decision Engine::unreadable(const ScriptRefusal& refusal) const {
  const std::string line =
      refusal.line > 1 ? "line " + std::to_string(refusal.line) + ", " : std::string();
  return {.effect = Effect::deny,
          .part = refusal.part,
          .reason = "the script can't be checked at " + line + "column " +
                    std::to_string(refusal.column) + ": " + refusal.reason,
          .instead = kReadable};
}

Decision Engine::decide_script(const ScriptReading& reading, const CommandPlace& place,
                               const std::string& line) const {
  Decision worst{.effect = Effect::allow, .part = line};
  const std::span<const SimpleCommand> commands = reading.commands;
  ScriptFolders folders(folder_behind(place.workdir.string(), "."));
  bool behind_cd = false;
  for (std::size_t at = 0; at < commands.size();) {
    const auto pipeline = pipeline_at(commands, at);
    const std::vector<std::string> current = folders.run(pipeline);
    if (folders.too_many()) {
      return {
          .effect = Effect::deny, .part = line, .reason = "the script changes folders too often"};
    }
    for (const SimpleCommand& command : pipeline) {
      ++at;
      for (const std::string& folder : current) {
        PartPlace part{.place = place, .behind_cd = behind_cd, .alone = commands.size() == 1};
        part.place.workdir = folder;
        Decision decision = decide_part(command, part);
        if (worst.rule.line == 0 && worst.effect == Effect::allow) worst.rule = decision.rule;
        if (worst.reason.empty()) worst.reason = decision.reason;
        if (rank(decision) <= rank(worst)) continue;
        worst = std::move(decision);
        if (commands.size() == 1) continue;
        worst.reason += " (command " + std::to_string(at) + " of the script";
        if (current.size() > 1) worst.reason += ", run in " + one_line(folder, kLongestPart);
        worst.reason += ')';
      }
      behind_cd = behind_cd || command.words[0].text == "cd";
    }
  }
  if (worst.effect == Effect::allow && commands.size() > 1) {
    worst.reason = "each of its " + std::to_string(commands.size()) + " commands is allowed";
  }
  return worst;
}

Decision Engine::decide_part(const SimpleCommand& command, const PartPlace& part) const {
  const CommandPlace& place = part.place;
  std::vector<std::string> argv;
  std::vector<std::size_t> globs;
  for (const ScriptWord& word : command.words) {
    if (word.glob) globs.push_back(argv.size());
    argv.push_back(word.text);
  }
  Decision denied{.effect = Effect::deny, .part = argv[0], .instead = instead_, .command = argv};
  if (std::string reason = why_changes_shell(command.words); !reason.empty()) {
    denied.reason = reason;
    return denied;
  }
  if (part.behind_cd && calls_git(command.words)) {
    denied.reason =
        "git is not allowed after cd, because another repository may configure programs of its "
        "own: pass workdir instead";
    return denied;
  }
  for (const ScriptRedirection& redirection : command.redirections) {
    if (redirection.kind != ScriptRedirection::Kind::input) continue;
    denied.part = "<" + one_line(redirection.file, kLongestPart);
    const std::string file = folder_behind(place.workdir.string(), redirection.file);
    if (file == "/dev/null") continue;
    if (word_reaches_kernel_folder(redirection.file, place.workdir.string())) {
      denied.reason = "it may lead into /proc, /sys or /dev";
      return denied;
    }
    const Decision read = paths_.decide_read(file);
    if (read.effect == Effect::allow) continue;
    denied.reason = read.reason;
    return denied;
  }
  return decide_simple({.argv = argv, .globs = globs, .place = place, .alone = part.alone});
}

}  // namespace sortie

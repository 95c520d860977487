#include "policies/review/learn.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/json/flow_yaml.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "policies/review/rule_line.h"

namespace sortie {
namespace {

using WordList = std::vector<std::string>;

constexpr std::size_t kMaxWords = 32;
constexpr std::size_t kMaxExamples = 3;
constexpr std::size_t kMaxRefused = 200;

/// How often something was called, and in which runs.
struct Seen {
  int calls = 0;
  std::set<std::size_t> runs;
  std::set<WordList> examples;

  void add(std::size_t run) {
    ++calls;
    runs.insert(run);
  }
  void add(const Seen& other) {
    calls += other.calls;
    runs.insert(other.runs.begin(), other.runs.end());
    examples.insert(other.examples.begin(), other.examples.end());
  }
  std::string text(const char* noun = "call") const {
    return std::to_string(calls) + " " + noun + (calls == 1 ? " in " : "s in ") +
           std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs");
  }
};

bool is_prefix(const WordList& prefix, const WordList& words) {
  return prefix.size() <= words.size() && std::equal(prefix.begin(), prefix.end(), words.begin());
}

/// One rule to write: the last place may have alternatives.
struct Group {
  WordList first;  ///< all places but the last
  std::set<std::string> last;
  Seen seen;

  Json allow() const {
    Json places = Json::strings(first);
    if (last.size() == 1)
      places.push_back(*last.begin());
    else
      places.push_back(Json::strings({last.begin(), last.end()}));
    return places;
  }
};

/// The PATH for decisions on recorded calls: the machine's PATH is not recorded.
const std::vector<std::filesystem::path> kUsualFolders = {
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

class Learner {
 public:
  void add(const RecordedRun& run) {
    const Engine engine(strict_, Approval::deny_by_default, run.workspace, run.out, kUsualFolders,
                        {run.task});
    ++runs_;
    for (const RecordedCall& call : run.calls) {
      ++calls_;
      add(call, engine);
    }
    for (const DeniedConnection& one : run.denied_connections) {
      if (one.entry.empty() || !can_be_written({one.entry}))
        refuse("a connection to " + one.place, one.reason);
      else
        hosts_[one.entry].add(runs_);
    }
  }

  std::string text() const {
    return header() + commands_text() + tools_text() + paths_text() + network_text() +
           refused_text();
  }

 private:
  void add(const RecordedCall& call, const Engine& engine) {
    if (call.refused) {
      refuse(shown(call), call.reason);
      return;
    }
    for (const Action& action : call.actions) {
      const Decision decision = engine.decide(action);
      if (decision.effect == Effect::allow) continue;
      const auto* command = std::get_if<RunCommand>(&action);
      if (command != nullptr && command->input) {
        refuse("typed into " + shown(action), decision.reason);
      } else if (command != nullptr) {
        add_command(*command, decision, engine);
      } else if (!decision.unmatched) {
        refuse(shown(action), decision.reason);
      } else if (const auto* tool = std::get_if<CallTool>(&action)) {
        add_tool(*tool, engine);
      } else {
        add_path(action, engine);
      }
    }
  }

  void add_command(const RunCommand& command, const Decision& decision, const Engine& engine) {
    const auto script = script_commands(command, engine);
    if (!script) {
      if (decision.unmatched)
        add_argv(command.argv);
      else
        refuse(joined(command.argv, " "), decision.reason);
      return;
    }
    bool lacks_rules = false;
    for (const WordList& argv : script->commands) {
      const Decision alone = engine.decide(RunCommand{.argv = argv, .workdir = command.workdir});
      if (alone.effect == Effect::allow || argv.front() == "cd") continue;
      lacks_rules = true;
      if (alone.unmatched)
        add_argv(argv);
      else
        refuse(joined(argv, " "), alone.reason);
    }
    // Each command is allowed, but not all together.
    if (!lacks_rules) refuse(joined(command.argv, " "), decision.reason);
  }

  void add_argv(const WordList& argv) {
    const auto key = command_key(argv);
    if (!key) {
      refuse(joined(argv, " "), "no rule should allow it: its words don't show what it runs");
    } else if (key->words.size() > kMaxWords || !can_be_written(key->words)) {
      refuse(joined(argv, " "), "too long, or contains characters that a policy file can't");
    } else {
      Seen& seen = commands_[key->words];
      seen.add(runs_);
      if (can_be_written(argv) && argv.size() <= kMaxWords) seen.examples.insert(argv);
    }
  }

  void add_tool(const CallTool& tool, const Engine& engine) {
    if (lines_that_allow({tool}, engine).is_null())
      refuse(tool.name, "its name can't be written in a rule");
    else
      tools_[tool.name].add(runs_);
  }

  void add_path(const Action& action, const Engine& engine) {
    const Json lines = lines_that_allow({action}, engine);
    if (lines.is_null()) {
      refuse(shown(action), "its name can't be written in a rule");
      return;
    }
    for (const auto& [list, paths] : lines["paths"].members())
      paths_[list][paths.items().back().text()].add(runs_);
  }

  void refuse(const std::string& what, const std::string& why) {
    ++refused_[one_line(what, 200) + ": " + one_line(why, 200)];
  }

  static std::string shown(const Action& action) {
    if (const auto* command = std::get_if<RunCommand>(&action)) return joined(command->argv, " ");
    if (const auto* read = std::get_if<ReadPath>(&action)) return "read " + read->path.string();
    if (const auto* write = std::get_if<WritePath>(&action)) return "write " + write->path.string();
    return std::get<CallTool>(action).name;
  }

  static std::string shown(const RecordedCall& call) {
    return call.actions.empty() ? call.tool : shown(call.actions.back());
  }

  /// Rules that no other one covers; those that differ only in their last word are merged.
  std::vector<Group> groups() const {
    std::map<WordList, Seen> kept;
    for (const auto& [words, seen] : commands_) {
      const auto shorter =
          std::find_if(kept.begin(), kept.end(),
                       [&words = words](const auto& each) { return is_prefix(each.first, words); });
      (shorter == kept.end() ? kept[words] : shorter->second).add(seen);
    }
    std::map<WordList, Group> groups;
    for (const auto& [words, seen] : kept) {
      // A single name is a rule of its own.
      const WordList first(words.begin(), words.end() - 1);
      Group& group = groups[first.empty() ? WordList{"", words.back()} : first];
      group.first = first;
      group.last.insert(words.back());
      group.seen.add(seen);
    }
    std::vector<Group> list;
    for (auto& [words, group] : groups) list.push_back(std::move(group));
    std::sort(list.begin(), list.end(), [](const Group& a, const Group& b) {
      return std::tie(a.first, a.last) < std::tie(b.first, b.last);
    });
    return list;
  }

  std::string header() const {
    return "# Learned by sortie from " + std::to_string(calls_) +
           (calls_ == 1 ? " call of " : " calls of ") + std::to_string(runs_) +
           (runs_ == 1 ? " run" : " runs") +
           ". It allows what those runs did: read each rule\n# before you use it, and test it with "
           "`sortie policy backtest`.\nversion: 1\nname: learned\nextends: strict\n";
  }

  std::string commands_text() const {
    std::string text;
    for (const Group& group : groups()) {
      Json examples = Json::array();
      for (const WordList& argv : group.seen.examples)
        if (examples.items().size() < kMaxExamples) examples.push_back(Json::strings(argv));
      text += "  - allow: " + flow_yaml(group.allow()) + "\n    why: " + group.seen.text() + "\n";
      if (!examples.items().empty()) text += "    examples: {match: " + flow_yaml(examples) + "}\n";
    }
    return text.empty() ? "" : "commands:\n" + text;
  }

  std::string tools_text() const {
    std::string text;
    for (const auto& [name, seen] : tools_)
      text += "  - allow: " + flow_yaml(Json::array({name})) + "\n    why: " + seen.text() + "\n";
    return text.empty() ? "" : "tools:\n" + text;
  }

  std::string paths_text() const {
    std::string text;
    for (const auto& [list, paths] : paths_) {
      text += "  " + list + ":\n";
      const auto& held = list == "write" ? strict_.write : strict_.read;
      for (const std::string& path : held) text += "    - " + flow_yaml(path) + "\n";
      for (const auto& [path, seen] : paths)
        text += "    - " + flow_yaml(path) + "  # " + seen.text() + "\n";
    }
    return text.empty() ? "" : "paths:\n" + text;
  }

  std::string network_text() const {
    std::string text;
    for (const auto& [entry, seen] : hosts_)
      text += "    - " + flow_yaml(entry) + "  # " + seen.text("connection") + "\n";
    return text.empty() ? "" : "network:\n  mode: allow-list\n  allow:\n" + text;
  }

  std::string refused_text() const {
    std::string text;
    std::size_t count = 0;
    for (const auto& [what, times] : refused_) {
      if (++count > kMaxRefused) break;
      text += "#   " + what + (times > 1 ? " (" + std::to_string(times) + " times)" : "") + "\n";
    }
    if (refused_.size() > kMaxRefused)
      text += "#   and " + std::to_string(refused_.size() - kMaxRefused) + " more\n";
    return text.empty() ? "" : "# Not learned, each with the reason:\n" + text;
  }

  Policy strict_ = load_policy("strict");
  std::size_t runs_ = 0;
  int calls_ = 0;
  std::map<WordList, Seen> commands_;
  std::map<std::string, Seen> tools_;
  std::map<std::string, std::map<std::string, Seen>> paths_;  ///< by list, "read" and "write"
  std::map<std::string, Seen> hosts_;                         ///< by entry
  std::map<std::string, int> refused_;
};

std::string place_text(const RulePlace& rule) {
  if (rule.line == 0) return "no rule";
  return rule.file + ":" + std::to_string(rule.line) + ": " + one_line(rule.text, 120);
}

std::string shown(const RecordedCall& call) {
  std::string text;
  for (const Action& action : call.actions) {
    std::string one;
    if (const auto* command = std::get_if<RunCommand>(&action))
      one = joined(command->argv, " ");
    else if (const auto* read = std::get_if<ReadPath>(&action))
      one = read->path.string();
    else if (const auto* write = std::get_if<WritePath>(&action))
      one = write->path.string();
    if (!one.empty()) text += (text.empty() ? "" : ", ") + one;
  }
  return one_line(call.tool + (text.empty() ? "" : " " + text), 200);
}

Decision decide(const RecordedCall& call, const Engine& engine) {
  std::vector<Decision> decisions;
  for (const Action& action : call.actions) decisions.push_back(engine.decide(action));
  const Decision& strict = strictest(decisions);
  // The last action says best what the call is about; that of the tool comes first.
  return strict.effect == Effect::allow && !strict.audited && !decisions.empty() ? decisions.back()
                                                                                 : strict;
}

std::string count_text(int count, const char* what) { return std::to_string(count) + " " + what; }

}  // namespace

std::string learned_policy(const std::vector<RecordedRun>& runs) {
  Learner learner;
  for (const RecordedRun& run : runs) learner.add(run);
  return learner.text();
}

Backtest backtest(const Policy& policy, const std::vector<RecordedRun>& runs) {
  Backtest result;
  for (const RecordedRun& run : runs) {
    const Engine engine(policy, policy.approval, run.workspace, run.out, kUsualFolders, {run.task});
    ++result.runs;
    for (const RecordedCall& call : run.calls) {
      ++result.calls;
      Backtest::Change change{.run = run.name, .call = &call, .now = decide(call, engine)};
      if (change.now.effect == call.effect) continue;
      const bool was_allowed = call.effect == Effect::allow;
      const bool is_allowed = change.now.effect == Effect::allow;
      change.asks = was_allowed && change.now.unmatched && policy.approver.has_value() &&
                    policy.approval == Approval::deny_by_default;
      ++(is_allowed     ? result.newly_allowed
         : !was_allowed ? result.otherwise
         : change.asks  ? result.newly_asked
                        : result.newly_denied);
      result.changes.push_back(std::move(change));
    }
  }
  return result;
}

std::string Backtest::text() const {
  std::string text;
  for (const Change& change : changes) {
    const RecordedCall& call = *change.call;
    text += change.run + ": turn " + std::to_string(call.turn) + ": " + shown(call) + "\n";
    text += "  then: " + std::string(name_of(call.effect)) + (call.audited ? " (audit)" : "") +
            ", " + place_text(call.rule) + ": " + one_line(call.reason) + "\n";
    text +=
        "  now:  " + (change.asks ? std::string("asks the approver") : name_of(change.now.effect)) +
        ", " + place_text(change.now.rule) + ": " + one_line(change.now.reason) + "\n";
  }
  const int same = calls - static_cast<int>(changes.size());
  text += count_text(calls, calls == 1 ? "call in " : "calls in ") +
          count_text(runs, runs == 1 ? "run: " : "runs: ") + count_text(same, "as before, ") +
          count_text(newly_allowed, "newly allowed, ") + count_text(newly_denied, "newly denied");
  if (newly_asked > 0) text += ", " + count_text(newly_asked, "to be asked about");
  if (otherwise > 0) text += ", " + count_text(otherwise, "denied otherwise");
  return text + "\n";
}

}  // namespace sortie

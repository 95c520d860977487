#include "policies/review/backtest.h"

#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"

namespace sortie {
namespace {

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

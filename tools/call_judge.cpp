#include "tools/call_judge.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/review/audit_flags.h"
#include "policies/review/rule_key.h"
#include "policies/review/rule_line.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using Verdict = ApproverAnswer::Verdict;

Json array_of(const std::vector<std::string>& words) {
  Json array = Json::array();
  for (const auto& word : words) array.push_back(word);
  return array;
}

Json array_of(const std::vector<Action>& actions, const Engine& engine) {
  Json array = Json::array();
  for (const auto& action : actions) array.push_back(to_json(action, engine));
  return array;
}

/// The commands of a script, each an argv as the strict reader lists it.
Json commands_json(const ScriptReading& reading) {
  Json commands = Json::array();
  for (const SimpleCommand& command : reading.commands) {
    Json argv = Json::array();
    for (const ScriptWord& word : command.words) argv.push_back(word.text);
    commands.push_back(std::move(argv));
  }
  return commands;
}

/// The name of the decision that strict rules would have made of what audit let run.
std::string strict_decision(const Decision& decision) {
  return decision.rule.text.starts_with("forbid") ? "forbid" : "deny";
}

std::string words_of(const ApproverAnswer& answer) {
  if (!answer.failure.empty())
    return "the approver was asked and gave no valid answer: " + answer.failure;
  const std::string said = answer.reason.empty() ? "" : ": " + answer.reason;
  switch (answer.verdict) {
    case Verdict::allow:
    case Verdict::always:
      return "the approver allowed it" + said;
    case Verdict::deny:
      return "the approver denied it" + said;
    case Verdict::abort:
      return "the approver ended the run" + said;
  }
  return "";
}

}  // namespace

/// The actions of a call with the decision on each.
struct CallJudge::Verdicts {
  std::vector<Action> actions;
  std::vector<Decision> decisions;

  /// Those that no rule allows.
  std::vector<Action> unmatched() const {
    std::vector<Action> list;
    for (std::size_t i = 0; i < decisions.size(); ++i)
      if (lacks_rule(decisions[i])) list.push_back(actions[i]);
    return list;
  }
  /// Whether nothing but rules is lacking.
  bool only_unmatched() const {
    return std::all_of(decisions.begin(), decisions.end(), [](const Decision& each) {
      return (each.effect == Effect::allow && !each.audited) || lacks_rule(each);
    });
  }
  static bool lacks_rule(const Decision& decision) {
    return decision.unmatched && (decision.effect == Effect::deny || decision.audited);
  }
};

Json to_json(const Action& action, const Engine& engine) {
  struct Visitor {
    const Engine& engine;
    Json operator()(const RunCommand& command) const {
      Json json = Json::object({{"kind", "run_command"},
                                {"argv", array_of(command.argv)},
                                {"workdir", command.workdir.string()}});
      const auto reading = engine.read(command);
      if (reading && !reading->refused) json.set("commands", commands_json(*reading));
      if (reading && reading->refused) json.set("unreadable", reading->refusal.reason);
      if (command.input) json.set("input", *command.input);
      return json;
    }
    Json operator()(const ReadPath& read) const {
      return Json::object({{"kind", "read_path"}, {"path", read.path.string()}});
    }
    Json operator()(const WritePath& write) const {
      return Json::object({{"kind", "write_path"}, {"path", write.path.string()}});
    }
    Json operator()(const CallTool& call) const {
      Json json = Json::object({{"kind", "call_tool"}, {"name", call.name}});
      if (!call.other_names.empty()) json.set("other_names", array_of(call.other_names));
      return json;
    }
  };
  return std::visit(Visitor{engine}, action);
}

CallJudge::Verdicts CallJudge::decide(const Tool& tool, const ToolCall& call,
                                      const Json& arguments) const {
  Verdicts verdicts;
  const CallTool identity = tool.identity();
  verdicts.actions = {identity};
  verdicts.decisions = {engine_.decide(identity)};
  if (verdicts.decisions.front().effect == Effect::allow)
    if (auto refused = engine_.refused_beside(identity))
      verdicts.decisions.front() = std::move(*refused);
  const bool tool_allowed = verdicts.decisions.front().effect == Effect::allow;
  try {
    for (auto& action : tool.actions(arguments)) {
      verdicts.decisions.push_back(engine_.decide(action));
      verdicts.actions.push_back(std::move(action));
    }
  } catch (const ToolError&) {
    if (tool_allowed) throw;  // else the tool's own denial stands
  } catch (const std::exception& error) {
    verdicts.actions.resize(1);
    verdicts.decisions = {{.effect = Effect::deny,
                           .part = call.name,
                           .reason = std::string("it could not be decided: ") + error.what()}};
  }
  return verdicts;
}

CallJudgement CallJudge::judge(const Tool& tool, const ToolCall& call, const Json& arguments,
                               int turn, std::stop_token stop) {
  Verdicts verdicts = decide(tool, call, arguments);
  CallJudgement judgement;
  judgement.decision = strictest(verdicts.decisions);
  // Of an allowed call the tool's own decision stands first; the rule that let its command through
  // says more, and what a command was granted says most.
  if (judgement.decision.effect == Effect::allow && !judgement.decision.audited) {
    for (const Decision& each : verdicts.decisions)
      if (each.rule.line > 0 && !judgement.decision.escalation) judgement.decision = each;
    for (const Decision& each : verdicts.decisions)
      if (each.escalation) judgement.decision = each;
  }
  judgement.flags = sortie::to_json(audit_flags(verdicts.actions, arguments, engine_.workspace()));

  Json lines;
  if (!verdicts.unmatched().empty() && verdicts.only_unmatched())
    lines = lines_that_allow(verdicts.unmatched(), engine_);
  Json approver;
  if (options_.approver != nullptr && engine_.approval() == Approval::deny_by_default &&
      judgement.decision.effect == Effect::deny && verdicts.only_unmatched()) {
    judgement.record.set("would_allow", lines);
    ask(verdicts, call, arguments, turn, std::move(stop), judgement);
    approver = judgement.record["approver"];
  }
  judgement.record = sortie::to_json(judgement.decision);
  if (judgement.decision.audited)
    judgement.record.set("strict", strict_decision(judgement.decision));
  if (!approver.is_null()) judgement.record.set("approver", std::move(approver));
  if (lines.is_object()) {
    judgement.record.set("would_allow_yaml", rule_lines_yaml(lines));
    judgement.record.set("would_allow", std::move(lines));
  }
  judgement.actions = std::move(verdicts.actions);
  return judgement;
}

void CallJudge::ask(const Verdicts& verdicts, const ToolCall& call, const Json& arguments, int turn,
                    std::stop_token stop, CallJudgement& judgement) {
  std::vector<Json> keys;
  for (const Action& action : verdicts.unmatched()) {
    // Paths are what the sandbox was made of at the start: no answer could change them now.
    const bool path =
        std::holds_alternative<ReadPath>(action) || std::holds_alternative<WritePath>(action);
    if (path) return;
    for (Json& key : approval_keys(action, engine_)) keys.push_back(std::move(key));
  }
  const bool covered = std::all_of(keys.begin(), keys.end(), [this](const Json& key) {
    return always_.count(write_json(key)) != 0;
  });
  Decision& decision = judgement.decision;
  if (covered) {
    judgement.record.set("approver", Json::object({{"decision", "always"}, {"remembered", true}}));
    decision.effect = Effect::allow;
    decision.reason = "the approver allowed it for the whole run";
    decision.instead.clear();
    return;
  }
  const Json asked = request(verdicts, call, arguments, turn, judgement, keys);
  const milliseconds left =
      options_.time_left ? options_.time_left() : milliseconds(std::chrono::hours(24));
  const ApproverAnswer answer = options_.approver->ask(asked, left, std::move(stop));
  judgement.record.set("approver", sortie::to_json(answer));
  if (answer.verdict == Verdict::always)
    for (const Json& key : keys) always_.insert(write_json(key));
  decision.reason = words_of(answer);
  if (answer.verdict == Verdict::allow || answer.verdict == Verdict::always) {
    decision.effect = Effect::allow;
    decision.instead.clear();
  } else if (answer.verdict == Verdict::abort) {
    decision.effect = Effect::forbid;
    judgement.abort = true;
  }
}

Json CallJudge::request(const Verdicts& verdicts, const ToolCall& call, const Json& arguments,
                        int turn, const CallJudgement& judgement,
                        const std::vector<Json>& keys) const {
  Json always = Json::array();
  for (const Json& key : keys) always.push_back(key);
  return Json::object(
      {{"version", 1},
       {"run_id", options_.run_id},
       {"policy", engine_.policy().name},
       {"turn", turn},
       {"call",
        Json::object({{"id", call.call_id}, {"tool", call.name}, {"arguments", arguments}})},
       {"workspace", engine_.workspace().string()},
       {"actions", array_of(verdicts.actions, engine_)},
       {"unmatched", array_of(verdicts.unmatched(), engine_)},
       {"reason", judgement.decision.reason},
       {"audit_flags", judgement.flags},
       {"always", std::move(always)},
       {"would_allow", judgement.record["would_allow"]}});
}

}  // namespace sortie

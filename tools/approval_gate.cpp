#include "tools/approval_gate.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/json/flow_yaml.h"
#include "core/text/text.h"
#include "policies/review/audit_flags.h"
#include "policies/review/rule_line.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;
using Verdict = ApproverAnswer::Verdict;

Json array_of(const std::vector<Action>& actions, const Engine& engine) {
  Json array = Json::array();
  for (const auto& action : actions) array.push_back(to_json(action, engine));
  return array;
}

/// The commands of a script as the strict reader lists them, each as an argv.
Json commands_json(const ScriptReading& reading) {
  Json commands = Json::array();
  for (const SimpleCommand& command : reading.commands) {
    Json argv = Json::array();
    for (const ScriptWord& word : command.words) argv.push_back(word.text);
    commands.push_back(std::move(argv));
  }
  return commands;
}

Effect effect_of(Verdict verdict) {
  if (verdict == Verdict::abort) return Effect::forbid;
  return verdict == Verdict::deny ? Effect::deny : Effect::allow;
}

std::string reason_of(const ApproverAnswer& answer) {
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
struct ApprovalGate::Parts {
  std::vector<Action> actions;
  std::vector<Decision> decisions;

  /// The actions that no rule allows.
  std::vector<Action> unmatched() const {
    std::vector<Action> list;
    for (std::size_t i = 0; i < decisions.size(); ++i)
      if (lacks_rule(decisions[i])) list.push_back(actions[i]);
    return list;
  }
  /// Whether the call is only denied because no rule matched.
  bool only_unmatched() const {
    return std::all_of(decisions.begin(), decisions.end(), [](const Decision& each) {
      return (each.effect == Effect::allow && !each.audited) || lacks_rule(each);
    });
  }
  /// The decision on the whole call. When it is allowed, a rule that allowed a command says more
  /// than the decision on the tool, and an escalation says most.
  Decision decision() const {
    Decision decision = strictest(decisions);
    if (decision.effect != Effect::allow || decision.audited) return decision;
    for (const Decision& each : decisions)
      if (each.rule.line > 0 && !decision.escalation) decision = each;
    for (const Decision& each : decisions)
      if (each.escalation) decision = each;
    return decision;
  }

 private:
  static bool lacks_rule(const Decision& decision) {
    return decision.unmatched && (decision.effect == Effect::deny || decision.audited);
  }
};

/// What the approver is asked about.
struct ApprovalGate::Question {
  const ToolCall& call;
  const Json& arguments;
  int turn;
  const Parts& parts;
  const std::string& reason;  ///< why it was denied
  const Json& flags;
  const Json& would_allow;
};

struct ApprovalGate::Answer {
  Json record;
  Effect effect;
  std::string reason;
};

Json to_json(const Action& action, const Engine& engine) {
  struct Visitor {
    const Engine& engine;
    Json operator()(const RunCommand& command) const {
      Json json = Json::object({{"kind", "run_command"},
                                {"argv", Json::strings(command.argv)},
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
      if (!call.other_names.empty()) json.set("other_names", Json::strings(call.other_names));
      return json;
    }
  };
  return std::visit(Visitor{engine}, action);
}

ApprovalGate::Parts ApprovalGate::split(const Tool& tool, const ToolCall& call,
                                        const Json& arguments) const {
  Parts parts;
  const CallTool identity = tool.identity();
  parts.actions = {identity};
  parts.decisions = {engine_.decide(identity)};
  if (parts.decisions.front().effect == Effect::allow)
    if (auto refused = engine_.refused_beside(identity))
      parts.decisions.front() = std::move(*refused);
  const bool tool_allowed = parts.decisions.front().effect == Effect::allow;
  try {
    for (auto& action : tool.actions(arguments)) {
      parts.decisions.push_back(engine_.decide(action));
      parts.actions.push_back(std::move(action));
    }
  } catch (const ToolError&) {
    if (tool_allowed) throw;  // otherwise the denial of the tool is the answer
  } catch (const std::exception& error) {
    parts.actions.resize(1);
    parts.decisions = {{.effect = Effect::deny,
                        .part = call.name,
                        .reason = std::string("it could not be decided: ") + error.what()}};
  }
  return parts;
}

CallDecision ApprovalGate::decide(const Tool& tool, const ToolCall& call, const Json& arguments,
                                  int turn, std::stop_token stop) {
  Parts parts = split(tool, call, arguments);
  Decision decision = parts.decision();
  Json flags = sortie::to_json(audit_flags(parts.actions, arguments, engine_.workspace()));
  Json would_allow;
  if (parts.only_unmatched() && !parts.unmatched().empty())
    would_allow = lines_that_allow(parts.unmatched(), engine_);

  std::optional<Answer> answer;
  if (decision.effect == Effect::deny && parts.only_unmatched())
    answer =
        ask({call, arguments, turn, parts, decision.reason, flags, would_allow}, std::move(stop));
  if (answer) {
    decision.effect = answer->effect;
    decision.reason = std::move(answer->reason);
    if (decision.effect == Effect::allow) decision.instead.clear();
  }
  Json record = sortie::to_json(decision);
  if (decision.audited) record.set("strict", name_of(*decision.audited));
  if (answer) record.set("approver", std::move(answer->record));
  if (would_allow.is_object()) {
    record.set("would_allow_yaml", flow_yaml_lines(would_allow));
    record.set("would_allow", std::move(would_allow));
  }
  return {std::move(parts.actions), std::move(decision), std::move(record), std::move(flags)};
}

std::optional<ApprovalGate::Answer> ApprovalGate::ask(const Question& question,
                                                      std::stop_token stop) {
  if (options_.approver == nullptr || engine_.approval() != Approval::deny_by_default) return {};
  std::vector<Json> keys;
  for (const Action& action : question.parts.unmatched()) {
    // The sandbox was built from the paths at the start: no answer could change them now.
    const bool path =
        std::holds_alternative<ReadPath>(action) || std::holds_alternative<WritePath>(action);
    if (path) return {};
    for (Json& key : approval_keys(action, engine_)) keys.push_back(std::move(key));
  }
  const bool remembered = std::all_of(keys.begin(), keys.end(), [this](const Json& key) {
    return always_.count(write_json(key)) != 0;
  });
  if (remembered)
    return Answer{Json::object({{"decision", "always"}, {"remembered", true}}), Effect::allow,
                  "the approver allowed it for the whole run"};
  const milliseconds left =
      options_.time_left ? options_.time_left() : milliseconds(std::chrono::hours(24));
  const ApproverAnswer answer =
      options_.approver->ask(request(question, keys), left, std::move(stop));
  if (answer.verdict == Verdict::always)
    for (const Json& key : keys) always_.insert(write_json(key));
  return Answer{sortie::to_json(answer), effect_of(answer.verdict), reason_of(answer)};
}

Json ApprovalGate::request(const Question& question, const std::vector<Json>& keys) const {
  Json always = Json::array();
  for (const Json& key : keys) always.push_back(key);
  return Json::object({{"version", 1},
                       {"run_id", options_.run_id},
                       {"policy", engine_.policy().name},
                       {"turn", question.turn},
                       {"call", Json::object({{"id", question.call.call_id},
                                              {"tool", question.call.name},
                                              {"arguments", question.arguments}})},
                       {"workspace", engine_.workspace().string()},
                       {"actions", array_of(question.parts.actions, engine_)},
                       {"unmatched", array_of(question.parts.unmatched(), engine_)},
                       {"reason", question.reason},
                       {"audit_flags", question.flags},
                       {"always", std::move(always)},
                       {"would_allow", question.would_allow}});
}

}  // namespace sortie

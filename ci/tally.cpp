#include "ci/tally.h"

#include <algorithm>

#include "core/agent/recorded_usage.h"
#include "core/agent/server_trouble.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostDenials = 200;
constexpr std::size_t kActionBytes = 60;

milliseconds duration_of(const Json& object) {
  return milliseconds(object.integer_at("duration_ms"));
}

/// An amount in USD as Cost::exact() writes it; nothing for null.
std::optional<Cost> cost_of(const Json& usd) {
  const auto amount = usd.real();
  return amount ? std::optional(Cost::usd(*amount)) : std::nullopt;
}

Json cost_json(const std::optional<Cost>& cost) {
  return cost ? Json::number(cost->exact()) : Json();
}

std::string joined(const Json& argv) {
  std::string line;
  for (const Json& word : argv.items()) line += (line.empty() ? "" : " ") + word.text();
  return line;
}

/// Adds it to the others, or counts it where it is there already.
void add(Denial denial, std::vector<Denial>& denials) {
  for (Denial& each : denials) {
    if (!each.is_same(denial)) continue;
    ++each.count;
    return;
  }
  if (denials.size() < kMostDenials) denials.push_back(std::move(denial));
}

/// The command that an approval is about, or "".
std::string command_of(const Json& actions) {
  for (const Json& action : actions.items()) {
    if (action["argv"].is_array()) return joined(action["argv"]);
    for (const auto& member : action.members())
      if (member.second["argv"].is_array()) return joined(member.second["argv"]);
  }
  return {};
}

std::string action_text(const std::string& command, const Json& exit) {
  const std::string ending = exit.string_at("ending");
  return "'" + one_line(command, kActionBytes) + "' " +
         (ending == "exited"      ? "exit " + exit["code"].text()
          : ending == "signalled" ? "signal " + exit["code"].text()
                                  : ending);
}

}  // namespace

bool Denial::is_same(const Denial& other) const {
  return tool == other.tool && effect == other.effect && reason == other.reason &&
         part == other.part && rule == other.rule && actions == other.actions;
}

/// Adds the record's tokens and cost to those of the model.
void Tally::pay(const std::string& model, const Json& data) {
  const Usage one = recorded_usage(data["tokens"]);
  usage += one;
  usage_by_model[model] += one;
  auto& cost = cost_by_model.try_emplace(model, Cost()).first->second;
  const auto added = cost_of(data["cost_usd"]);
  cost = cost && added ? std::optional(*cost + *added) : std::nullopt;
}

void Tally::on(const RunEvent& event) {
  const Json& data = event.data;
  if (event.type == "turn.started") {
    ++turns;
  } else if (event.type == "model.retry") {
    ++retries;
  } else if (event.type == "model.cut_off") {
    const std::string asked = data.string_at("model");
    const auto known = served_as_.find(asked);
    pay(known == served_as_.end() ? asked.substr(asked.find(' ') + 1) : known->second, data);
  } else if (event.type == "model.response") {
    served_model = data.string_at("served_model");
    served_as_[data.string_at("model")] = served_model;
    pay(served_model, data);
    model_time += duration_of(data);
  } else if (event.type == "approval") {
    on_approval(data);
  } else if (event.type == "tool.call") {
    ++tool_calls;
  } else if (event.type == "tool.output") {
    tools_time += duration_of(data);
    const auto command = commands_.extract(data.string_at("call_id"));
    if (data["exit"].is_object())
      last_action = action_text(
          command && !command.mapped().empty() ? command.mapped() : data.string_at("tool"),
          data["exit"]);
  } else if (event.type == "mcp.server") {
    if (auto trouble = server_trouble(data); !trouble.empty())
      server_troubles_.push_back(one_line(trouble));
  } else if (event.type == "check.hit") {
    CheckCount& count = checks[data.string_at("check")];
    if (++count.hits == 1) count.first = one_line(data.string_at("saw"));
    count.sent += data["sent"].is_string() ? 1 : 0;
  } else if (event.type == "network.connection") {
    const std::string state = data.string_at("state");
    connections += state == "opened" ? 1 : 0;
    denied_connections += state == "denied" ? 1 : 0;
  } else if (event.type == "verification.completed") {
    // What the model asked for is in the time of its tool call.
    if (data.string_at("phase") != "run_tests") verification_time += duration_of(data["exit"]);
    last_action = action_text(data.string_at("command"), data["exit"]);
  }
}

void Tally::on_approval(const Json& data) {
  commands_[data.string_at("call_id")] = command_of(data["actions"]);
  const std::string effect = data.string_at("decision");
  const bool was_audited = data["audited"].boolean();
  if (effect == "allow" && !was_audited) return;
  ++(was_audited ? audited_count : denial_count);
  add({data.string_at("tool"), data["actions"], was_audited ? data.string_at("strict") : effect,
       data["rule"], data.string_at("reason"), data.string_at("part"), data["would_allow"],
       data.string_at("would_allow_yaml")},
      was_audited ? audited : denials);
}

std::optional<Cost> Tally::cost() const {
  Cost sum;
  for (const auto& [model, one] : cost_by_model) {
    if (!one) return {};
    sum += *one;
  }
  return sum;
}

Json Tally::usage_json() const {
  Json by_model = Json::object();
  for (const auto& [model, one] : usage_by_model) {
    Json tokens = to_json(one);
    tokens.set("cost_usd", cost_json(cost_by_model.at(model)));
    by_model.set(model, std::move(tokens));
  }
  return Json::object({{"total", to_json(usage)},
                       {"by_model", std::move(by_model)},
                       {"cost_usd", cost_json(cost())}});
}

std::vector<std::string> Tally::warnings() const {
  std::vector<std::string> warnings = server_troubles_;
  for (const char* name : {"missing_paths", "dangerous_words"}) {
    const auto found = checks.find(name);
    if (found == checks.end()) continue;
    const auto& [hits, sent, first] = found->second;
    warnings.push_back("check " + found->first + ": " + std::to_string(hits) + " of the agent's " +
                       "messages, " + std::to_string(sent) + " sent back; the first: " + first);
  }
  if (const auto found = checks.find("protected_path_made"); found != checks.end())
    warnings.push_back("protected names that a command made were removed again (paths.protect): " +
                       found->second.first);
  return warnings;
}

Json Tally::counts_json() const {
  int check_hits = 0;
  for (const auto& [name, count] : checks) check_hits += count.hits;
  return Json::object({{"turns", turns},
                       {"tool_calls", tool_calls},
                       {"denials", denial_count},
                       {"audited", audited_count},
                       {"retries", retries},
                       {"check_hits", check_hits},
                       {"connections", connections},
                       {"denied_connections", denied_connections}});
}

Json Tally::durations_json(milliseconds total) const {
  const auto ms = [](milliseconds duration) { return static_cast<std::int64_t>(duration.count()); };
  const milliseconds own = total - model_time - tools_time - verification_time;
  return Json::object({{"total_ms", ms(total)},
                       {"model_ms", ms(model_time)},
                       {"tools_ms", ms(tools_time)},
                       {"verification_ms", ms(verification_time)},
                       {"own_ms", ms(std::max(own, milliseconds(0)))}});
}

}  // namespace sortie

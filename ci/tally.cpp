#include "ci/tally.h"

#include <algorithm>

#include "core/json/flow_yaml.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostDenials = 200;
constexpr std::size_t kActionBytes = 60;

Json cost_json(const std::optional<Cost>& cost) {
  return cost ? Json::number(cost->exact()) : Json();
}

/// Adds the denial, or counts it if it is there already.
template <class One>
void add_to(std::vector<One>& denials, One denial) {
  for (One& each : denials) {
    if (!each.is_same(denial)) continue;
    ++each.count;
    return;
  }
  if (denials.size() < kMostDenials) denials.push_back(std::move(denial));
}

/// A script as it was sent, without the shell that runs it; other commands as words.
std::string command_text(const std::vector<std::string>& argv) {
  const bool script = argv.size() == 3 && (argv[0] == "sh" || argv[0] == "bash") &&
                      argv[1].starts_with('-') && argv[1].ends_with('c');
  return script ? argv[2] : joined(argv, " ");
}

/// The command that an approval is about, or "".
std::string command_of(const std::vector<RecordedAction>& actions) {
  for (const RecordedAction& action : actions)
    if (action.argv) return command_text(*action.argv);
  return {};
}

std::string action_text(const std::string& command, const ExitStatus& exit) {
  const std::string code = std::to_string(exit.code);
  std::string ending = name_of(exit.ending);
  std::replace(ending.begin(), ending.end(), '_', ' ');
  return "'" + one_line(command, kActionBytes) + "' " +
         (exit.ending == Ending::exited      ? "exit " + code
          : exit.ending == Ending::signalled ? "signal " + code
                                             : ending);
}

}  // namespace

bool Denial::is_same(const Denial& other) const {
  return tool == other.tool && effect == other.effect && reason == other.reason &&
         part == other.part && rule == other.rule && actions == other.actions;
}

bool DeniedHost::is_same(const DeniedHost& other) const {
  return host == other.host && port == other.port && reason == other.reason;
}

std::string DeniedHost::place() const {
  if (host.empty()) return "a host that was not named";
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port > 0 ? name + ":" + std::to_string(port) : name;
}

void Tally::on(const RunEvent& event) {
  std::visit([this](const auto& what) { add(what); }, event.what);
}

/// Adds tokens and cost to those of the model.
void Tally::pay(const std::string& model, const Usage& tokens, const std::optional<Cost>& paid) {
  usage += tokens;
  usage_by_model[model] += tokens;
  auto& cost = cost_by_model.try_emplace(model, Cost()).first->second;
  cost = cost && paid ? std::optional(*cost + *paid) : std::nullopt;
}

void Tally::add(const TurnStarted&) { ++turns; }

void Tally::add(const RetryRecord&) { ++retries; }

void Tally::add(const PacedWait& wait) { rate_limit_time += wait.waited.value_or(milliseconds(0)); }

void Tally::add(const ModelCutOff& answer) {
  const std::string& asked = answer.model;
  const auto known = served_as_.find(asked);
  pay(known == served_as_.end() ? asked.substr(asked.find(' ') + 1) : known->second, answer.tokens,
      answer.cost);
}

void Tally::add(const ModelAnswered& answer) {
  served_model = answer.served_model;
  served_as_[answer.model] = served_model;
  pay(served_model, answer.tokens.value_or(Usage()), answer.cost);
  model_time += answer.duration;
}

void Tally::add(const CallDecided& call) {
  commands_[call.call_id] = command_of(call.actions);
  if (call.decision == Ruling::allow && !call.audited) return;
  ++(call.audited ? audited_count : denial_count);
  const Ruling effect = call.audited ? call.strict.value_or(Ruling::deny) : call.decision;
  add_to(call.audited ? audited : denials,
         Denial{call.tool, call.actions, effect, call.rule, call.reason, call.part,
                call.would_allow, call.would_allow_yaml});
}

void Tally::add(const ToolCalled&) { ++tool_calls; }

void Tally::add(const ToolOutputRecord& output) {
  tools_time += output.duration;
  if (output.success) ++successful_calls;
  const auto command = commands_.extract(output.call_id);
  if (output.exit)
    last_action = action_text(command && !command.mapped().empty() ? command.mapped() : output.tool,
                              *output.exit);
}

void Tally::add(const McpServerRecord& server) {
  if (auto problem = server.problem(); !problem.empty())
    server_problems_.push_back(one_line(problem));
}

void Tally::add(const CheckRecord& hit) {
  CheckCount& count = checks[hit.check];
  if (++count.hits == 1) count.first = one_line(hit.saw);
  count.sent += hit.sent.empty() ? 0 : 1;
}

void Tally::add(const NetworkRecord& connection) {
  connections += connection.state == ConnectionState::opened ? 1 : 0;
  if (connection.state != ConnectionState::denied) return;
  ++denied_connections;
  DeniedHost one{.host = connection.host, .port = connection.port, .reason = connection.reason};
  if (!connection.would_allow.empty()) {
    one.would_allow = Json::object(
        {{"network", Json::object({{"allow", Json::array({connection.would_allow})}})}});
    one.would_allow_yaml = flow_yaml_lines(one.would_allow);
  }
  add_to(denied_hosts, std::move(one));
}

void Tally::add(const VerificationCompleted& verification) {
  // The time of run_tests is part of its tool call's.
  if (verification.phase != VerificationPhase::run_tests)
    verification_time += verification.exit.duration;
  last_action = action_text(verification.command, verification.exit);
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
  std::vector<std::string> warnings = server_problems_;
  for (const char* name : {"missing_paths", "dangerous_words"}) {
    const auto found = checks.find(name);
    if (found == checks.end()) continue;
    const auto& [hits, sent, first] = found->second;
    warnings.push_back("check " + found->first + ": " + std::to_string(hits) + " of the agent's " +
                       "messages, " + std::to_string(sent) + " sent back; the first: " + first);
  }
  if (const auto found = checks.find("protected_path_made"); found != checks.end())
    warnings.push_back("a command created protected names, which were removed (paths.protect): " +
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
  const milliseconds own = total - model_time - tools_time - verification_time - rate_limit_time;
  return Json::object({{"total_ms", ms(total)},
                       {"model_ms", ms(model_time)},
                       {"tools_ms", ms(tools_time)},
                       {"verification_ms", ms(verification_time)},
                       {"rate_limit_ms", ms(rate_limit_time)},
                       {"own_ms", ms(std::max(own, milliseconds(0)))}});
}

}  // namespace sortie

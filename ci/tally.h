#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/record/events.h"

namespace sortie {

/// A tool call that was denied, or that strict rules would have denied, and why.
struct Denial {
  std::string tool;
  std::vector<RecordedAction> actions;
  Ruling effect = Ruling::deny;
  std::optional<RecordedRule> rule;
  std::string reason;
  std::string part{};              ///< the part of the command that was denied; may be ""
  Json would_allow{};              ///< lines of a policy that would allow it, or null
  std::string would_allow_yaml{};  ///< the same as YAML, or ""
  int count = 1;                   ///< occurrences
  bool is_same(const Denial& other) const;
};

/// A host that commands tried to reach in vain, at a port.
struct DeniedHost {
  std::string host;  ///< "" where none was named
  int port = 0;      ///< 0: unknown
  std::string reason;
  Json would_allow{};              ///< {"network":{"allow":["example.org:443"]}}, or null
  std::string would_allow_yaml{};  ///< the same as YAML, or ""
  int count = 1;                   ///< connections
  bool is_same(const DeniedHost& other) const;
  std::string place() const;  ///< "example.org:443"
};

/// Counts a run's events: the numbers of result.json and run.completed.
class Tally : public EventSink {
 public:
  void on(const RunEvent& event) override;

  Usage usage;
  std::map<std::string, Usage> usage_by_model;  ///< by served model
  /// Cost by served model; nothing if the price of a response is unknown.
  std::map<std::string, std::optional<Cost>> cost_by_model;
  std::string served_model;  ///< of the last response
  int turns = 0;
  int tool_calls = 0;
  int successful_calls = 0;
  int retries = 0;
  std::vector<Denial> denials;  ///< the first 200 different ones, in order
  std::vector<Denial> audited;  ///< calls that the approval mode audit let run, likewise
  int denial_count = 0;
  std::vector<DeniedHost> denied_hosts;  ///< the first 200 different ones, in order
  /// The hits of one check, such as "dangerous_words".
  struct CheckCount {
    int hits = 0;
    int sent = 0;         ///< corrections sent to the model
    std::string first{};  ///< what the first hit saw
  };
  std::map<std::string, CheckCount> checks;
  int audited_count = 0;
  int connections = 0;  ///< of commands, allowed
  int denied_connections = 0;
  std::chrono::milliseconds model_time{0};
  std::chrono::milliseconds tools_time{0};
  std::chrono::milliseconds verification_time{0};
  std::chrono::milliseconds rate_limit_time{0};  ///< in which requests waited for a shared limit
  std::string last_action;  ///< "'pytest -q' exit 1": the last command, for the last line

  /// The cost of the run; nothing if a part of it is unknown.
  std::optional<Cost> cost() const;
  /// {"total":{…},"by_model":{…},"cost_usd"}; each model's tokens include its "cost_usd".
  Json usage_json() const;
  /// A line for each check of the agent's text that had hits, and for each problem with an MCP
  /// server.
  std::vector<std::string> warnings() const;
  /// {"turns","tool_calls","denials","audited","retries","check_hits","connections",
  /// "denied_connections"}
  Json counts_json() const;
  /// {"total_ms","model_ms","tools_ms","verification_ms","rate_limit_ms","own_ms"}
  Json durations_json(std::chrono::milliseconds total) const;

 private:
  void add(const TurnStarted& turn);
  void add(const RetryRecord& retry);
  void add(const PacedWait& wait);
  void add(const ModelCutOff& answer);
  void add(const ModelAnswered& answer);
  void add(const CallDecided& call);
  void add(const ToolCalled& called);
  void add(const ToolOutputRecord& output);
  void add(const McpServerRecord& server);
  void add(const CheckRecord& hit);
  void add(const NetworkRecord& connection);
  void add(const VerificationCompleted& verification);
  template <class Other>
  void add(const Other&) {}  // not counted
  void pay(const std::string& model, const Usage& tokens, const std::optional<Cost>& paid);

  std::map<std::string, std::string> commands_;  ///< by call id, of calls without an output yet
  std::vector<std::string> server_problems_;
  std::map<std::string, std::string> served_as_;  ///< "openai gpt-5" → its served name
};

}  // namespace sortie

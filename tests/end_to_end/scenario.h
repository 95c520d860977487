#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "tests/support/model_server.h"

namespace sortie::test {

/// A case of tests/end_to_end/scenarios: what a provider's server does, and what comes of it.
struct Scenario {
  std::string file;  ///< its name without folder and ending
  Json data;         ///< the keys are in scenarios/README.md
  std::string name() const { return data.string_at("name"); }
  /// The wires that it is played on.
  std::vector<std::string> wires() const;
};

/// All cases of a file of the folder, or of all files.
std::vector<Scenario> load_scenarios(const std::filesystem::path& folder);

/// What the server sends for an entry of `server`, in a wire's own words.
/// @param events  cuts the stream after so many events; -1: as the entry says
ServedResponse served_reply(std::string_view wire, const Json& reply, int events = -1);

/// How a case has ended.
struct ScenarioEnd {
  int code = 0;
  std::string reason;
  std::string kind;     ///< of the failure that it ended with
  std::string message;  ///< the agent's last
  std::vector<ReceivedRequest> requests;
  std::vector<ReceivedRequest> fallback_requests;
  int connections = 0;
  std::vector<std::chrono::milliseconds> waits;  ///< between tries, on the fake clock
  std::vector<std::string> proxied;              ///< CONNECT heads
  std::vector<Json> retries;                     ///< data of the records
  std::vector<Json> fallbacks;
  std::vector<Json> checks;
  std::vector<std::string> calls;  ///< the call ids of the tools that were run
  long retry_after_s = -1;         ///< -1: none
  std::string transcript_problem;  ///< "" where it is whole
  std::size_t request_records = 0;
};

/// Plays a case inside this process: loop, models and HTTP client are real, the clock and the tools
/// are not.
ScenarioEnd play(const Scenario& scenario, const std::string& wire, int events = -1);

}  // namespace sortie::test

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"
#include "core/catalog/cost.h"
#include "core/json/json.h"
#include "core/model/model.h"

namespace sortie {

// Events of the conversation with the model: requests, answers, what was wrong with them.

struct TurnStarted {
  std::uint64_t items = 0;
  std::int64_t estimated_tokens = 0;
  Json budget_left;  ///< object
};

struct ModelRequested {
  std::string provider;
  std::string wire;
  int attempt = 1;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::uint64_t prefix_bytes = 0;
  std::uint64_t first_new_item = 0;
  Json items = Json::array();  ///< from first_new_item on, each as to_json(Item) writes it
};

/// A response was cut off after it had begun.
struct ModelCutOff {
  int attempt = 1;
  std::string model;  ///< the model that was asked
  Usage tokens;       ///< estimated: providers report usage at the end of a response only
  std::optional<Cost> cost;
};

struct ModelAnswered {
  std::string id;
  std::string served_model;
  Json items = Json::array();  ///< as they came on the wire; core/model/said.h reads them
  Json usage;                  ///< as the provider sent it
  std::optional<Usage> tokens;
  std::optional<Cost> cost;  ///< nothing: the price is unknown
  bool incomplete = false;
  std::string stop_reason = "completed";
  std::chrono::milliseconds first_event{0};
  std::chrono::milliseconds duration{0};
  std::string model{};  ///< which of the run's models answered: "openai gpt-5-codex"
  int source = 0;
  bool tokens_estimated = false;
  std::string repeated{};
  Json output{};       ///< array: all items, if one could not be used
  bool aside = false;  ///< not part of the conversation: a summary, run notes
  Json rate_limits{};  ///< the provider's headers on its limits: {"x-ratelimit-…": "…"}
};

/// CheckRecord::check of what a replay could not do again.
inline constexpr const char* kReplayGap = "replay_gap";

struct CheckRecord {
  std::string check;  ///< "unusable_item", "reasoning_only", "incomplete", "transcript_limit", …
  std::string saw;
  std::string sent{};                ///< the text sent to the model; "" if none was
  std::vector<std::string> calls{};  ///< calls whose images were removed from the history
};

enum class CompactionMethod {
  summary,  ///< the model's summary replaces older turns
  cut,      ///< old tool outputs are cut: there is no summary
};
template <>
inline constexpr auto kSpelling<CompactionMethod> = std::to_array<Spelled<CompactionMethod>>(
    {{CompactionMethod::summary, "summary"}, {CompactionMethod::cut, "cut"}});

/// The history was shortened.
struct CompactionRecord {
  std::string cause;  ///< "compact_at", "context_length"
  CompactionMethod method = CompactionMethod::cut;
  std::string reason{};  ///< why there is no summary
  int turns_before = 0;
  int turns_after = 0;             ///< turns whose items were kept whole
  std::int64_t tokens_before = 0;  ///< estimates
  std::int64_t tokens_after = 0;
  std::string summary{};
};

}  // namespace sortie

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/catalog/cost.h"
#include "core/catalog/known_models.h"
#include "core/catalog/model_family.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// Where a limit or price of a model comes from.
enum class LimitSource {
  task,     ///< the task
  table,    ///< the table of known models
  replay,   ///< a recording answers, and costs nothing
  unknown,  ///< a default
};

/// The limits and price of one of the run's models.
struct ModelLimits {
  std::string name;                      ///< "openai gpt-5-codex"
  std::int64_t context_window = 128000;  ///< tokens of input and output
  LimitSource window_from = LimitSource::unknown;
  std::int64_t max_output_tokens = 32768;
  std::optional<ModelPrice> price;  ///< nothing: unknown, which is not 0
  LimitSource price_from = LimitSource::unknown;
  bool in_price_list = false;  ///< the table has its price, or it costs nothing
  ImageRule images{};
  TakesImages takes_images = TakesImages::unknown;
  bool takes_output_limit =
      true;  ///< false: its servers refuse max_output_tokens (ChatGPT sign-in)
};

/// Which price counts if both the task and the table have one.
enum class Prices {
  dearer,   ///< the higher one of each part, so that a task can't understate it
  of_task,  ///< the task's
};

/// The limits of a model: the task's values, else the table's. A response may have as many tokens
/// as the task says, but not more than the model's maximum, nor than half of its window.
ModelLimits model_limits(const TaskModel& model, Prices prices = Prices::dearer);
/// The limits of the task's model and its fallbacks, in the order of Item::source.
std::vector<ModelLimits> all_model_limits(const TaskModel& model, Prices prices = Prices::dearer);

/// Writes the effective limits into the task.
void apply_limits(const std::vector<ModelLimits>& limits, TaskModel& model);

/// A line for each model with an unknown limit or price, with the consequences.
std::vector<std::string> unknown_limits(const std::vector<ModelLimits>& limits);

/// {"context_window","window_from","max_output_tokens","price","price_from"}.
Json to_json(const ModelLimits& limits);

}  // namespace sortie

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/model_price.h"
#include "core/catalog/known_models.h"
#include "core/catalog/model_family.h"
#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// Where a number of a model comes from.
enum class TermSource {
  task,     ///< the task says it
  table,    ///< the table of known models
  replay,   ///< a recording answers: nothing is paid
  unknown,  ///< nobody said it
};

/// What a request to one of the run's models may hold and cost.
struct ModelLimits {
  std::string name;                      ///< "openai gpt-5-codex"
  std::int64_t context_window = 128000;  ///< tokens of input and output
  TermSource window_from = TermSource::unknown;
  std::int64_t max_output_tokens = 32768;
  std::optional<ModelPrice> price;  ///< nothing: unknown, which is never 0
  TermSource price_from = TermSource::unknown;
  bool in_price_list = false;  ///< the table has a price of it, or nothing is paid
  ImageRule images{};
  TakesImages takes_images = TakesImages::unknown;
  bool takes_output_limit = true;  ///< false: its servers refuse to be told one (ChatGPT sign-in)
};

/// Which price counts where both the task and the table have one.
enum class Prices {
  dearer,   ///< of each part the higher one: a task can't make a model cheap
  of_task,  ///< the task's
};

/// Of a model of the task: its own words before what the table knows. A response may have as many
/// tokens as the task says, but no more than the model can give, nor than half of its window.
ModelLimits terms_of(const TaskModel& model, Prices prices = Prices::dearer);
/// Of the task's own model and its fallbacks, in the order of Item::source.
std::vector<ModelLimits> terms_of_all(const TaskModel& model, Prices prices = Prices::dearer);

/// Writes the terms into the task, so that all who read it see what is in force.
void apply_limits(const std::vector<ModelLimits>& terms, TaskModel& model);

/// A line for each model of which something is not known, and what follows from it.
std::vector<std::string> unknown_terms(const std::vector<ModelLimits>& terms);

/// {"context_window","window_from","max_output_tokens","price","price_from"}.
Json to_json(const ModelLimits& terms);

}  // namespace sortie

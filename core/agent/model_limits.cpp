#include "core/agent/model_limits.h"

#include <algorithm>

#include "core/catalog/providers.h"

namespace sortie {
namespace {

const char* name_of(LimitSource source) noexcept {
  switch (source) {
    case LimitSource::task:
      return "task";
    case LimitSource::table:
      return "table";
    case LimitSource::replay:
      return "replay";
    case LimitSource::unknown:
      break;
  }
  return "unknown";
}

/// What is published of the model under the name that this provider gives it. The names of a server
/// of one's own are its own affair.
const KnownModel* known_at(const TaskModel& model) {
  const ProviderInfo* provider = find_provider(model.provider);
  if (provider == nullptr) return known_models().find("", model.name);  // a replay may be of any
  if (provider->vendor.empty()) return nullptr;
  return known_models().find(provider->vendor, model.name);
}

/// The higher price of each part.
ModelPrice dearer(const ModelPrice& one, const ModelPrice& other) {
  const auto cached = [](const ModelPrice& price) {
    return price.cached_input.value_or(price.input);
  };
  const auto written = [](const ModelPrice& price) {
    return price.cache_write.value_or(price.input);
  };
  return {.input = std::max(one.input, other.input),
          .cached_input = std::max(cached(one), cached(other)),
          .cache_write = std::max(written(one), written(other)),
          .output = std::max(one.output, other.output)};
}

void set_price(const TaskModel& model, const KnownModel* known, Prices prices,
               ModelLimits& limits) {
  const bool replays = model.provider == "replay";
  const ProviderInfo* provider = find_provider(model.provider);
  const bool listed = known && !replays && (provider == nullptr || provider->vendor_prices);
  limits.in_price_list = listed || replays;
  if (model.price) {
    limits.price = model.price;
    limits.price_from = LimitSource::task;
    if (!listed || prices == Prices::of_task) return;
    const ModelPrice highest = dearer(*model.price, known->price);
    if (highest == dearer(*model.price, *model.price)) return;
    limits.price = highest;
    limits.price_from = LimitSource::table;
  } else if (replays) {
    limits.price = ModelPrice{};
    limits.price_from = LimitSource::replay;
  } else if (listed) {
    limits.price = known->price;
    limits.price_from = LimitSource::table;
  }
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json price_json(const std::optional<ModelPrice>& price) {
  if (!price) return {};
  return Json::object({{"input", price->input},
                       {"cached_input", number_or_null(price->cached_input)},
                       {"cache_write", number_or_null(price->cache_write)},
                       {"output", price->output}});
}

}  // namespace

ModelLimits model_limits(const TaskModel& model, Prices prices) {
  const KnownModel* known = known_at(model);
  ModelLimits limits;
  limits.name = model.provider + " " + model.name;
  if (model.context_window) {
    limits.context_window = *model.context_window;
    limits.window_from = LimitSource::task;
  } else if (known) {
    limits.context_window = known->context_window;
    limits.window_from = LimitSource::table;
  } else if (model.provider == "replay") {
    limits.window_from = LimitSource::replay;
  }
  limits.max_output_tokens = std::min(model.max_output_tokens, limits.context_window / 2);
  if (known) limits.max_output_tokens = std::min(limits.max_output_tokens, known->max_output);
  if (known && known->images) limits.images = *known->images;
  limits.takes_images = takes_images(model.provider, model.name);
  set_price(model, known, prices, limits);
  return limits;
}

std::vector<ModelLimits> all_model_limits(const TaskModel& model, Prices prices) {
  std::vector<ModelLimits> all = {model_limits(model, prices)};
  for (const TaskModel& next : model.fallback) {
    all.push_back(model_limits(next, prices));
    if (model.provider == "replay") {  // also of what a fallback gave: nothing is paid
      all.back().price = ModelPrice{};
      all.back().price_from = LimitSource::replay;
      all.back().in_price_list = true;
    }
  }
  return all;
}

void apply_limits(const std::vector<ModelLimits>& limits, TaskModel& model) {
  const auto put = [](const ModelLimits& from, TaskModel& to) {
    to.context_window = from.context_window;
    to.max_output_tokens = from.max_output_tokens;
    to.price = from.price;
  };
  if (!limits.empty()) put(limits.front(), model);
  for (std::size_t i = 0; i < model.fallback.size() && i + 1 < limits.size(); ++i)
    put(limits[i + 1], model.fallback[i]);
}

std::vector<std::string> unknown_limits(const std::vector<ModelLimits>& limits) {
  std::vector<std::string> lines;
  for (const ModelLimits& each : limits) {
    std::string line;
    if (each.window_from == LimitSource::unknown)
      line = "its context window is not known, " + std::to_string(each.context_window) +
             " tokens are assumed (model.context_window)";
    if (!each.price)
      line += std::string(line.empty() ? "" : "; ") +
              "its price is not known, so budget.tokens governs and no cost (model.price)";
    if (!line.empty()) lines.push_back("model " + each.name + ": " + line);
  }
  return lines;
}

Json to_json(const ModelLimits& limits) {
  return Json::object({{"context_window", limits.context_window},
                       {"window_from", name_of(limits.window_from)},
                       {"max_output_tokens", limits.max_output_tokens},
                       {"price", price_json(limits.price)},
                       {"price_from", name_of(limits.price_from)}});
}

}  // namespace sortie

#include "core/agent/model_limits.h"

#include <algorithm>

#include "core/catalog/providers.h"

namespace sortie {
namespace {

const char* name_of(TermSource source) noexcept {
  switch (source) {
    case TermSource::task:
      return "task";
    case TermSource::table:
      return "table";
    case TermSource::replay:
      return "replay";
    case TermSource::unknown:
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

/// Of each part the higher price.
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

void set_price(const TaskModel& model, const KnownModel* known, Prices prices, ModelLimits& terms) {
  const bool replays = model.provider == "replay";
  const ProviderInfo* provider = find_provider(model.provider);
  const bool listed = known && !replays && (provider == nullptr || provider->vendor_prices);
  terms.in_price_list = listed || replays;
  if (model.price) {
    terms.price = model.price;
    terms.price_from = TermSource::task;
    if (!listed || prices == Prices::of_task) return;
    const ModelPrice highest = dearer(*model.price, known->price);
    if (highest == dearer(*model.price, *model.price)) return;
    terms.price = highest;
    terms.price_from = TermSource::table;
  } else if (replays) {
    terms.price = ModelPrice{};
    terms.price_from = TermSource::replay;
  } else if (listed) {
    terms.price = known->price;
    terms.price_from = TermSource::table;
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

ModelLimits terms_of(const TaskModel& model, Prices prices) {
  const KnownModel* known = known_at(model);
  ModelLimits terms;
  terms.name = model.provider + " " + model.name;
  if (model.context_window) {
    terms.context_window = *model.context_window;
    terms.window_from = TermSource::task;
  } else if (known) {
    terms.context_window = known->context_window;
    terms.window_from = TermSource::table;
  } else if (model.provider == "replay") {
    terms.window_from = TermSource::replay;
  }
  terms.max_output_tokens = std::min(model.max_output_tokens, terms.context_window / 2);
  if (known) terms.max_output_tokens = std::min(terms.max_output_tokens, known->max_output);
  if (known && known->images) terms.images = *known->images;
  terms.takes_images = takes_images(model.provider, model.name);
  set_price(model, known, prices, terms);
  return terms;
}

std::vector<ModelLimits> terms_of_all(const TaskModel& model, Prices prices) {
  std::vector<ModelLimits> all = {terms_of(model, prices)};
  for (const TaskModel& next : model.fallback) {
    all.push_back(terms_of(next, prices));
    if (model.provider == "replay") {  // also of what a fallback gave: nothing is paid
      all.back().price = ModelPrice{};
      all.back().price_from = TermSource::replay;
      all.back().in_price_list = true;
    }
  }
  return all;
}

void apply_limits(const std::vector<ModelLimits>& terms, TaskModel& model) {
  const auto put = [](const ModelLimits& from, TaskModel& to) {
    to.context_window = from.context_window;
    to.max_output_tokens = from.max_output_tokens;
    to.price = from.price;
  };
  if (!terms.empty()) put(terms.front(), model);
  for (std::size_t i = 0; i < model.fallback.size() && i + 1 < terms.size(); ++i)
    put(terms[i + 1], model.fallback[i]);
}

std::vector<std::string> unknown_terms(const std::vector<ModelLimits>& terms) {
  std::vector<std::string> lines;
  for (const ModelLimits& each : terms) {
    std::string line;
    if (each.window_from == TermSource::unknown)
      line = "its context window is not known, " + std::to_string(each.context_window) +
             " tokens are assumed (model.context_window)";
    if (!each.price)
      line += std::string(line.empty() ? "" : "; ") +
              "its price is not known, so budget.tokens governs and no cost (model.price)";
    if (!line.empty()) lines.push_back("model " + each.name + ": " + line);
  }
  return lines;
}

Json to_json(const ModelLimits& terms) {
  return Json::object({{"context_window", terms.context_window},
                       {"window_from", name_of(terms.window_from)},
                       {"max_output_tokens", terms.max_output_tokens},
                       {"price", price_json(terms.price)},
                       {"price_from", name_of(terms.price_from)}});
}

}  // namespace sortie

#include "app/run/run_head.h"

#include <algorithm>

#include "app/inputs/provider_choice.h"
#include "app/inputs/task_and_policy.h"
#include "core/text/display_width.h"
#include "core/text/text.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

constexpr std::size_t kNameBytes = 100;

std::string shown(const std::string& name) { return one_line(name, kNameBytes); }

std::string model_text(const RunInputs& inputs, const RunOptions& options) {
  const TaskModel& model = inputs.task.model;
  std::string text = shown(model.name.empty() ? "no model" : model.name);
  if (replays(inputs)) return text + ", replayed from " + shown(model.cassette.filename().string());
  const auto choices = model_choices(inputs, options);
  text += " (" + shown(model.provider) + ")";
  if (!choices.empty()) text += " at " + shown(choices.front().endpoint.base.authority());
  if (!model.fallback.empty())
    text += ", then " +
            joined(model.fallback, ", ", [](const TaskModel& one) { return shown(one.name); });
  return text;
}

std::string duration_text(std::chrono::milliseconds time) {
  const auto seconds = time.count() / 1000;
  if (time.count() % 1000 != 0) return std::to_string(time.count()) + " ms";
  if (seconds % 60 != 0) return std::to_string(seconds) + " s";
  return std::to_string(seconds / 60) + " min";
}

std::string budget_text(const RunInputs& inputs) {
  const TaskBudget& budget = inputs.task.budget;
  std::string text = std::to_string(budget.turns) + (budget.turns == 1 ? " turn, " : " turns, ") +
                     with_thousands(budget.tokens) + " tokens, ";
  const bool priced = std::any_of(inputs.terms.begin(), inputs.terms.end(),
                                  [](const ModelLimits& terms) { return terms.price.has_value(); });
  if (priced && !replays(inputs)) text += Cost::usd(budget.cost).text() + " USD, ";
  return text + duration_text(budget.time);
}

std::string sandbox_text(const RunInputs& inputs, const RunResult& result) {
  const std::string isolation =
      result.isolation == name_of(Isolation::none) ? "IN THE TREE ITSELF" : result.isolation;
  if (inputs.policy.sandbox == SandboxMode::none) return "sandbox NONE, " + isolation;
  return std::string("sandbox ") + name_of(inputs.policy.sandbox) + ", " + isolation +
         ", network " + name_of(inputs.policy.network);
}

/// "task change"; the file of a task that has no name but that of its file, task.yaml.
std::string task_text(const RunInputs& inputs, const RunOptions& options) {
  const std::string& name = inputs.task.name;
  if (!name.empty() && name != "task") return "task " + shown(name);
  if (options.prompt) return "prompt";
  return options.task == "-" ? "task from stdin" : shown(options.task);
}

}  // namespace

std::string short_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || !path.is_absolute()) return path.string();
  const std::filesystem::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

std::string policy_name(const RunInputs& inputs, const RunOptions& options) {
  const std::string name = chosen_policy(options.policy, inputs.task);
  return inputs.policy.file.empty() ? name : short_path(name);
}

std::vector<std::string> head_lines(const LogStyle& style, const RunInputs& inputs,
                                    const RunOptions& options, const RunResult& result) {
  const std::string lines[] = {std::string("sortie ") + SORTIE_VERSION + ": " +
                                   model_text(inputs, options) + "; " + task_text(inputs, options),
                               "policy " + shown(policy_name(inputs, options)) + ", " +
                                   result.approval + "; " + sandbox_text(inputs, result) +
                                   "; budget " + budget_text(inputs)};
  std::vector<std::string> shown_lines;
  for (const std::string& line : lines) {
    bool first = true;
    for (const auto& part : wrapped(line, style.columns == 0 ? 0 : style.columns - 4)) {
      shown_lines.push_back(tinted(style, Tint::faint, (first ? "" : "    ") + part));
      first = false;
    }
  }
  return shown_lines;
}

}  // namespace sortie

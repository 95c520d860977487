#include "app/inputs/start_problems.h"

#include <algorithm>

#include "app/inputs/asked_of_bounds.h"
#include "app/inputs/auth_file_choice.h"
#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Whether requests would carry no key, though the server wants one.
bool lacks_key(const RunInputs& inputs, const RunOptions& options, const ModelChoice& choice) {
  return !choice.key_variable.empty() && !choice.endpoint.base.is_loopback() &&
         !has_key(inputs, options, choice);
}

void look_for_keys(const RunInputs& inputs, const RunOptions& options, StartProblems& found) {
  const std::vector<ModelChoice> choices = model_choices(inputs, options);
  if (choices.empty() || !lacks_key(inputs, options, choices.front())) return;
  const ModelChoice& first = choices.front();
  const std::string text = "no key for the model: set the variable " + first.key_variable +
                           ", or use --api-key-file" +
                           (first.provider->name == "openai" ? " or --auth-file" : "");
  const bool other = std::any_of(choices.begin(), choices.end(), [&](const ModelChoice& choice) {
    return !lacks_key(inputs, options, choice);
  });
  if (other)
    found.notes.push_back(text + "; until then the models of model.fallback are asked");
  else
    found.problems.push_back(text);
}

}  // namespace

StartProblems find_start_problems(const LoadedTask& loaded, const RunOptions& options) {
  StartProblems found;
  RunInputs inputs;
  inputs.task = loaded.task;
  inputs.policy = loaded.policy;
  inputs.workspace = loaded.places.workspace;
  inputs.approval = loaded.policy.approval;
  try {
    inputs.auth_file = check_auth_file(inputs, options);
    found.problems =
        beyond_bounds(inputs.policy, asked_of_bounds(inputs, options, {}, loaded.places));
    if (!found.problems.empty()) return found;
    check_provider(inputs, options);
    look_for_keys(inputs, options, found);
  } catch (const InputError& error) {
    for (const auto line : split_lines(error.what())) found.problems.emplace_back(line);
  }
  return found;
}

}  // namespace sortie

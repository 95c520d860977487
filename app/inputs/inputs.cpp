#include "app/inputs/inputs.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>

#include "app/inputs/asked_of_bounds.h"
#include "app/inputs/auth_file_choice.h"
#include "app/inputs/expected_inputs.h"
#include "app/inputs/prompt_sources.h"
#include "app/inputs/provider_choice.h"
#include "app/inputs/rate_limits_choice.h"
#include "app/inputs/run_inputs.h"
#include "app/inputs/task_and_policy.h"
#include "app/inputs/task_text.h"
#include "app/inputs/task_warnings.h"
#include "app/inputs/tool_choice.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/config/fields.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/config/git_place.h"
#include "core/git/git_info.h"
#include "core/provider/sign_in/credentials.h"
#include "core/task/task_loader.h"
#include "core/task/variables.h"
#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/bounds/bounds.h"
#include "policies/bounds/task_gate.h"
#include "policies/bounds/trust.h"
#include "policies/environment/environment.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

void check_one_of(const std::string& flag, const std::string& value,
                  const std::vector<std::string>& known) {
  for (const auto& one : known)
    if (one == value) return;
  std::string text = flag + ": '" + one_line(value) + "' is not one of ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
  const std::string nearest = nearest_name(value, known);
  throw InputError(nearest.empty() ? text : text + "; did you mean '" + nearest + "'?");
}

template <SpelledEnum Enum>
Enum flag_value(const std::string& flag, const std::string& value) {
  check_one_of(flag, value, names_of<Enum>());
  return *value_named<Enum>(value);
}

/// A flag that selects the server means that server only, not the task's fallbacks.
void drop_fallbacks(const RunOptions& options, RunInputs& inputs) {
  auto& fallback = inputs.task.model.fallback;
  const char* flag = !options.base_url.empty()   ? "--base-url"
                     : !options.provider.empty() ? "--provider"
                                                 : nullptr;
  if (flag == nullptr || fallback.empty()) return;
  fallback.clear();
  inputs.warnings.push_back(std::string("model.fallback is ignored, since ") + flag +
                            " selects the server");
}

/// A recording answers alone: a flag that selects a server would be paid for, or mean nothing.
void check_replay(const RunOptions& options) {
  if (options.replay.empty()) return;
  const std::string server = !options.base_url.empty() ? "--base-url"
                             : !options.provider.empty() && options.provider != "replay"
                                 ? "--provider " + options.provider
                                 : "";
  if (!server.empty())
    throw InputError("--replay takes the responses from a recording, and " + server +
                     " selects a server: leave out " + server + ", or --replay to ask the server");
}

void apply_model_flags(const RunOptions& options, RunInputs& inputs) {
  TaskModel& model = inputs.task.model;
  if (!options.replay.empty()) {
    model.provider = "replay";
    model.cassette = fs::absolute(options.replay);
    // A run's output folder, whose transcript is meant.
    std::error_code error;
    if (fs::is_directory(model.cassette, error)) model.cassette /= "transcript.jsonl";
  }
  if (!options.provider.empty()) {
    std::vector<std::string> names;
    for (const ProviderInfo& provider : providers()) names.emplace_back(provider.name);
    names.emplace_back("replay");
    check_one_of("--provider", options.provider, names);
    model.provider = options.provider;
  }
  check_replay(options);
  if (!options.model.empty()) model.name = options.model;
  drop_fallbacks(options, inputs);
  if (model.provider == "replay" && model.cassette.empty())
    throw InputError((options.provider.empty() ? error_at(inputs.task, {"model.provider"}) : "") +
                     "provider replay needs a cassette: model.cassette in the task, or --replay");
}

void apply_budget_flags(const RunOptions& options, TaskBudget& budget) {
  if (options.max_turns) {
    if (*options.max_turns < 1) throw InputError("--max-turns: expected at least 1");
    budget.turns = *options.max_turns;
  }
  if (options.max_tokens) {
    if (*options.max_tokens < 1) throw InputError("--max-tokens: expected at least 1");
    budget.tokens = *options.max_tokens;
  }
  if (options.max_cost) {
    if (!std::isfinite(*options.max_cost) || *options.max_cost < 0 || *options.max_cost > 1e6)
      throw InputError("--max-cost: expected an amount of USD from 0 to 1000000");
    budget.cost = *options.max_cost;
    budget.cost_given = true;
  }
  if (options.timeout.empty()) return;
  const auto time = parse_duration(options.timeout);
  if (!time || time->count() <= 0)
    throw InputError("--timeout: expected a duration such as 30s, 10m or 2h, got '" +
                     one_line(options.timeout) + "'");
  budget.time = *time;
}

void apply_flags(const RunOptions& options, Task& task) {
  apply_budget_flags(options, task.budget);
  if (!options.isolation.empty())
    task.workspace.isolation = flag_value<Isolation>("--isolation", options.isolation);
}

/// The older form of tool calls can force one function, but not some call.
void check_tool_choice(const Task& task) {
  const auto is_legacy = [](const TaskModel& model) { return model.legacy_functions; };
  const auto& others = task.model.fallback;
  if (!is_legacy(task.model) && std::none_of(others.begin(), others.end(), is_legacy)) return;
  std::string text;
  const auto refuse = [&text](const std::string& place) {
    text += (text.empty() ? "" : "\n") + place +
            ": error: 'choice': model.legacy_functions has no way to say 'required'; name a tool";
  };
  const auto place = task.places.find("tools.choice");
  if (task.tool_choice == "required")
    refuse(place == task.places.end() ? "tools.choice" : place->second);
  for (const TaskStage& stage : task.stages)
    if (stage.tool_choice == "required") refuse(stage.place);
  if (!text.empty()) throw InputError(text);
}

/// Higher is stricter.
int strictness(Approval approval) {
  switch (approval) {
    case Approval::deny_by_default:
      return 2;
    case Approval::full_auto:
      return 1;
    case Approval::audit:
      break;
  }
  return 0;
}

Approval chosen_approval(const RunOptions& options, const Policy& policy) {
  if (options.approval.empty()) return policy.approval;
  const auto asked = flag_value<Approval>("--approval", options.approval);
  if (strictness(asked) < strictness(policy.approval) && !policy.approval_override)
    throw InputError("--approval " + options.approval + " is looser than the policy's " +
                     name_of(policy.approval) + "; the policy must say approval_override: true");
  return asked;
}

/// Audit allows every command, so the sandbox must confine them.
void check_audit(const RunInputs& inputs) {
  if (inputs.approval == Approval::audit && inputs.policy.sandbox == SandboxMode::none)
    throw InputError(
        "the approval mode audit lets everything run and needs a sandbox; the policy says "
        "sandbox.mode: none");
}

/// A stage may be stricter than the policy, if there is a sandbox to enforce that.
void check_stages(const RunInputs& inputs) {
  std::string text;
  for (const TaskStage& stage : inputs.task.stages) {
    std::string problem;
    if (stage.sandbox && inputs.policy.sandbox == SandboxMode::none)
      problem = ", which nothing would enforce: the policy says sandbox.mode: none";
    else if (stage.sandbox == StageSandbox::workspace_write &&
             inputs.policy.sandbox == SandboxMode::read_only)
      problem = ", which is looser than the policy's sandbox.mode: read-only";
    if (!problem.empty())
      text += (text.empty() ? "" : "\n") + stage.place + ": error: the stage '" + stage.name +
              "' asks for sandbox: " + name_of(*stage.sandbox) + problem;
  }
  if (!text.empty()) throw InputError(text);
}

/// Each attempt needs a tree of its own, and leaves its notes to nobody.
void check_best_of(const RunOptions& options, Task& task) {
  if (options.best_of) task.best_of.count = *options.best_of;
  if (task.best_of.count == 1) return;
  const auto place = task.places.find("best_of.count");
  const std::string asked = options.best_of ? "--best-of " + std::to_string(*options.best_of)
                            : place != task.places.end() ? place->second + ": error: best_of.count"
                                                         : "best_of.count";
  if (std::string_view(name_of(task.workspace.isolation)) == "none")
    throw InputError(asked +
                     ": the isolation none has one tree for all attempts; use auto, overlay or "
                     "copy");
  if (!task.context.carry_over.empty())
    throw InputError(asked + ": attempts do not keep notes; leave out context.carry_over");
}

/// Warns of prices of the task that do not count.
void warn_of_prices(RunInputs& inputs) {
  const TaskModel& model = inputs.task.model;
  for (std::size_t i = 0; i < inputs.terms.size(); ++i) {
    const ModelLimits& terms = inputs.terms[i];
    const auto& said = i == 0 ? model.price : model.fallback[i - 1].price;
    if (said && terms.price_from == LimitSource::table)
      inputs.warnings.push_back("model.price: the known price of " + terms.name +
                                " is higher, and counts (bounds.prices: true in the policy would "
                                "make the task's count)");
  }
}

/// The limits of the models, those of one's own servers without the lack of a price.
std::vector<ModelLimits> terms_to_know(const RunInputs& inputs) {
  std::vector<ModelLimits> terms = inputs.terms;
  const TaskModel& model = inputs.task.model;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if ((i == 0 ? model.provider : model.fallback[i - 1].provider) == "local" && !terms[i].price)
      terms[i].price.emplace();
  return terms;
}

/// Sets the limits and prices of the models; a cost limit that was set must be enforceable.
void apply_terms(const RunOptions& options, RunInputs& inputs) {
  Task& task = inputs.task;
  inputs.terms =
      all_model_limits(task.model, inputs.policy.prices_of_task ? Prices::of_task : Prices::dearer);
  inputs.terms.front().takes_output_limit = !signs_in(inputs);
  warn_of_prices(inputs);
  const auto place = task.places.find("budget.cost");
  const std::string asked = options.max_cost             ? "--max-cost"
                            : place != task.places.end() ? place->second + ": error: budget.cost"
                                                         : "budget.cost";
  std::string problems;
  for (const ModelLimits& terms : inputs.terms)
    if (task.budget.cost_given && !terms.price)
      problems += (problems.empty() ? "" : "\n") + asked + ": the price of " +
                  one_line(terms.name, 100) +
                  " is unknown, so the cost can't be limited; set model.price (of a fallback: "
                  "its price), or leave the cost out: then budget.tokens limits the run";
  if (!problems.empty()) throw InputError(problems);
  for (auto& line : unknown_limits(terms_to_know(inputs)))
    inputs.warnings.push_back(std::move(line));
  if (task.places.count("model.max_output_tokens") != 0 &&
      inputs.terms.front().max_output_tokens < task.model.max_output_tokens)
    inputs.warnings.push_back(
        "model.max_output_tokens: " + std::to_string(inputs.terms.front().max_output_tokens) +
        ", since more is beyond the model or half of its context window");
  apply_limits(inputs.terms, task.model);
}

/// The text with one folder's path in place of another's, where it stands as a whole.
std::string with_place(const std::string& text, const std::string& from, const std::string& to) {
  const auto goes_on = [](char c) {
    return is_ascii_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  };
  std::string moved;
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, done)) {
    const std::size_t end = at + from.size();
    const bool whole = end == text.size() || !goes_on(text[end]);
    moved += text.substr(done, at - done) + (whole ? to : from);
    done = end;
  }
  return moved + text.substr(done);
}

/// The recorded responses, with the workspace's path as it is here.
std::vector<RecordedStream> read_recording(const RunOptions& options, const RunInputs& inputs) {
  std::vector<RecordedStream> streams = read_cassette(inputs.task.model.cassette);
  if (!options.replay_moved_from.empty())
    for (RecordedStream& stream : streams)
      stream.sse = with_place(stream.sse, options.replay_moved_from, inputs.workspace.string());
  return streams;
}

/// A key that is not here, and that the policy would not let go to its model: a run that has it would be
/// refused, as check_bounds() does.
void warn_of_held_key(const RunOptions& options, const ModelChoice& choice, RunInputs& inputs) {
  if (choice.key_variable.empty() || choice.model->extras.key_optional ||
      has_key(inputs, options, choice) ||
      key_may_go(choice.key_variable, choice.endpoint, inputs.policy.credentials))
    return;
  const std::string host = choice.endpoint.base.authority();
  const std::string line = choice.key_variable + " may not go to " + host +
                           " by the policy, so a run that has this key ends with code 2" +
                           to_allow_key(inputs.policy, choice.key_variable, host);
  auto& lines = inputs.warnings;
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

/// Checks all that the task and the flags ask for against the policy's bounds.
void check_bounds(const RunOptions& options, const std::map<std::string, std::string>& variables,
                  const GatePlaces& places, RunInputs& inputs) {
  const BoundsRequest request = asked_of_bounds(inputs, options, variables, places);
  for (const ModelChoice& choice : model_choices(inputs, options))
    warn_of_held_key(options, choice, inputs);
  std::string text;
  for (const auto& message : beyond_bounds(inputs.policy, request))
    text += (text.empty() ? "" : "\n") + message;
  if (!text.empty()) throw InputError(text);
  inputs.task.budget.time = bounded_time(inputs.policy, request);
  inputs.task.budget.cost = bounded_cost(inputs.policy, request);
  inputs.task.budget.tokens = bounded_tokens(inputs.policy, request);
}

/// Checks the rule of two out of three (policies/bounds/trust.h) before anything is started.
void check_trust(RunInputs& inputs) {
  TrustFactors factors = trust_factors(inputs.policy);
  if (factors.input.empty() && !inputs.task.context.carry_over.empty())
    factors.input = "context.carry_over brings in what an earlier run wrote";
  if (searches_web(inputs.task)) count_web_search(factors);
  if (factors.input.empty() || factors.network.empty()) return;
  Environment own = own_environment();
  for (const auto& name : key_variables(inputs)) own.erase(name);  // no command gets them
  for (const auto& name : mcp_token_variables(inputs.task)) own.erase(name);
  factors.secrets = secrets_reason(inputs.policy, own);
  if (!factors.all_three()) return;
  if (!inputs.policy.allow_all_three) throw InputError(trust_problem(factors));
  inputs.warnings.push_back(
      "ALL THREE of untrusted input, secrets and open network, by trust.allow_all_three: " +
      factors.input + "; " + factors.secrets + "; " + factors.network);
}

/// Warns of files with credentials that other users of the machine can read.
void warn_of_readable_keys(const RunOptions& options, RunInputs& inputs) {
  const std::pair<const char*, const std::string&> files[] = {
      {"--api-key-file", options.api_key_file}, {"--auth-file", options.auth_file}};
  for (const auto& [flag, file] : files) {
    struct stat status {};
    if (file.empty() || ::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) == 0) continue;
    char mode[8];
    std::snprintf(mode, sizeof mode, "%03o", static_cast<unsigned>(status.st_mode & 0777));
    inputs.warnings.push_back(std::string(flag) + " " + one_line(file, 200) +
                              ": others on this machine may read it (mode " + mode +
                              "); chmod 600 keeps it to you");
  }
}

/// Hides a file from commands and tools.
void hide_file(const fs::path& file, Policy& policy) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (!error) policy.hide.push_back(quoted_glob(real));  // else a pipe: /dev/fd/63
}

/// Looks for git. A repository that can't be used is only a warning: most of a run needs none.
void prepare_git(const TaskGate& gate, RunInputs& inputs) {
  let_git_read(folders_to_read(inputs.policy, inputs.workspace, own_environment()),
               gate.workspaces());
  try {
    const std::string why = why_git_is_refused(inputs.workspace);
    if (!why.empty())
      inputs.warnings.push_back("the run goes on as in a folder without git: " + why);
  } catch (const Error&) {  // the code that needs the repository reports the error
  }
}

}  // namespace

std::string new_run_id() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw system_error("getrandom");
  const auto milliseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  for (std::size_t i = 0; i < 6; ++i)
    bytes[i] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - i)));
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0F));
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

void check_flags(const RunOptions& options) {
  RunInputs any;
  apply_model_flags(options, any);
  apply_flags(options, any.task);
}

RunInputs load_inputs(const RunOptions& options) {
  RunInputs inputs;
  inputs.thread = options.thread;
  LoadedTask loaded = load_task_and_policy(
      options, inputs.thread != nullptr ? std::string() : text_of_task(options));
  inputs.task = std::move(loaded.task);
  inputs.policy = std::move(loaded.policy);
  inputs.workspace = loaded.places.workspace;
  if (inputs.thread == nullptr) inputs.digest_of_file = task_digest(inputs.task);
  const TaskGate gate(inputs.policy, loaded.places);
  inputs.approval = chosen_approval(options, inputs.policy);
  check_audit(inputs);
  check_stages(inputs);
  inputs.run_id = inputs.thread != nullptr ? inputs.thread->run_id : new_run_id();
  apply_model_flags(options, inputs);
  check_tool_choice(inputs.task);
  apply_flags(options, inputs.task);
  check_best_of(options, inputs.task);
  inputs.auth_file = check_auth_file(inputs, options);
  auto flags = flag_variables(options, gate);
  // What the caller wrote on the command line needs no leave of a preset.
  if (inputs.thread == nullptr || inputs.thread->bounded)
    check_bounds(options, flags.values, loaded.places, inputs);
  apply_terms(options, inputs);
  check_trust(inputs);
  prepare_git(gate, inputs);
  if (uses_standard_input(inputs.task) && options.task == "-" && !options.prompt)
    throw InputError("{{stdin}}: stdin is the task itself");
  const VariableSources sources = make_sources(inputs, std::move(flags), gate);
  inputs.task.digest = task_digest(inputs.task);
  check_expected(options, inputs);
  inputs.prompts = expand_prompts(inputs.task, sources);
  check_provider(inputs, options);
  inputs.proxy_variable = proxy_of_environment().https_variable;
  warn_of_readable_keys(options, inputs);
  for (auto& line : task_warnings(inputs)) inputs.warnings.push_back(std::move(line));
  inputs.rate_limits = check_rate_limits(inputs, options);
  for (const auto& file : {options.api_key_file, options.auth_file})
    if (!file.empty()) hide_file(file, inputs.policy);
  // Whoever can read it can keep its lock.
  if (inputs.rate_limits) hide_file(inputs.rate_limits->state, inputs.policy);
  if (replays(inputs)) inputs.recorded = read_recording(options, inputs);
  return inputs;
}

}  // namespace sortie

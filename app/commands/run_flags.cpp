#include "app/commands/run_flags.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "app/inputs/expected_inputs.h"
#include "core/catalog/providers.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::int64_t kMostTurns = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;

/// The N of "retryable=N"; nothing if it is something else.
std::optional<int> mapped_code(std::string_view word) {
  constexpr std::string_view kKind = "retryable=";
  if (!word.starts_with(kKind)) return std::nullopt;
  word.remove_prefix(kKind.size());
  int code = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), code);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  if (code < 1 || code > 255) return std::nullopt;
  return code;
}

}  // namespace

CLI::Validator whole_number(std::int64_t most) {
  return CLI::Validator(
      [most](std::string& word) -> std::string {
        const bool digits = !word.empty() && std::all_of(word.begin(), word.end(), is_ascii_digit);
        const std::size_t zeros = std::min(word.find_first_not_of('0'), word.size());
        const std::string limit = std::to_string(most);
        const std::string_view number = std::string_view(word).substr(zeros);
        const bool fits =
            number.size() < limit.size() || (number.size() == limit.size() && number <= limit);
        if (digits && !number.empty() && fits) return "";
        return "expected a whole number from 1 to " + limit + ", got " + in_quotes(word);
      },
      "");
}

void begin_group(CLI::App& app, const char* name) { app.option_defaults()->group(name); }

void add_model(CLI::App& app, RunOptions& options) {
  begin_group(app, "Model");
  app.add_option("-m,--model", options.model, "model, instead of the task's");
  std::string names;
  for (const ProviderInfo& provider : providers())
    names += (names.empty() ? "" : ", ") + std::string(provider.name);
  app.add_option("--provider", options.provider, names + " or replay, instead of the task's");
  app.add_option("--base-url", options.base_url,
                 "address of a compatible server, for the task's own model");
  app.add_option("--api-key-file", options.api_key_file, "read the API key from this file");
  app.add_option("--api-key-fd", options.api_key_fd, "read the API key from this descriptor");
  app.add_option(
      "--auth-file", options.auth_file,
      "sign in with ChatGPT, with this auth.json of the codex CLI; it is kept refreshed");
}

void add_debugging(CLI::App& app, RunOptions& options) {
  begin_group(app, "Debugging");
  app.add_option("--replay", options.replay, "take the model's responses from a recording");
  app.add_option("--record", options.record, "write the model's responses to a recording");
}

void add_limits(CLI::App& app, RunOptions& options) {
  begin_group(app, "Limits");
  app.add_option("--max-turns", options.max_turns, "maximum number of requests to the model")
      ->check(whole_number(kMostTurns));
  app.add_option("--max-tokens", options.max_tokens,
                 "maximum number of uncached input and output tokens")
      ->check(whole_number(kMostTokens));
  app.add_option(
      "--max-cost", options.max_cost,
      "maximum cost in USD; needs a model whose price is known, or model.price in the task");
  app.add_option("--timeout", options.timeout, "time limit of the whole run: 30s, 10m, 2h");
  app.add_option("--rate-limits", options.rate_limits,
                 "file of the requests and tokens a minute that each provider allows: all runs on "
                 "this machine with it stay within them together");
}

void add_status_file(CLI::App& app, std::string& file) {
  app.add_option("--status-file", file,
                 "also write the outcome here as one line of JSON, at most 4 KiB (a Kubernetes "
                 "termination message)");
}

void add_expected(CLI::App& app, RunOptions& options) {
  const CLI::Validator digest(
      [](std::string& word) -> std::string {
        return is_digest(word) ? ""
                               : "expected sha256: and 64 hexadecimal digits in lower case, got " +
                                     in_quotes(word);
      },
      "");
  app.add_option("--expect-task", options.expect_task,
                 "refuse a task of another digest (sha256:…, as 'sortie task check --digest' "
                 "prints it)")
      ->check(digest);
  app.add_option("--expect-policy", options.expect_policy,
                 "refuse a policy of another digest (sha256:…, as 'sortie policy check' prints it)")
      ->check(digest);
}

void add_exit_map(CLI::App& app, std::optional<int>& code) {
  app.add_option_function<std::string>(
         "--exit-map", [&code](const std::string& word) { code = mapped_code(word); },
         "retryable=N: N (1 to 255) is the exit code in place of all retryable ones, for engines "
         "that know only one")
      ->check(CLI::Validator(
          [](std::string& word) -> std::string {
            return mapped_code(word)
                       ? ""
                       : "expected retryable=N with N from 1 to 255, got " + in_quotes(word);
          },
          ""));
}

}  // namespace sortie

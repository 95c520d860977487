#include "app/batch/run_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "app/batch/checkout.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/config/fields.h"
#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Cut off, not rounded: what is left is never more.
std::string dollars_of(double usd) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6f", std::max(std::floor(usd * 1e6) / 1e6, 0.000001));
  return text;
}

/// A file in memory with this content, which the program to come inherits.
int inherited_file(const std::string& content) {
  const int file = ::memfd_create("sortie-variable", 0);
  if (file < 0 || !write_all(file, content))
    throw system_error("memfd_create", ExitCode::environment);
  return file;
}

void add_fields(const BatchRunStart& start, std::vector<std::string>& words) {
  for (const auto& [name, value] : start.run.fields) {
    if (!start.plan.task_of(start.run).variables.contains(name)) continue;
    words.push_back("--var");
    words.push_back(name + "@/dev/fd/" + std::to_string(inherited_file(value)));
  }
}

/// Files of the CI step belong to the batch as a whole.
void leave_the_step() {
  for (const char* name : {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"}) ::unsetenv(name);
}

void close_input() {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
}

}  // namespace

std::vector<std::string> run_words(const BatchRunStart& start, const fs::path& workspace) {
  const BatchTask& task = start.plan.task_of(start.run);
  const RunOptions& flags = start.options.run;
  std::vector<std::string> words = {"sortie", "run",
                                    start.plan.manifest.tasks[start.run.task].task.string(),
                                    "--out", start.folder.run(start.run.name).string()};
  const auto add = [&words](const char* flag, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(flag);
    words.push_back(value);
  };
  add("--policy", task.policy);
  add("-C", workspace.string());
  add("--isolation", flags.isolation);
  add("--model", flags.model);
  add("--provider", flags.provider);
  add("--base-url", flags.base_url);
  add("--api-key-file", flags.api_key_file);
  if (flags.api_key_fd) add("--api-key-fd", std::to_string(*flags.api_key_fd));
  add("--auth-file", flags.auth_file);
  if (start.grant.cost) add("--max-cost", dollars_of(*start.grant.cost));
  if (start.grant.tokens)
    add("--max-tokens", std::to_string(std::max<std::int64_t>(*start.grant.tokens, 1)));
  if (start.grant.time)
    add("--timeout", duration_text(std::max(*start.grant.time, std::chrono::milliseconds(1))));
  add("--rate-limits", start.rate_limits.string());
  // What failed for good is not paid a second time either.
  add("--reuse", "any");
  if (start.options.fresh) words.emplace_back("--fresh");
  const fs::path& work = workspace.empty() ? task.workspace : workspace;
  std::error_code error;
  // A checkout lies inside of it: then no run sees the folder anyway.
  if (!path_below(fs::weakly_canonical(work, error), start.folder.path()))
    add("--batch-folder", start.folder.path().string());
  for (const auto& [name, value] : start.run.vars)
    if (task.variables.contains(name)) add("--var", name + "=" + value);
  for (const std::string& text : flags.variables)
    if (task.variables.contains(text.substr(0, text.find_first_of("=@")))) add("--var", text);
  return words;
}

void become_run(const BatchRunStart& start) {
  leave_the_step();
  close_input();
  fs::path workspace = start.run.workspace;
  if (!start.run.git.empty())
    workspace =
        make_checkout({.git = start.run.git, .commit = start.run.commit, .depth = start.run.depth},
                      start.folder.checkouts());
  if (workspace.empty()) workspace = start.options.run.workspace;
  RunOptions flags = start.options.run;
  start.key.give_to(flags);
  if (flags.api_key_fd) ::fcntl(*flags.api_key_fd, F_SETFD, 0);
  BatchOptions options = start.options;
  options.run = std::move(flags);
  const BatchRunStart own{options,     start.plan,        start.folder, start.run,
                          start.grant, start.rate_limits, start.key};
  std::vector<std::string> words = run_words(own, workspace);
  add_fields(own, words);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  throw system_error("exec /proc/self/exe", ExitCode::environment);
}

}  // namespace sortie

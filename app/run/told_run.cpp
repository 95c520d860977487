#include "app/run/told_run.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/found_output.h"
#include "app/inputs/thread_run.h"
#include "app/run/run.h"
#include "app/run/signals.h"
#include "app/show/failure.h"
#include "app/show/github_files.h"
#include "app/show/standard_output.h"
#include "app/show/status_file.h"
#include "ci/report/summary.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/secrets/redact.h"
#include "policies/environment/known_secrets.h"
#include "policies/sandbox/keeper/early_keeper.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOfAnswer = 64u << 20;

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : found;
}

void check_place(const RunOptions& options) {
  if (!options.out.empty() && path_below(real(options.status_file), real(options.out)))
    throw InputError("--status-file " + path_text(options.status_file) +
                     ": lies in --out, whose files are the run's own; result.json is there anyway");
}

/// Those to whom the outcome is told.
class Told {
 public:
  Told(const RunOptions& options, const OutputStyle& style) : options_(options), style_(style) {
    check_distinct_outputs(options);
    if (!options.out.empty()) real_out_ = real(options.out);
    if (!options.status_file.empty()) {
      check_place(options);
      status_.emplace(options.status_file);
    }
    // Now: the run takes its key out of the environment.
    if (status_ || github_.takes_outputs())
      redactor_.add_all(known_secrets(Policy{}, own_environment()).values);
    warn();
  }

  void tell_end(ExitCode code) {
    const fs::path folder = real_out_.empty() ? fs::path(options_.out) : real_out_;
    Json result = recorded(folder / "result.json");
    if (result.integer_at("exit_code", -1) != static_cast<int>(code))
      result = unstarted_result(code, "the run ended, and its result.json is not there");
    std::string message;
    for (const char* name : {"last-message.txt", "last-message.json"})
      if (github_.takes_outputs() && result["artifacts"].find(name) != nullptr)
        message = read_bytes_file(folder / name, kMostOfAnswer).text;
    if (message.ends_with('\n')) message.pop_back();
    github_.add_outputs(result, stays() ? fs::path(options_.out) : fs::path(), message);
    add_summary(result, folder);
    const ThreadRun* thread = options_.thread;
    write_status(result, thread == nullptr || thread->own_out ? options_.out : "");
  }

  void tell_failure(const std::exception& error) {
    const Error failure = failure_of(error);
    const Json result =
        unstarted_result(failure.code(), redactor_.text(failure.what(), Audience::people));
    github_.add_outputs(result, {}, "");
    write_status(result, "");
  }

 private:
  /// Whether the run's folder is there afterwards: not that of a thread that is not kept.
  bool stays() const {
    const ThreadRun* thread = options_.thread;
    return thread == nullptr || thread->own_out || thread->kept;
  }

  void add_summary(const Json& result, const fs::path& folder) {
    const std::uint64_t room = github_.summary_room();
    if (room == 0 || result["artifacts"].find(kSummaryName) == nullptr) return;
    const TextFile summary = read_text_file(folder / kSummaryName, kMostSummaryBytes);
    if (summary.problem.empty()) github_.add_summary(summary_within(summary.text, room));
  }

  static Json recorded(const fs::path& file) {
    try {
      return parse_json(read_bytes_file(file, kMostResultBytes).text);
    } catch (const JsonError&) {
      return Json::object();
    }
  }

  void write_status(const Json& result, const std::string& out) {
    const std::string problem = status_ ? status_->write(status_line(result, out)) : "";
    if (!problem.empty()) print_error("sortie: warning: --status-file: " + problem + "\n");
  }

  void warn() const {
    if (style_.quiet) return;
    for (const std::string& problem : github_.problems())
      print_error("sortie: warning: " + problem + "\n");
  }

  const RunOptions& options_;
  const OutputStyle& style_;
  /// --out with the links of the start: commands could lead those in the workspace elsewhere. "": not given.
  fs::path real_out_;
  std::optional<StatusFile> status_;
  GithubFiles github_;
  Redactor redactor_;
};

/// The early keeper, whose process a signal ends too, at whatever moment it comes.
class OwnEarlyKeeper {
 public:
  OwnEarlyKeeper();
  OwnEarlyKeeper(const OwnEarlyKeeper&) = delete;
  OwnEarlyKeeper& operator=(const OwnEarlyKeeper&) = delete;
  ~OwnEarlyKeeper() {
    const DeferredSignals until_it_has_ended;
    ends_.reset();
    keeper_.reset();
  }
  EarlyKeeper* get() const noexcept { return keeper_.get(); }

 private:
  std::unique_ptr<EarlyKeeper> keeper_;
  std::optional<EndsWithProcess> ends_;
};

/// With the limits that a run raises. What a machine lacks, the run reports.
std::unique_ptr<EarlyKeeper> fork_early_keeper() {
  try {
    check_machine();
  } catch (const Error&) {
    return nullptr;
  }
  return EarlyKeeper::fork();
}

OwnEarlyKeeper::OwnEarlyKeeper() {
  const DeferredSignals until_it_is_told;
  keeper_ = fork_early_keeper();
  ends_.emplace(keeper_ ? keeper_->pid() : -1);
}

}  // namespace

ExitCode tell_outcome(const RunOptions& options, const OutputStyle& style,
                      const std::function<ExitCode(EarlyKeeper*)>& run) {
  const OwnEarlyKeeper early_keeper;
  Told told(options, style);
  try {
    const ExitCode code = run(early_keeper.get());
    told.tell_end(code);
    return code;
  } catch (const std::exception& error) {
    told.tell_failure(error);
    throw;
  }
}

ExitCode run_and_tell(const RunOptions& options, const OutputStyle& style) {
  return tell_outcome(options, style, [&](EarlyKeeper* early_keeper) {
    return run_task(options, style, early_keeper);
  });
}

}  // namespace sortie

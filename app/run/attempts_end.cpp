#include "app/run/attempts_end.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "app/artifacts/adopted_run.h"
#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/run_reports.h"
#include "app/run/handover.h"
#include "app/run/next_step.h"
#include "app/run/recorded_changes.h"
#include "app/run/run_head.h"
#include "app/run/run_record.h"
#include "app/run/signals.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "ci/attestation.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostArtifact = 1ull << 30;

/// The result of the picked attempt as it wrote it, or null.
Json own_result(const AttemptsEnd& end) {
  try {
    const fs::path file = end.out.path() / attempt_folder(end.picked.number) / "result.json";
    Json result = parse_json(read_file(file, kMostResultBytes));
    if (read_attempt_end(end.picked.number, result)) return result;
  } catch (const std::exception&) {
    // it has none: it was killed, or failed before it began
  }
  return {};
}

Json best_of_json(const AttemptsEnd& end) {
  const TaskBestOf& best_of = end.inputs.task.best_of;
  const bool known =
      std::all_of(end.attempts.begin(), end.attempts.end(), [](const AttemptEnd& one) {
        return one.cost.has_value() || one.status == AttemptEnd::kNotStarted;
      });
  Json json = Json::object({{"count", best_of.count},
                            {"parallel", best_of.parallel},
                            {"pick", name_of(best_of.pick)},
                            {"picked", end.picked.number},
                            {"turns", end.used.turns},
                            {"tool_calls", end.used.tool_calls},
                            {"tokens", end.used.tokens},
                            {"cost_usd", known ? Json::number(end.used.cost.exact()) : Json()},
                            {"duration_ms", static_cast<std::int64_t>(end.duration.count())}});
  if (end.lost.integer_at("turns") > 0 || end.lost.integer_at("time_ms") > 0)
    json.set("lost", end.lost);
  return json;
}

/// The outcome where no attempt has a result of its own.
RunResult outcome_without_result(const AttemptsEnd& end) {
  RunResult result;
  result.code = end.picked.code;
  result.reason = end.picked.reason;
  result.run_id = end.inputs.run_id;
  result.run_key = end.run_key;
  result.name = end.inputs.task.name;
  result.requested_model = end.inputs.task.model.name;
  result.started = std::chrono::system_clock::now() - end.duration;
  result.duration = end.duration;
  result.approval = name_of(end.inputs.approval);
  result.digests = {{"task", end.inputs.task.digest}, {"policy", end.inputs.policy.digest}};
  if (end.picked.status == AttemptEnd::kKilled) result.retryable = true;
  return result;
}

RunResult outcome_of(const Json& json) {
  RunResult result;
  result.code = static_cast<ExitCode>(json.integer_at("exit_code"));
  result.nothing_to_do = json.string_at("status") == "nothing-to-do";
  result.reason = json.string_at("reason");
  result.next = json.string_at("next");
  result.run_id = json.string_at("run_id");
  result.retryable = json["retryable"].boolean();
  for (const auto& [name, digest] : json["artifacts"].members())
    result.artifacts[name] = digest.text();
  return result;
}

std::string artifact(const AttemptsEnd& end, const std::string& name) {
  std::error_code error;
  const fs::path file = end.out.path() / name;
  return fs::is_regular_file(fs::symlink_status(file, error)) ? read_file(file, kMostArtifact)
                                                              : std::string();
}

void print(const std::string& text) {
  const int number = write_within(STDOUT_FILENO, text);
  if (number != 0 && number != EPIPE)
    throw Error("stdout: " + write_problem(number), ExitCode::environment);
}

/// The last event names the folder of the outputs: --out itself, for all attempts.
std::string with_out(const std::string& line, const fs::path& out) {
  Json event = parse_json(line);
  if (event.find("out") != nullptr) event.set("out", out.string());
  return write_json(event);
}

/// Events from the record, where they are not those of one process, for an attempt without any, and
/// where it could not be handed over.
void print_recorded_events(const AttemptsEnd& end, RunResult& result) {
  const Redactor redactor;
  const Signals signals;
  std::error_code error;
  const bool adopted = fs::exists(end.out.path() / kTranscriptName, error);
  const fs::path folder =
      adopted ? end.out.path() : end.out.path() / attempt_folder(end.picked.number);
  RunRecord record({.folder = folder,
                    .json = true,
                    .retries = end.inputs.task.model.retries,
                    .style = end.style},
                   redactor, result);
  if (beginning_of(folder / kTranscriptName) == Beginning::record) record.show_again();
  record.end_live_events(signals.token());
}

/// The events of the picked attempt: one thread, whole.
void print_events(const AttemptsEnd& end, RunResult& result) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  std::string events;
  if (end.events >= 0 && ::lseek(end.events, 0, SEEK_SET) == 0)
    events = read_to_end(end.events, {.max_bytes = kMostArtifact}).bytes;
  if (events.empty() || !end.picked.has_ended() || result.code != end.picked.code)
    return print_recorded_events(end, result);
  if (const std::size_t last = events.rfind('\n', events.size() - 2); last != std::string::npos)
    events = events.substr(0, last + 1) + with_out(events.substr(last + 1), end.out.path()) + "\n";
  print(events_for_stdout(std::move(events), terminal));
}

struct Message {
  std::string text;  ///< with the newline that its file has
  bool is_json = false;
};

Message message_of(const AttemptsEnd& end) {
  std::string json = artifact(end, "last-message.json");
  if (!json.empty()) return {std::move(json), true};
  return {artifact(end, "last-message.txt"), false};
}

/// The diff and the message, to where the flags want them.
void write_success(const AttemptsEnd& end, const RunResult& result) {
  const std::string diff = artifact(end, "changes.diff");
  const Message message = message_of(end);
  std::string_view bare = message.text;
  if (!bare.empty()) bare.remove_suffix(1);
  write_flag_files(end.options, diff, bare, {});
  if (end.options.diff == "-") print(diff);
  if (const std::string lack = lack_of_submodules(end.options, result.artifacts); !lack.empty())
    print_error("sortie: warning: " + lack + "\n");
}

/// It is in --out too, so an error is only told.
void print_message(const AttemptsEnd& end) {
  if (end.options.json || end.options.diff == "-" || end.options.silent) return;
  const Message message = message_of(end);
  try {
    if (!message.text.empty()) print(message_for_stdout(message.text, message.is_json));
  } catch (const Error& error) {
    print_error(std::string("sortie: ") + error.what() + "\n");
  }
}

/// The recordings of the others keep their names: FILE.attempt-2.
void take_recording(const AttemptsEnd& end) {
  if (end.options.record.empty()) return;
  std::error_code error;
  const fs::path own = end.options.record + "." + attempt_folder(end.picked.number);
  if (!fs::exists(own, error)) return;
  fs::rename(own, end.options.record, error);
  if (error) throw path_error("--record " + end.options.record, error.value());
}

/// Applies the picked diff to the workspace, if the flags say so.
void apply_diff(const AttemptsEnd& end, RunResult& result, Json& json) {
  if (!end.options.apply) return;
  end.apply.apply(read_recorded_changes(end.out.path(), end.inputs.workspace), end.out.path(),
                  result);
  json.set("applied", true);
  json.set("applied_paths", Json::strings(result.applied_paths));
  const std::string place = short_path(end.inputs.workspace);
  result.next = "look at the changes in " + (place == "." ? "this folder" : place);
  json.set("next", result.next);
}

/// The artifacts of the picked attempt are in --out by now: what to do names them there.
void name_in_out(const AttemptsEnd& end, RunResult& result, Json& json) {
  const fs::path out = end.options.out;
  const std::string its = (out / attempt_folder(end.picked.number) / "").string();
  const std::string ours = (out / "").string();
  for (std::size_t at = result.next.find(its); at != std::string::npos;
       at = result.next.find(its, at + ours.size()))
    result.next.replace(at, its.size(), ours);
  json.set("next", result.next);
}

/// What can't be handed over is no success; the attempt's own folder has all of it.
void withdraw(const AttemptsEnd& end, const std::exception& error, RunResult& result, Json& json) {
  end.apply.undo(result);
  end.out.remove_diffs();
  end.out.remove(kAttestationName);
  for (const char* name : kReportNames) {
    end.out.remove(name);
    result.artifacts.erase(name);
  }
  const std::string folder = attempt_folder(end.picked.number);
  if (result.code == ExitCode::success) {
    result = outcome_without_result(end);
    result.code = failure_of(error).code();
    if (result.code == ExitCode::usage) result.code = ExitCode::environment;
    result.next = "see " + (fs::path(end.options.out) / folder).string();
    if (end.options.apply) {
      result.applied = false;
      if (result.code == ExitCode::conflict)
        result.next =
            after_failed_apply((fs::path(end.options.out) / folder / "changes.diff").string());
    }
    // Without the result that they belong to, the copies prove nothing.
    end.out.remove(kTranscriptName);
    remove_tree(end.out.path() / "blobs");
    json = Json();
    remove_stale(end.options);
  }
  result.reason =
      std::string(error.what()) + "; " + folder + " has the artifacts of the picked attempt";
}

/// Other attempts may still come to something.
void tell_what_is_left(const AttemptsEnd& end, RunResult& result, Json& json) {
  const Json attempts = attempts_json(end.attempts);
  const std::string rest = go_on_with(attempts_left(result.code, attempts), attempts);
  if (rest.empty()) return;
  result.next = rest + (result.next.empty() ? "" : "; " + result.next);
  if (!json.is_null()) json.set("next", result.next);
}

/// Writes the reports of all attempts, of which the picked one has no own. They may be missing.
void write_reports_of_all(const AttemptsEnd& end, RunResult& result, Json& json) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(end.out.path() / kTranscriptName, error))) return;
  try {
    if (!end.unknown_secrets.empty()) throw Error(end.unknown_secrets);
    Json artifacts = json["artifacts"];
    for (const auto& [name, digest] : write_reports(end.out, json, end.redactor)) {
      artifacts.set(name, digest);
      result.artifacts[name] = digest;
    }
    json.set("artifacts", std::move(artifacts));
  } catch (const std::exception& problem) {
    print_error("sortie: warning: " + end.redactor.text(without_reports(problem.what())) + "\n");
  }
}

/// result.json, whole.
Json with_comparison(const AttemptsEnd& end, RunResult& result, Json json) {
  if (json.is_null()) json = result_json(result, Tally());
  json.set("best_of", best_of_json(end));
  json.set("attempts", attempts_json(end.attempts));
  json = Redactor().json(json, Audience::people);
  write_reports_of_all(end, result, json);
  set_comparison_digest(json);
  return json;
}

void write_end(const AttemptsEnd& end, const Json& json) {
  if (json["attestation"].is_string())
    end.out.write(kAttestationName, attestation_text(end.out.path(), result_text(json)));
  end.out.write("result.json", result_text(json));
}

}  // namespace

RunResult end_attempts(const AttemptsEnd& end) {
  Json json = own_result(end);
  RunResult result = json.is_null() ? outcome_without_result(end) : outcome_of(json);
  try {
    if (!json.is_null()) {
      adopt_run(end.out.path() / attempt_folder(end.picked.number), end.out);
      name_in_out(end, result, json);
    }
    take_recording(end);
    if (result.code == ExitCode::success) {
      apply_diff(end, result, json);
      write_success(end, result);
    }
    tell_what_is_left(end, result, json);
    write_end(end, with_comparison(end, result, json));
  } catch (const std::exception& error) {
    withdraw(end, error, result, json);
    try {
      write_end(end, with_comparison(end, result, json));
    } catch (const std::exception&) {
      // It says "running" then: the same command goes on.
    }
  }
  if (result.code == ExitCode::success) {
    end.apply.settle();
    print_message(end);
  }
  if (end.options.json) print_events(end, result);
  return result;
}

}  // namespace sortie

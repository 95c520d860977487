#include "app/run/attempts_end.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "app/artifacts/adopted_run.h"
#include "app/artifacts/flag_outputs.h"
#include "app/run/handover.h"
#include "app/run/run_record.h"
#include "app/show/events_jsonl.h"
#include "ci/attestation.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"

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
  return Json::object({{"count", best_of.count},
                       {"parallel", best_of.parallel},
                       {"pick", name_of(best_of.pick)},
                       {"picked", end.picked.number},
                       {"turns", end.used.turns},
                       {"tool_calls", end.used.tool_calls},
                       {"tokens", end.used.tokens},
                       {"cost_usd", known ? Json::number(end.used.cost.exact()) : Json()},
                       {"duration_ms", static_cast<std::int64_t>(end.duration.count())}});
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

/// The events of the picked attempt: one thread, whole.
void print_events(const AttemptsEnd& end, const RunResult& result) {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  std::string events;
  if (end.events >= 0 && ::lseek(end.events, 0, SEEK_SET) == 0)
    events = read_to_end(end.events, {.max_bytes = kMostArtifact}).bytes;
  if (events.empty() || !end.picked.has_ended()) {
    const Redactor redactor;
    EventsJsonl stream({.thread_id = result.run_id}, redactor,
                       [&events](std::string line) { events += line; });
    events.clear();
    stream.end({.code = result.code, .status = status_of(result), .reason = result.reason},
               {.next = result.next, .out = end.out.path().string()});
  } else if (const std::size_t last = events.rfind('\n', events.size() - 2);
             last != std::string::npos) {
    events = events.substr(0, last + 1) + with_out(events.substr(last + 1), end.out.path()) + "\n";
  }
  print(terminal ? for_terminal(events) : events);
}

/// The diff and the message, to where the flags want them.
void write_success(const AttemptsEnd& end) {
  const std::string diff = artifact(end, "changes.diff");
  const bool is_json = !artifact(end, "last-message.json").empty();
  std::string message = artifact(end, is_json ? "last-message.json" : "last-message.txt");
  std::string_view bare = message;
  if (!bare.empty()) bare.remove_suffix(1);
  write_flag_files(end.options, diff, bare, {});
  if (end.options.diff == "-")
    print(diff);
  else if (!end.options.json && !message.empty())
    print(message_for_stdout(message, is_json));
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

}  // namespace

RunResult end_attempts(const AttemptsEnd& end) {
  Json json = own_result(end);
  RunResult result = json.is_null() ? outcome_without_result(end) : outcome_of(json);
  try {
    if (!json.is_null()) adopt_run(end.out.path() / attempt_folder(end.picked.number), end.out);
    take_recording(end);
    if (result.code == ExitCode::success) write_success(end);
  } catch (const std::exception& error) {
    // What can't be handed over is no success; the attempt's own folder has all of it.
    end.out.remove("changes.diff");
    end.out.remove(kAttestationName);
    if (result.code == ExitCode::success) {
      result = outcome_without_result(end);
      result.code = ExitCode::environment;
      json = Json();
    }
    result.reason = std::string(error.what()) + "; " + attempt_folder(end.picked.number) +
                    " has the artifacts of the picked attempt";
  }
  if (json.is_null()) json = result_json(result, Tally());
  json.set("best_of", best_of_json(end));
  json.set("attempts", attempts_json(end.attempts));
  try {
    json = Redactor().json(json, Audience::people);
    if (json["attestation"].is_string())
      end.out.write(kAttestationName, attestation_text(end.out.path(), result_text(json)));
    write_result(end.out.path(), json, Redactor());
  } catch (const Error& error) {
    end.out.remove("changes.diff");
    end.out.remove(kAttestationName);
    result.code = ExitCode::environment;
    result.reason = error.what();
  }
  if (end.options.json) print_events(end, result);
  return result;
}

}  // namespace sortie

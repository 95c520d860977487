#include "app/run/returned_run.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/run_reports.h"
#include "app/inputs/thread_run.h"
#include "app/run/handover.h"
#include "app/run/later_secrets.h"
#include "app/run/next_step.h"
#include "app/run/recorded_changes.h"
#include "app/run/run_apply.h"
#include "app/run/run_head.h"
#include "app/run/run_record.h"
#include "app/run/signals.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "ci/attestation.h"
#include "ci/recorded_diff.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/anchor.h"
#include "core/record/diff_names.h"
#include "core/record/event_codec.h"
#include "core/record/run_history.h"
#include "core/record/transcript.h"
#include "core/text/shell_quote.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostDiff = 1u << 30;
constexpr std::uint64_t kMostMessage = 64u << 20;

/// The diffs of a success, by their names in --out.
using Diffs = std::map<std::string, std::string>;

bool was_not_applied(const Json& result) {
  return result["applied"].is_boolean() && !result["applied"].boolean();
}

/// Whether the tree does not have a recorded diff of the run.
bool lacks_diff(const fs::path& workspace, const OutputFolder& out) {
  const auto diffs = read_recorded_diffs(out.path() / kTranscriptName);
  return std::any_of(diffs.begin(), diffs.end(), [&](const RecordedDiff& diff) {
    return diff.record &&
           !is_in_tree(place_of(submodule_of_diff(diff.name), workspace), *diff.record);
  });
}

/// Whether the record still says that the diff is applied, and result.json no longer does.
bool was_taken_back(const OutputFolder& out, const Json& result) {
  if (!was_not_applied(result)) return false;
  const RunHistory history = read_run_history(out.path() / kTranscriptName);
  return history.end && history.end->result["applied"].boolean();
}

std::string partial_name(const std::string& name) {
  return diff_name(kPartialDiff, submodule_of_diff(name));
}

/// The recorded diffs of a success, wherever they lie by now; nothing if one is lost.
std::optional<Diffs> find_diffs(const fs::path& out, const RunEnd& success) {
  Diffs found;
  for (const auto& [whole, digest] : success.artifacts) {
    if (!is_diff_name(whole)) continue;
    for (const std::string& name : {whole, partial_name(whole)}) {
      TextFile file = read_bytes_file(out / name, kMostDiff);
      if (!file.problem.empty() || "sha256:" + sha256_hex(file.text) != digest) continue;
      found[whole] = std::move(file.text);
      break;
    }
    if (!found.contains(whole)) return std::nullopt;
  }
  if (!found.contains(kChangesDiff)) return std::nullopt;
  return found;
}

/// The end of a run that an earlier process has done the work of: it is recorded anew with what
/// becomes of --apply now.
class LateEnd {
 public:
  LateEnd(const OutputFolder& out, const RunInputs& inputs, const RunOptions& options)
      : out_(out),
        inputs_(inputs),
        options_(options),
        apply_(options, inputs),
        history_(read_run_history(out.path() / kTranscriptName)),
        transcript_(out.path(), clock_, {history_.records, history_.bytes, history_.last_digest},
                    inputs.policy.limits.transcript) {
    learn(redactor_, inputs.policy, known_secrets(inputs.policy, own_environment()).values);
    if (options.anchor.empty()) return;
    anchor_ = std::make_unique<Anchor>(options.anchor, history_.starts.front().run_id);
    transcript_.anchor_to(*anchor_);
  }

  /// The run as a success of which nothing is applied yet.
  /// @return  the diff of the workspace
  std::string begin() {
    Diffs diffs = find_diffs(out_.path(), success()).value_or(Diffs{{kChangesDiff, ""}});
    for (const auto& [name, diff] : diffs) out_.write(name, diff);
    RunEnd end = success();
    if (end.result["applied"].boolean() && !options_.apply)
      end.result.set("next", shell_line({"sortie", "land", options_.out}));
    end.result.set("applied", options_.apply ? Json(false) : Json());
    end.result.set("applied_paths", Json::array());
    record(end);
    for (const auto& [name, diff] : diffs) out_.remove(partial_name(name));
    return std::move(diffs[kChangesDiff]);
  }

  /// Applies the diff, if the flags say so. A failure is the outcome then.
  void apply() {
    if (!options_.apply) return;
    RunResult result;
    result.run_id = history_.starts.front().run_id;
    try {
      apply_.apply(read_recorded_changes(out_.path(), inputs_.workspace), out_.path(), result);
      RunEnd end = success();
      end.result.set("applied", true);
      end.result.set("applied_paths", Json::strings(result.applied_paths));
      end.result.set("next", "look at the changes in " + short_path(inputs_.workspace));
      report(end);
      record(end);
    } catch (const std::exception& error) {
      apply_.undo(result);
      fail(error);
    }
  }

  /// Once result.json says that the changes are applied.
  void settle() noexcept { apply_.settle(); }

 private:
  const RunEnd& success() const { return *history_.success; }

  void fail(const std::exception& error) {
    RunEnd end = success();
    end.code = failure_of(error).code();
    if (end.code == ExitCode::usage) end.code = ExitCode::environment;
    end.status = status_word(end.code);
    end.reason = error.what();
    rename_diffs(end);
    Json artifacts = Json::object();
    for (const auto& [name, digest] : end.artifacts) artifacts.set(name, digest);
    const std::pair<const char*, Json> members[] = {
        {"status", end.status},
        {"exit_code", static_cast<int>(end.code)},
        {"reason", end.reason},
        {"next", after_failed_apply((fs::path(options_.out) / kPartialDiff).string())},
        {"retryable", is_retryable(end.code)},
        {"applied", false},
        {"applied_paths", Json::array()},
        {"artifacts", artifacts},
        {"submodules", with_partial_names(end.result["submodules"])},
        {"attestation", Json()}};
    for (const auto& [name, value] : members) end.result.set(name, value);
    report(end);
    record(end);
    out_.remove_diffs();
    out_.remove(kAttestationName);
    remove_stale(options_);
  }

  /// Gives the diffs the names of those of a failure: in --out, in the end and in the record.
  void rename_diffs(RunEnd& end) {
    for (RecordedDiff& one : read_recorded_diffs(out_.path() / kTranscriptName)) {
      auto diff = end.artifacts.extract(one.name);
      if (!diff) continue;
      diff.key() = partial_name(one.name);
      out_.write(diff.key(), read_file(out_.path() / one.name, kMostDiff));
      if (one.record) {
        one.record->name = diff.key();
        transcript_.on(to_record({history_.used.turns, std::move(*one.record)}));
      }
      end.artifacts.insert(std::move(diff));
    }
  }

  static Json with_partial_names(const Json& submodules) {
    Json renamed = Json::array();
    for (Json one : submodules.items()) {
      one.set("diff", partial_name(one.string_at("diff")));
      renamed.push_back(std::move(one));
    }
    return renamed;
  }

  /// Makes summary.md and report.html anew for that end. They may be missing.
  void report(RunEnd& end) {
    const auto name_artifacts = [&end] {
      Json names = Json::object();
      for (const auto& [name, digest] : end.artifacts) names.set(name, digest);
      end.result.set("artifacts", std::move(names));
    };
    for (const char* name : kReportNames) end.artifacts.erase(name);
    name_artifacts();
    try {
      learn_later(redactor_, later_secrets_of(inputs_, options_));
      end.artifacts.merge(write_reports(out_, end.result, redactor_));
      name_artifacts();
    } catch (const std::exception& error) {
      print_error("sortie: warning: " + redactor_.text(without_reports(error.what())) + "\n");
    }
  }

  /// Adds the end, unless it is the last one already. result.json and the attestation follow it.
  void record(const RunEnd& end) {
    if (!history_.end || history_.end->result != end.result) {
      out_.sync();
      transcript_.on(to_record({history_.used.turns, end}));
      history_.end = end;
    }
    const Json result = result_of_record(end.result, transcript_.last_digest());
    if (result["attestation"].is_string())
      out_.write(kAttestationName, attestation_text(out_.path(), result_text(result)),
                 Synced::content);
    out_.write("result.json", result_text(result));
  }

  const OutputFolder& out_;
  const RunInputs& inputs_;
  const RunOptions& options_;
  RunApply apply_;
  SystemClock clock_;
  RunHistory history_;
  Transcript transcript_;
  Redactor redactor_;
  std::unique_ptr<Anchor> anchor_;
};

Json read_result(const OutputFolder& out) {
  return parse_json(read_file(out.path() / "result.json", kMostResultBytes));
}

RunResult outcome_of(const Json& json) {
  RunResult result;
  result.code = static_cast<ExitCode>(json.integer_at("exit_code"));
  result.nothing_to_do = json.string_at("status") == "nothing-to-do";
  result.run_id = json.string_at("run_id");
  result.reason = json.string_at("reason");
  result.next = json.string_at("next");
  for (const auto& [name, digest] : json["artifacts"].members())
    result.artifacts[name] = digest.text();
  return result;
}

AgentWork::Answer answer_of(const OutputFolder& out, const Json& json) {
  const char* const answer = "last-message.json";
  const bool is_json = json["artifacts"].find(answer) != nullptr;
  std::string message =
      read_bytes_file(out.path() / (is_json ? answer : "last-message.txt"), kMostMessage).text;
  if (!message.empty()) message.pop_back();
  return {.text = std::move(message), .is_json = is_json};
}

void say_cached(const OutputFolder& out, Json json) {
  json.set("cached", true);
  // It names the digest of result.json.
  if (json["attestation"].is_string())
    out.write(kAttestationName, attestation_text(out.path(), result_text(json)), Synced::content);
  out.write("result.json", result_text(json));
}

/// A run that was killed behind its last record may not have anchored it.
void anchor_end(const OutputFolder& out, const RunOptions& options) {
  std::error_code error;
  if (options.anchor.empty() || !fs::exists(out.path() / "state", error)) return;
  const RunHistory history = read_run_history(out.path() / kTranscriptName);
  Anchor(options.anchor, history.starts.front().run_id)
      .write(history.records - 1, history.last_digest);
}

/// Makes the reports that a full disk kept the run from writing. The record stays as it was: it names
/// none.
void make_missing_reports(const OutputFolder& out, const RunInputs& inputs,
                          const RunOptions& options, const Json& json, RunResult& result) {
  const ThreadRun* const thread = options.thread;
  if (thread != nullptr && !thread->own_out) return;
  if (json["artifacts"].find(kReportNames[0]) != nullptr) return;
  try {
    Redactor redactor;
    learn(redactor, inputs.policy, known_secrets(inputs.policy, own_environment()).values);
    learn_later(redactor, later_secrets_of(inputs, options));
    result.artifacts.merge(write_reports(out, json, redactor));
  } catch (const std::exception& error) {
    print_error("sortie: warning: " + without_reports(error.what()) + "\n");
  }
}

}  // namespace

bool is_done_but_for_handover(const OutputFolder& out, const Json& result, bool killed) {
  const auto code = static_cast<ExitCode>(result.integer_at("exit_code", -1));
  if (killed && code == ExitCode::success) return true;
  if (!was_not_applied(result)) return false;
  if (code != ExitCode::success && code != ExitCode::environment && code != ExitCode::conflict)
    return false;
  const RunHistory history = read_run_history(out.path() / kTranscriptName);
  return history.success && find_diffs(out.path(), *history.success);
}

Json as_the_tree_is(Json result, const OutputFolder& out, const fs::path& workspace) {
  if (result["applied"].boolean() && lacks_diff(workspace, out)) {
    result.set("applied", false);
    result.set("applied_paths", Json::array());
  }
  return result;
}

bool apply_is_due(const OutputFolder& out, const RunInputs& inputs, const RunOptions& options,
                  const Json& result) {
  return options.apply && (!result["applied"].boolean() || lacks_diff(inputs.workspace, out));
}

ExitCode return_found_run(const OutputFolder& out, const RunInputs& inputs,
                          const RunOptions& options, const OutputStyle& style) {
  Json json = read_result(out);
  const auto found = static_cast<ExitCode>(json.integer_at("exit_code"));
  const bool by_itself = json.find("best_of") == nullptr;  // for attempts it is done by their end
  const bool due = found == ExitCode::success ? apply_is_due(out, inputs, options, json) ||
                                                    (by_itself && was_taken_back(out, json))
                                              : is_done_but_for_handover(out, json, false);
  if (by_itself) anchor_end(out, options);
  std::unique_ptr<LateEnd> late;
  if (by_itself && due) late = std::make_unique<LateEnd>(out, inputs, options);
  std::string diff = late ? late->begin() : "";
  if (late) json = read_result(out);
  if (!late && found == ExitCode::success)
    diff = read_bytes_file(out.path() / kChangesDiff, kMostDiff).text;
  RunResult result = outcome_of(json);
  const Redactor redactor;
  const Signals signals;
  RunRecord record({.folder = out.path(),
                    .json = options.json,
                    .retries = inputs.task.model.retries,
                    .style = style},
                   redactor, result);
  Handover handover({options, out, redactor, nullptr, nullptr, &signals, record, result});
  handover.take(answer_of(out, json));
  if (result.code == ExitCode::success) handover.hand_out(diff);
  if (late) {
    late->apply();
    json = read_result(out);
    result = outcome_of(json);
  }
  const bool success = result.code == ExitCode::success;
  if (success || !late) {
    say_cached(out, json);
    if (!late) make_missing_reports(out, inputs, options, json, result);
    result.reason = "returned as it was (cached): " + result.reason;
  }
  if (late) late->settle();
  if (options.json) {
    record.show_again();
    record.end_live_events(signals.token());
  } else if (success && options.diff != "-") {
    handover.print_message();
  }
  record.say_last(last_line(result, "", options.out, redactor), signals.token());
  return result.code;
}

}  // namespace sortie

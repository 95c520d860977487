#include "ci/result_check.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "ci/attempts.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/diff_names.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShown = 120;
constexpr std::size_t kSha256 = std::string_view("sha256:").size();
constexpr std::uint64_t kMostResult = 64u << 20;

std::string shown(const Json& value) { return one_line(write_json(value), kShown); }

/// The first member in which two values differ: "usage.total.input_tokens is 7, but SOURCE says 8".
std::string first_difference(const std::string& name, const Json& is, const Json& said,
                             const std::string& source) {
  if (is == said) return "";
  if (!is.is_object() || !said.is_object())
    return name + " is " + shown(is) + ", but " + source + " says " + shown(said);
  const auto below = [&](const std::string& member) {
    return name.empty() ? member : name + "." + member;
  };
  for (const auto& [member, value] : said.members()) {
    const Json* found = is.find(member);
    if (found == nullptr) return below(member) + " is missing; " + source + " has it";
    if (auto mismatch = first_difference(below(member), *found, value, source); !mismatch.empty())
      return mismatch;
  }
  for (const auto& [member, value] : is.members())
    if (said.find(member) == nullptr) return below(member) + " is there, but not in " + source;
  return "";  // the same members in another order
}

// What is held of a transcript is bounded, however many records somebody has put into it.
constexpr std::size_t kMostCommands = 10'000;  ///< of one round
constexpr std::size_t kMostStages = 1000;
constexpr std::size_t kMostDiffs = 1000;
constexpr std::size_t kMostText = 500;  ///< bytes

/// The text, if it is no longer than such texts are.
std::string short_text(const std::string& text) {
  return text.size() <= kMostText ? text : "a text of " + std::to_string(text.size()) + " bytes";
}

/// What is compared of a verification.
struct VerifiedCommand {
  std::string command;
  bool passed = false;
  ExitStatus exit;
  std::string tree;
  std::string diff;
};

/// What is compared of the record of a diff.
struct SummedDiff {
  std::string name;
  std::string sha256;
  std::string base;
  std::string base_commit;
  std::string submodule;
  std::size_t files = 0;
};

/// The sums of a run's records.
struct Replayed {
  Tally tally;
  std::deque<VerifiedCommand> after;  ///< the last ones of phase "after"
  std::optional<RunStart> start;      ///< the first one
  std::string isolation;              ///< of the last start: it may go on in another one
  std::vector<StageCompleted> stages;
  std::vector<SummedDiff> diffs;
  std::optional<RunEnd> completed;  ///< the last one of the last start, if any
  std::string too_many{};           ///< records that no run has so many of, or ""

  void take(const StageCompleted& stage);
  void take(const DiffWritten& diff);
  void take(const VerificationCompleted& verified);
};

/// A later record of a stage takes the place of the earlier one.
void Replayed::take(const StageCompleted& stage) {
  const auto same = std::find_if(stages.begin(), stages.end(),
                                 [&](const StageCompleted& one) { return one.name == stage.name; });
  if (same != stages.end())
    *same = stage;
  else if (stages.size() < kMostStages)
    stages.push_back(stage);
  else
    too_many = "stages";
}

void Replayed::take(const DiffWritten& diff) {
  const SummedDiff sum{short_text(diff.name),      short_text(diff.sha256),
                       short_text(diff.base),      short_text(diff.base_commit),
                       short_text(diff.submodule), diff.files.size()};
  const auto same = std::find_if(diffs.begin(), diffs.end(), [&](const SummedDiff& one) {
    return one.name == sum.name && one.sha256 == sum.sha256;
  });
  if (same != diffs.end())
    *same = sum;
  else if (diffs.size() < kMostDiffs)
    diffs.push_back(sum);
  else
    too_many = "different diffs";
}

void Replayed::take(const VerificationCompleted& verified) {
  if (verified.phase != VerificationPhase::after) return;
  after.push_back({one_line(verified.command, kShown), verified.passed, verified.exit,
                   short_text(verified.tree), short_text(verified.diff)});
  if (after.size() > kMostCommands) after.pop_front();
}

Replayed replay(const fs::path& transcript) {
  Replayed run;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    const auto seen = record.event();
    if (!seen) return;
    // The transcript's own remark, which is made beside the run's events.
    const auto* hit = std::get_if<CheckRecord>(&seen->what);
    if (hit && hit->check == "transcript_limit") return;
    const bool whole = std::holds_alternative<CallDecided>(seen->what) ||
                       std::holds_alternative<VerificationCompleted>(seen->what) ||
                       std::holds_alternative<DiffWritten>(seen->what) ||
                       std::holds_alternative<RunStart>(seen->what) ||
                       std::holds_alternative<RunEnd>(seen->what);
    const RunEvent event = whole ? event_with_blobs(record, transcript) : *seen;
    run.tally.on(event);
    if (const auto* start = std::get_if<RunStart>(&event.what)) {
      if (!run.start) run.start = *start;
      run.isolation = start->workspace.isolation;
      run.completed.reset();  // it goes on
    }
    if (const auto* stage = std::get_if<StageCompleted>(&event.what)) run.take(*stage);
    if (const auto* diff = std::get_if<DiffWritten>(&event.what)) run.take(*diff);
    if (const auto* end = std::get_if<RunEnd>(&event.what)) run.completed = *end;
    if (const auto* verified = std::get_if<VerificationCompleted>(&event.what)) run.take(*verified);
  });
  return run;
}

/// What is said to be verified, against the diff that the run leaves.
std::string verified_diff_mismatch(const Json& result) {
  const Json& verification = result["verification"];
  const Json& diff = result["artifacts"]["changes.diff"];
  if (!result["verified"].boolean() || verification.string_at("in") != "fresh" || diff.is_null())
    return "";
  std::map<std::string, std::string> digests;
  for (const auto& [name, digest] : result["artifacts"].members()) digests[name] = digest.text();
  const Json all = digest_of_diffs(digests);
  if (verification["diff"] == all) return "";
  return "verification.diff, the diff that was verified, is " + shown(verification["diff"]) +
         ", but " + (all == diff ? "changes.diff is " : "that of all diffs is ") + shown(all);
}

/// The commands of the last round, against the last records of verifications.
std::string verification_mismatch(const Json& result, const std::deque<VerifiedCommand>& records) {
  const Json& round = result["verification"]["after"];
  if (result["verified"].boolean() && !round["passed"].boolean())
    return "verified is true, but no verification has passed";
  if (!round.is_object()) return "";
  const auto& commands = round["commands"].items();
  if (commands.size() > records.size())
    return "verification.after has more commands than the transcript";
  bool passed = true;
  const std::string tree = result["verification"].string_at("in");
  const std::string diff = result["verification"].string_at("diff");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const VerifiedCommand& record = records[records.size() - commands.size() + i];
    passed = passed && record.passed;
    const bool same = commands[i]["passed"] == Json(record.passed) &&
                      commands[i]["exit_code"] == Json(record.exit.code) &&
                      commands[i]["ending"] == Json(name_of(record.exit.ending));
    if (!same)
      return "verification.after.commands[" + std::to_string(i) + "] is " + shown(commands[i]) +
             ", but its record says " + shown(to_json(record.exit));
    if (result["verified"].boolean() && (record.tree != tree || record.diff != diff))
      return "verification.in and verification.diff are " + shown(tree) + " and " + shown(diff) +
             ", but the record of '" + record.command + "' says " + shown(record.tree) + " and " +
             shown(record.diff);
  }
  if (round["passed"].boolean() && !passed)
    return "verification.after.passed is true, but a record says that a command failed";
  return verified_diff_mismatch(result);
}

/// What run.started says, against the result.
/// @param isolation  that in which the run ended
std::string start_mismatch(const Json& result, const RunStart& start,
                           const std::string& isolation) {
  const std::string source = "run.started";
  const Json digests = result["digests"];
  const struct {
    const char* name;
    const Json& is;
    const std::string& said;
  } rows[] = {{"run_id", result["run_id"], start.run_id},
              {"run_key", result["run_key"], start.run_key},
              {"digests.task", digests["task"], start.task.digest},
              {"digests.policy", digests["policy"], start.policy.digest},
              {"isolation.mode", result["isolation"]["mode"], isolation}};
  for (const auto& row : rows)
    if (auto mismatch = first_difference(row.name, row.is, row.said, source); !mismatch.empty())
      return mismatch;
  return "";
}

/// The stages that ended, against their last records: a run that is resumed ends a stage again.
std::string stages_mismatch(const Json& result, const std::vector<StageCompleted>& records) {
  std::set<std::string> known;
  for (const Json& stage : result["stages"].items()) {
    const std::string name = stage.string_at("name");
    known.insert(name);
    const StageCompleted* record = nullptr;
    for (const StageCompleted& one : records)
      if (one.name == name) record = &one;
    const std::string ended = stage.string_at("ended");
    const std::string said = record == nullptr        ? "not-started"
                             : record->reason.empty() ? "completed"
                                                      : "failed";
    if (ended != said || (record != nullptr && stage.integer_at("turns") != record->turns))
      return "stages: " + shown(stage) + " differs from its record";
  }
  for (const StageCompleted& record : records)
    if (known.count(record.name) == 0) return "stages lacks " + shown(Json(record.name));
  return "";
}

/// The record of an artifact that is a diff; null: a redacted one, or of an earlier version of
/// sortie.
const SummedDiff* record_of(const std::string& name, const Json& digest,
                            const std::vector<SummedDiff>& records) {
  const SummedDiff* found = nullptr;
  for (const SummedDiff& one : records)
    if (one.name == name && "sha256:" + one.sha256 == digest.text()) found = &one;
  return found;
}

/// Compares members of the result with what a diff's record says.
std::string said_mismatch(const std::string& place, const Json& said, std::uint64_t files,
                          const SummedDiff& record) {
  const std::pair<const char*, Json> rows[] = {
      {"changed_files", files},
      {"base", record.base},
      {"head_commit", record.base_commit.empty() ? Json() : Json(record.base_commit)}};
  for (const auto& [member, value] : rows)
    if (auto mismatch =
            first_difference(place + member, said[member], value, "the record of " + record.name);
        !mismatch.empty())
      return mismatch;
  return "";
}

/// The list of submodules, against the diffs of such.
std::string submodules_mismatch(const Json& result, const std::vector<SummedDiff>& records) {
  std::set<std::string> listed;
  for (const Json& said : result["submodules"].items()) {
    const std::string name = said.string_at("diff");
    const Json* digest = result["artifacts"].find(name);
    if (digest == nullptr || said.string_at("path") != submodule_of_diff(name) ||
        !listed.insert(name).second)
      return "submodules: " + shown(said) + " is no artifact of its own";
    const SummedDiff* record = record_of(name, *digest, records);
    if (record == nullptr) continue;
    if (auto mismatch = said_mismatch("submodules." + name + ".", said, record->files, *record);
        !mismatch.empty())
      return mismatch;
  }
  for (const auto& [name, digest] : result["artifacts"].members())
    if (!submodule_of_diff(name).empty() && !listed.contains(name))
      return "submodules lacks " + shown(Json(name));
  return "";
}

/// What is said of the changes, against the records of the diffs that the result names.
std::string diff_mismatch(const Json& result, const std::vector<SummedDiff>& records) {
  const SummedDiff* main = nullptr;
  std::uint64_t files = 0;
  for (const auto& [name, digest] : result["artifacts"].members()) {
    if (!is_diff_name(name)) continue;
    const SummedDiff* record = record_of(name, digest, records);
    if (record == nullptr) return "";
    files += record->files;
    if (record->submodule.empty()) main = record;
  }
  if (main != nullptr)
    if (auto mismatch = said_mismatch("", result, files, *main); !mismatch.empty()) return mismatch;
  return submodules_mismatch(result, records);
}

/// Compares the sums of the records with those of result.json.
std::string sums_mismatch(const Json& result, const Replayed& run) {
  RunResult none;
  none.duration = std::chrono::milliseconds(result["durations"].integer_at("total_ms"));
  // As people get it: the records themselves are redacted already.
  const Json sums = Redactor().json(result_json(none, run.tally), Audience::people);
  const std::string source = "the sum of the transcript's records";
  std::vector<const char*> members = {"usage", "counts", "durations", "denials", "audited"};
  // Results of older versions lack it.
  if (result.find("network_denials") != nullptr) members.push_back("network_denials");
  for (const char* member : members)
    if (auto mismatch = first_difference(member, result[member], sums[member], source);
        !mismatch.empty())
      return mismatch;
  if (auto mismatch = first_difference("model.served", result["model"]["served"],
                                       sums["model"]["served"], source);
      !mismatch.empty())
    return mismatch;
  if (auto mismatch = stages_mismatch(result, run.stages); !mismatch.empty()) return mismatch;
  if (auto mismatch = diff_mismatch(result, run.diffs); !mismatch.empty()) return mismatch;
  return verification_mismatch(result, run.after);
}

constexpr int kDeepestKept = 200;  ///< as in a run's tree

/// The first file in kept/ that the result does not name, or "".
std::string unknown_kept(const Json& kept, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return "";
  if (!fs::is_directory(fs::symlink_status(folder, error))) return "kept is not a folder";
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry.depth() > kDeepestKept)
      return "kept/" + one_line(entry->path().lexically_relative(folder).string(), kShown) +
             " is nested too deeply";
    if (fs::is_directory(entry->symlink_status(error))) continue;
    const std::string name = entry->path().lexically_relative(folder).string();
    if (kept.find(name) == nullptr)
      return "kept/" + one_line(name, kShown) + " was added: the run did not keep it";
  }
  return error ? "kept can't be listed: " + error.message() : "";
}

std::string kept_mismatch(const Json& result, const fs::path& folder) {
  for (const auto& [name, digest] : result["kept"].members()) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.is_absolute() || relative.empty() || *relative.begin() == "..")
      return "kept names " + one_line(name, kShown) + ", which leads elsewhere";
    const fs::path file = folder / "kept" / relative;
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(file, error)))
      return "kept/" + one_line(name, kShown) + " is missing";
    if ("sha256:" + sha256_hex(read_file(file)) != digest.text())
      return "kept/" + one_line(name, kShown) + " is not what was kept";
  }
  return unknown_kept(result["kept"], folder / "kept");
}

/// Whether the member is added to a result later, so that its transcript does not know it. For the
/// picked one of several attempts that is also what was applied: digests.attempts has these.
bool is_added(const Json& result, const std::string& member) {
  if (member == "best_of" || member == "attempts" || member == "cached") return true;
  return result.find("best_of") != nullptr &&
         (member == "applied" || member == "applied_paths" || member == "next");
}

/// Nothing that the transcript does not know: its own last digest, and what was added later.
Json without_added(const Json& result, const Json& now) {
  Json digests = Json::object();
  for (const auto& [name, value] : result["digests"].members())
    if (name != "transcript" && name != "attempts") digests.set(name, value);
  Json own = Json::object();
  for (const auto& [name, value] : result.members())
    if (!is_added(now, name)) own.set(name, value);
  own.set("digests", std::move(digests));
  if (now.find("best_of") == nullptr) return own;
  Json artifacts = Json::object();
  for (const auto& [name, digest] : result["artifacts"].members())
    if (!is_report_of_attempts(name)) artifacts.set(name, digest);
  own.set("artifacts", std::move(artifacts));
  return own;
}

/// The bytes of result.json, made from the recorded result, and from the digest of the last record and
/// what was added later, which it has itself.
std::string remade_text(const Json& recorded, const Json& now) {
  const std::string digest = now["digests"].string_at("transcript");
  Json known = recorded;
  if (const Json* attempts = now["digests"].find("attempts")) {
    Json digests = recorded["digests"];
    digests.set("attempts", *attempts);
    known.set("digests", std::move(digests));
  }
  Json result = result_of_record(known, digest.substr(std::min(kSha256, digest.size())));
  for (const auto& [name, value] : now.members())
    if (is_added(now, name)) result.set(name, value);
  if (now.find("best_of") != nullptr) result.set("artifacts", now["artifacts"]);
  return result_text(result);
}

std::string mismatch_of(const fs::path& folder, const fs::path& file, const Replayed& run) {
  Json result;
  std::string text;
  try {
    text = read_file(file, kMostResult);
    result = parse_json(text);
  } catch (const std::exception& error) {
    return std::string("can't be read: ") + error.what();
  }
  if (result.string_at("status") == "running")
    return "status is \"running\", but the transcript has the run's end";
  if (run.completed->result.is_object()) {
    if (auto mismatch =
            first_difference("", without_added(result, result),
                             without_added(run.completed->result, result), "the transcript");
        !mismatch.empty())
      return mismatch;
  }
  if (run.start)
    if (auto mismatch = start_mismatch(result, *run.start, run.isolation); !mismatch.empty())
      return mismatch;
  if (auto mismatch = sums_mismatch(result, run); !mismatch.empty()) return mismatch;
  if (run.completed->result.is_object() && text != remade_text(run.completed->result, result))
    return "has the right members, but other bytes than sortie writes";
  if (auto mismatch = attempts_mismatch(result, folder); !mismatch.empty()) return mismatch;
  return kept_mismatch(result, folder);
}

}  // namespace

std::string result_mismatch(const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const fs::path transcript = is_folder ? path / kTranscriptName : path;
  const fs::path folder = is_folder ? path : transcript.parent_path();
  const fs::path file = folder / "result.json";
  const bool there = fs::exists(fs::symlink_status(file, error));
  if (!is_folder && (!there || transcript.filename() != kTranscriptName)) return "";
  const Replayed run = replay(transcript);
  if (!run.too_many.empty())
    return std::string(kTranscriptName) + ": has more " + run.too_many + " than a run can have";
  if (!run.completed) return "";  // it has not ended: verify_run has judged that
  if (!there) return "result.json is missing, though the transcript has the run's end";
  // A pipe would be waited for without end.
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return "result.json is not a file";
  const std::string mismatch = mismatch_of(folder, file, run);
  return mismatch.empty() ? "" : "result.json: " + mismatch;
}

}  // namespace sortie

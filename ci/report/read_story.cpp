#include "ci/report/read_story.h"

#include <algorithm>
#include <set>

#include "ci/report/bounded_record.h"
#include "ci/report/diff_story.h"
#include "ci/report/known_number.h"
#include "ci/report/redact_story.h"
#include "ci/report/story_maker.h"
#include "core/base/error.h"
#include "core/base/exit_code.h"
#include "core/files/file_name.h"
#include "core/record/diff_names.h"
#include "core/record/run_history.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kMostMessage = 64u << 10;
constexpr std::size_t kMostAnswer = 8u << 20;
/// Read of both ends of a long answer in words: more than is shown of it.
constexpr std::size_t kWords = 256u << 10;
constexpr std::size_t kMostFindings = 1000;
constexpr std::size_t kMostFindingText = 4096;
constexpr std::size_t kMostPaths = 500;
constexpr std::size_t kMostAttemptsShown = 100;
constexpr std::size_t kMostResult = 64u << 20;

/// Records that only the model needs are not parsed: they are the largest ones.
bool is_for_people(std::string_view line) {
  return line.substr(0, 160).find(R"("type":"model.request")") == line.npos;
}

/// The exit code of that end; -1 where code and status do not belong together.
int known_code(std::int64_t code, const std::string& status) {
  if (code == 0 && status == "nothing-to-do") return 0;
  for (const ExitCodeRow& row : exit_code_table())
    if (static_cast<int>(row.code) == code && status == row.status) return static_cast<int>(code);
  return -1;
}

/// What ended the story before the record did.
struct Broken {
  std::string problem{};     ///< "": nothing
  std::uint64_t record = 0;  ///< its number, from 1
};

/// Reads what can be read: a record that is torn or was changed ends the story.
Broken read_events(const fs::path& transcript, const Redactor* redactor, StoryMaker& maker) {
  std::string problem;
  std::uint64_t number = 0;
  each_record_line(transcript, [&](std::string_view line) {
    ++number;
    if (line.size() <= kLongestLine && !is_for_people(line)) return true;
    try {
      const TranscriptRecord record = parse_record(line);
      const auto event = bounded_event(record, transcript, redactor);
      if (event)
        maker.on(event->event, time_of_timestamp(record.timestamp), event->cut_from_output);
      return true;
    } catch (const std::exception& error) {
      problem = transcript.filename().string() + ":" + std::to_string(number) + ": " + error.what();
      return false;
    }
  });
  return {.problem = visible_line(problem), .record = number};
}

void take_verdict(const std::optional<RunEnd>& end, const Json& result, const Broken& broken,
                  StoryVerdict& verdict) {
  if (!end && result.is_null() && !broken.problem.empty()) {
    verdict.cause = "cut: record " + std::to_string(broken.record) + " can't be read";
    return;
  }
  if (!end && result.is_null()) {
    verdict.cause = "the run has not ended: it is at work, or it was killed";
    verdict.next = "the same command takes it up again";
    return;
  }
  verdict.ended = true;
  const std::string status = result.string_at(
      "status", end ? (end->status.empty() ? status_word(end->code) : end->status) : "unfinished");
  verdict.code = known_code(
      result.integer_at("exit_code", end ? static_cast<std::int64_t>(end->code) : -1), status);
  verdict.status = visible_line(status);
  verdict.cause = visible_line(result.string_at("reason", end ? end->reason : ""), 2000);
  verdict.next = visible_line(result.string_at("next"), 2000);
  verdict.retryable = result["retryable"].boolean();
  verdict.retry_after_s = result["retry_after_s"].integer();
  if (result["verified"].is_boolean()) verdict.verified = result["verified"].boolean();
}

void take_setting(const Json& result, RunStory& story) {
  StorySetting& setting = story.setting;
  setting.approval = visible_line(result.string_at("approval"));
  if (setting.task_name.empty()) setting.task_name = visible_line(result.string_at("name"));
  for (const auto& [name, value] : result["guarantees"].members())
    setting.guarantees.push_back({visible_line(name, 100), value["proved"].boolean(),
                                  visible_line(value.string_at("detail"))});
  std::set<std::string> told(story.warnings.begin(), story.warnings.end());
  for (const std::string& each : result["warnings"].texts()) {
    const std::string warning = visible_line(each, 1000);
    if (told.insert(warning).second) story.warnings.push_back(warning);
  }
  if (!result["stages"].items().empty()) {
    story.stages.clear();
    for (const Json& stage : result["stages"].items())
      story.stages.push_back({visible_line(stage.string_at("name"), 100), stage.integer_at("turns"),
                              visible_line(stage.string_at("ended"))});
  }
}

void take_times(const Json& result, RunStory& story) {
  milliseconds own(0);
  for (const StoryTurn& turn : story.turns) own = known_sum(own, turn.times.own);
  const Json& durations = result["durations"];
  story.times.own = durations.is_object() ? milliseconds(durations.integer_at("own_ms")) : own;
}

/// The diff that the end names. @return  its artifacts, by name
std::vector<std::string> diff_names_of(const Json& result) {
  std::vector<std::string> names;
  for (const auto& [name, digest] : result["artifacts"].members())
    if (is_diff_name(name) && is_plain_path(name)) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return submodule_of_diff(a).empty() && !submodule_of_diff(b).empty();
  });
  return names;
}

/// Without the diff itself, its record names its files.
void take_recorded_files(const std::vector<DiffWritten>& diffs, StoryChanges& changes) {
  const auto has_files = [](const DiffWritten& diff) { return !diff.files.empty(); };
  if (std::any_of(diffs.begin(), diffs.end(), has_files))
    changes.added = changes.removed = kUnknown;
  for (const DiffWritten& diff : diffs)
    for (const DiffedFile& one : diff.files) {
      StoryFile file{.path = visible_line(one.path, 4096),
                     .old_path = visible_line(one.old_path, 4096),
                     .submodule = visible_line(diff.submodule, 4096),
                     .added = kUnknown,
                     .removed = kUnknown};
      file.kind = !one.before            ? StoryFileKind::added
                  : !one.after           ? StoryFileKind::deleted
                  : one.old_path.empty() ? StoryFileKind::modified
                                         : StoryFileKind::renamed;
      if (changes.files.size() < kMostPaths)
        changes.files.push_back(std::move(file));
      else
        ++changes.more_files;
    }
}

/// Says of each file who wrote it.
void take_writers(const StoryMaker& maker, const Json& result, StoryChanges& changes) {
  std::map<std::string, std::string> prefixes;  // by submodule: of workspace paths in its diff
  std::string prefix;
  for (const DiffWritten& diff : maker.diffs())
    if (diff.submodule.empty()) prefix = diff.prefix;
  std::map<std::string, std::pair<StoryMaker::Writers, bool>> known;
  for (const auto& [path, writers] : maker.writers())
    known[visible_line(prefix + path, 4096)].first = writers;
  for (const std::string& path : result["verification"]["changed"].texts())
    known[visible_line(prefix + path, 4096)].second = true;
  for (StoryFile& file : changes.files) {
    const std::string path =
        file.submodule.empty() ? file.path : prefix + file.submodule + "/" + file.path;
    const auto found = known.find(path);
    if (found == known.end()) continue;
    file.by_agent = found->second.first.agent;
    file.by_command = found->second.first.command;
    file.by_verification = found->second.second;
  }
}

void take_left_out(const Json& result, StoryChanges& changes) {
  const auto add = [&changes](const std::string& path, const std::string& why,
                              const std::string& detail) {
    if (changes.left_out.size() < kMostPaths)
      changes.left_out.push_back(
          {visible_line(path, 4096), visible_line(why), visible_line(detail)});
  };
  for (const Json& one : result["left_out"].items())
    add(one.string_at("path"), one.string_at("reason"), one.string_at("detail"));
  for (const std::string& path : result["ignored_changes"].texts())
    add(path, "ignored", "git ignores it");
  for (const std::string& path : result["conflicts"].texts())
    changes.conflicts.push_back(visible_line(path, 4096));
  if (result["applied"].is_boolean()) changes.applied = result["applied"].boolean();
}

void take_changes(const fs::path& folder, const StoryMaker& maker, const Json& result,
                  StoryChanges& changes) {
  for (const std::string& name : diff_names_of(result)) {
    if (changes.name.empty()) changes.name = name;
    add_diff(folder / name, submodule_of_diff(name), changes);
  }
  if (changes.files.empty()) take_recorded_files(maker.diffs(), changes);
  take_writers(maker, result, changes);
  take_left_out(result, changes);
}

/// The answer of a review: {"findings": […]}, or the list alone.
void take_findings(const std::string& text, RunStory& story) {
  Json answer;
  try {
    answer = parse_json(text);
  } catch (const JsonError&) {
    return;
  }
  for (const Json& one : (answer.is_array() ? answer : answer["findings"]).items()) {
    if (!one.is_object()) continue;
    if (story.findings.size() >= kMostFindings) {
      ++story.more_findings;
      continue;
    }
    const auto words = [&one](const char* name) {
      return visible_text(utf8_prefix(one.string_at(name), kMostFindingText));
    };
    story.findings.push_back({.file = visible_line(one.string_at("file"), 4096),
                              .line = one.integer_at("line"),
                              .severity = visible_line(one.string_at("severity"), 100),
                              .message = words("message"),
                              .suggestion = words("suggestion")});
  }
}

/// @return  whether the file has a message
bool take_message_of(const fs::path& file, RunStory& story) {
  std::uint64_t size = 0;
  open_regular(file, size);
  std::string text = read_part(file, 0, kWords);
  if (text.empty()) return false;
  const std::string_view first = trimmed(text).substr(0, 1);
  const bool may_be_json = first.empty() || first == "{" || first == "[";
  std::uint64_t between = 0;
  if (may_be_json || size <= 2 * kWords) {
    text = read_part(file, 0, kMostAnswer);
    if (may_be_json) take_findings(text, story);
  } else {  // words, of which the beginning and the end are shown
    between = size - 2 * kWords;
    text += read_part(file, kWords + between, kWords);
  }
  story.message = excerpt_of(trimmed(text), {.head = kMostMessage, .tail = 4096}, between);
  return true;
}

void take_message(const fs::path& folder, const Json& result, RunStory& story) {
  for (const char* name : {"last-message.txt", "last-message.json"})
    if (result["artifacts"].find(name) != nullptr && take_message_of(folder / name, story)) return;
  for (auto turn = story.turns.rbegin(); turn != story.turns.rend(); ++turn)
    if (!turn->aside && turn->calls.empty() && !turn->words.empty()) {
      story.message = turn->words;
      return;
    }
}

/// result.json, if the run was picked from several attempts: its record does not know them.
Json result_of_attempts(const fs::path& folder, const std::string& run_id) {
  const std::string text = read_part(folder / "result.json", 0, kMostResult);
  if (text.find("\"best_of\"") == text.npos) return {};
  try {
    Json result = parse_json(text);
    const bool ended = result.string_at("status", "running") != "running";
    if (ended && result.find("best_of") != nullptr && result.string_at("run_id") == run_id)
      return result;
  } catch (const JsonError&) {
    // it is torn
  }
  return {};
}

void take_attempts(const Json& result, StoryBestOf& best_of) {
  const Json& sum = result["best_of"];
  best_of.pick = visible_line(sum.string_at("pick"), 100);
  best_of.tokens = sum.integer_at("tokens");
  best_of.usd = sum["cost_usd"].real();
  best_of.duration = milliseconds(sum.integer_at("duration_ms"));
  for (const Json& one : result["attempts"].items()) {
    if (best_of.attempts.size() >= kMostAttemptsShown) return;
    StoryAttempt attempt{.number = one.integer_at("n"),
                         .status = visible_line(one.string_at("status"), 100),
                         .files = one.integer_at("files"),
                         .lines = one.integer_at("lines"),
                         .turns = one.integer_at("turns"),
                         .tokens = one.integer_at("tokens"),
                         .usd = one["cost_usd"].real(),
                         .duration = milliseconds(one.integer_at("duration_ms")),
                         .picked = one["picked"].boolean(),
                         .why = visible_line(one.string_at("why"), 1000)};
    if (one["verified"].is_boolean()) attempt.verified = one["verified"].boolean();
    best_of.attempts.push_back(std::move(attempt));
  }
}

}  // namespace

RunStory read_run_story(const fs::path& run, const Json& result, const Redactor* redactor) {
  std::error_code error;
  const bool is_folder = fs::is_directory(run, error);
  const fs::path transcript = is_folder ? run / kTranscriptName : run;
  const fs::path folder = is_folder ? run : run.parent_path();
  StoryMaker maker;
  const Broken broken = read_events(transcript, redactor, maker);
  const std::optional<RunEnd> end = maker.end();
  RunStory story = maker.take();
  if (story.setting.run_id.empty())
    throw Error(transcript.string() + ": not a run's transcript" +
                    (broken.problem.empty() ? "" : ": " + broken.problem),
                ExitCode::usage);
  story.problem = broken.problem;
  Json said = result;
  if (said.is_null() && end) {
    if (is_folder) said = result_of_attempts(folder, story.setting.run_id);
    if (said.is_null()) said = end->result;
  }
  take_known_numbers(said);
  if (redactor != nullptr)
    if (auto changed = redactor->changed(said)) said = std::move(*changed);
  take_verdict(end, said, broken, story.verdict);
  take_setting(said, story);
  take_times(said, story);
  take_changes(folder, maker, said, story.changes);
  take_message(folder, said, story);
  take_attempts(said, story.best_of);
  for (const auto& [name, digest] : said["artifacts"].members())
    story.artifacts[name] = digest.text();
  if (redactor != nullptr) redact_story(*redactor, story);
  return story;
}

}  // namespace sortie

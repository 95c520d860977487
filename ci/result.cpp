#include "ci/result.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ci/attestation.h"
#include "core/base/clock.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kReasonBytes = 400;
constexpr std::size_t kLastBytes = 200;
constexpr std::size_t kNextBytes = 600;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json by_name(const std::map<std::string, std::string>& texts) {
  Json object = Json::object();
  for (const auto& [name, text] : texts) object.set(name, text);
  return object;
}

Json to_json(const Denial& denial) {
  Json json = Json::object({{"tool", denial.tool},
                            {"decision", name_of(denial.effect)},
                            {"actions", to_json(denial.actions)},
                            {"rule", denial.rule ? to_json(*denial.rule) : Json()},
                            {"reason", denial.reason},
                            {"count", denial.count},
                            {"would_allow", denial.would_allow},
                            {"would_allow_yaml", text_or_null(denial.would_allow_yaml)}});
  if (!denial.part.empty()) json.set("part", denial.part);
  return json;
}

Json to_json(const DeniedHost& one) {
  return Json::object({{"host", one.host},
                       {"port", one.port},
                       {"reason", one.reason},
                       {"count", one.count},
                       {"would_allow", one.would_allow},
                       {"would_allow_yaml", text_or_null(one.would_allow_yaml)}});
}

/// The most frequent first; equal ones in their order.
template <class One>
Json denials_json(const std::vector<One>& denials) {
  std::vector<const One*> sorted;
  for (const One& denial : denials) sorted.push_back(&denial);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const One* a, const One* b) { return a->count > b->count; });
  Json array = Json::array();
  for (const One* denial : sorted) array.push_back(to_json(*denial));
  return array;
}

Json round_json(const std::optional<VerificationResult>& result) {
  if (!result) return {};
  return Json::object({{"passed", result->passed}, {"commands", to_json(*result)}});
}

Json stages_json(const std::vector<RunResult::Stage>& stages) {
  Json array = Json::array();
  for (const auto& stage : stages)
    array.push_back(
        Json::object({{"name", stage.name}, {"turns", stage.turns}, {"ended", stage.ended}}));
  return array;
}

/// Seconds, rounded up: a retry must not come too early.
Json retry_json(const std::optional<std::chrono::milliseconds>& after) {
  if (!after) return {};
  return Json(static_cast<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(*after).count()));
}

void add_outcome(Json& json, const RunResult& result) {
  json.set("status", status_of(result));
  json.set("exit_code", static_cast<int>(result.code));
  json.set("reason", result.reason);
  json.set("next", text_or_null(result.next));
  json.set("retryable", result.retryable.value_or(is_retryable(result.code)));
  json.set("retry_after_s", retry_json(result.retry_after));
}

void add_identity(Json& json, const RunResult& result, const Tally& tally) {
  json.set("version", 1);
  json.set("sortie", SORTIE_VERSION);
  json.set("run_id", result.run_id);
  json.set("run_key", result.run_key);
  json.set("name", result.name);
  json.set("started", utc_timestamp(result.started));
  json.set("model", Json::object({{"requested", result.requested_model},
                                  {"served", text_or_null(tally.served_model)}}));
}

void add_sandbox(Json& json, const RunResult& result) {
  json.set("approval", result.approval);
  json.set("guarantees", result.guarantees);
  json.set("layers", result.layers);
  json.set("isolation",
           Json::object({{"mode", result.isolation}, {"reason", result.isolation_reason}}));
  json.set("survivors_excluded", result.survivors_excluded);
}

Json left_out_json(const RunResult& result) {
  Json array = Json::array();
  for (const LeftOut& one : result.left_out)
    array.push_back(
        Json::object({{"path", one.path}, {"reason", name_of(one.why)}, {"detail", one.detail}}));
  for (const TooLarge& one : result.too_large)
    array.push_back(
        Json::object({{"path", one.path}, {"reason", "too-large"}, {"detail", one.detail}}));
  return array;
}

Json submodules_json(const std::vector<RunResult::Submodule>& submodules) {
  Json array = Json::array();
  for (const RunResult::Submodule& one : submodules)
    array.push_back(Json::object({{"path", one.path},
                                  {"diff", one.diff},
                                  {"changed_files", one.changed_files},
                                  {"added_lines", one.added_lines},
                                  {"removed_lines", one.removed_lines},
                                  {"applies_to", Json::strings(one.applies_to)},
                                  {"base", text_or_null(one.base)},
                                  {"head_commit", text_or_null(one.head_commit)}}));
  return array;
}

void add_changes(Json& json, const RunResult& result) {
  json.set("changed_files", result.changed_files);
  json.set("added_lines", result.added_lines);
  json.set("removed_lines", result.removed_lines);
  json.set("ignored_changes", Json::strings(result.ignored_changes));
  json.set("applies_to", Json::strings(result.applies_to));
  json.set("applied", result.applied ? Json(*result.applied) : Json());
  json.set("applied_paths", Json::strings(result.applied_paths));
  json.set("base", text_or_null(result.base));
  json.set("head_commit", text_or_null(result.head_commit));
  if (!result.submodules.empty()) json.set("submodules", submodules_json(result.submodules));
  json.set("left_out", left_out_json(result));
  json.set("conflicts", Json::strings(result.conflicts));
  json.set("kept", by_name(result.kept));
}

}  // namespace

std::string status_of(const RunResult& result) {
  if (result.code == ExitCode::success && result.nothing_to_do) return "nothing-to-do";
  return status_word(result.code);
}

Json result_json(const RunResult& result, const Tally& tally) {
  Json json = Json::object();
  add_outcome(json, result);
  add_identity(json, result, tally);
  json.set("usage", tally.usage_json());
  json.set("durations", tally.durations_json(result.duration));
  json.set("counts", tally.counts_json());
  json.set("verified", result.verified ? Json(*result.verified) : Json());
  json.set("verification",
           Json::object({{"before", round_json(result.verification_before)},
                         {"after", round_json(result.verification)},
                         {"rounds", result.verification_rounds},
                         {"in", text_or_null(result.verified_in)},
                         {"diff", text_or_null(result.verified_diff)},
                         {"restored", Json::strings(result.restored)},
                         {"changed", Json::strings(result.changed_by_verification)}}));
  json.set("stages", stages_json(result.stages));
  add_changes(json, result);
  json.set("denials", denials_json(tally.denials));
  json.set("audited", denials_json(tally.audited));
  json.set("network_denials", denials_json(tally.denied_hosts));
  add_sandbox(json, result);
  json.set("digests", by_name(result.digests));
  json.set("artifacts", by_name(result.artifacts));
  // It has the digest of result.json, so only its name can be here.
  json.set("attestation", result.code == ExitCode::success && result.changes_known
                              ? Json(kAttestationName)
                              : Json());
  json.set("warnings", Json::strings(result.warnings));
  return json;
}

Json running_json(const std::string& run_id, const std::string& run_key,
                  const std::vector<std::string>& saves) {
  return Json::object({{"status", "running"},
                       {"version", 1},
                       {"sortie", SORTIE_VERSION},
                       {"run_id", run_id},
                       {"run_key", run_key},
                       {"saves", Json::strings(saves)}});
}

std::string result_text(const Json& result) {
  std::string text = write_json_pretty(result);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

Json result_of_record(const Json& recorded, const std::string& transcript_sha256) {
  std::map<std::string, std::string> digests;  // sorted, as result_json() has them
  for (const auto& [name, value] : recorded["digests"].members()) digests[name] = value.text();
  digests["transcript"] = "sha256:" + transcript_sha256;
  Json result = recorded;
  result.set("digests", by_name(digests));
  return result;
}

std::string result_text(const Json& result, const Redactor& redactor) {
  return result_text(redactor.json(result, Audience::people));
}

std::string last_line(const RunResult& result, const std::string& last, const std::string& out,
                      const Redactor& redactor) {
  // Redacted before it is cut: half a secret would not be recognised.
  const auto clean = [&](const std::string& text, std::size_t max_bytes) {
    return one_line(redactor.text(text, Audience::people), max_bytes);
  };
  std::string line = "sortie: " + status_of(result) + " (" +
                     std::to_string(static_cast<int>(result.code)) +
                     "): " + clean(result.reason, kReasonBytes);
  // A sentence of its own may end with a full stop.
  if (line.ends_with('.') && !line.ends_with("..")) line.pop_back();
  if (!last.empty()) line += "; last: " + clean(last, kLastBytes);
  if (!result.next.empty()) line += "; next: " + clean(result.next, kNextBytes);
  const char* const told_in =
      result.artifacts.contains("summary.md") ? "summary.md" : "result.json";
  if (!out.empty())
    line += "; see " + clean((std::filesystem::path(out) / told_in).string(), kReasonBytes);
  return line;
}

namespace {

std::string counted(std::int64_t number, const char* noun) {
  return with_thousands(number) + " " + noun + (number == 1 ? "" : "s");
}

/// "3 files changed, +40 -12"
std::string changes_text(const RunResult& result) {
  if (!result.changes_known) return "";
  if (result.changed_files == 0) return "no file changed";
  return counted(result.changed_files, "file") + " changed, +" +
         with_thousands(result.added_lines) + " -" + with_thousands(result.removed_lines);
}

std::string time_text(std::chrono::milliseconds time) {
  const auto seconds = time.count() / 1000;
  if (seconds >= 60)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds) + "." + std::to_string(time.count() / 100 % 10) + " s";
}

std::string usage_text(const Tally& tally) {
  const Usage& usage = tally.usage;
  std::string text = counted(tally.turns, "turn") + ", " + counted(tally.tool_calls, "call");
  if (tally.denial_count > 0) text += " (" + std::to_string(tally.denial_count) + " denied)";
  text += ", " + with_thousands(usage.input_tokens + usage.output_tokens) + " tokens";
  if (usage.cached_input_tokens > 0)
    text += " (" + with_thousands(usage.cached_input_tokens) + " cached)";
  if (const auto cost = tally.cost(); cost && *cost > Cost()) text += ", " + cost->text() + " USD";
  return text;
}

}  // namespace

std::vector<std::string> sum_lines(const RunResult& result, const Tally& tally,
                                   const std::string& out) {
  std::string used = changes_text(result);
  if (!result.ignored_changes.empty())
    used += ", and " +
            counted(static_cast<std::int64_t>(result.ignored_changes.size()), "ignored path");
  if (result.applied.value_or(false)) used += ", and written into the workspace";
  used += (used.empty() ? "" : "; ") + usage_text(tally) + ", " + time_text(result.duration);
  if (out.empty()) return {used};
  // Its digest can't stand in result.json, which it is made of.
  std::string names = result.code == ExitCode::success ? "attestation.json, " : "";
  for (const auto& [name, digest] : result.artifacts) names += name + ", ";
  return {used, "artifacts in " + one_line(out) + ": " + names + "result.json, transcript.jsonl"};
}

}  // namespace sortie

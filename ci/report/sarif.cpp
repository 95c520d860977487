#include "ci/report/sarif.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "core/base/hash.h"
#include "core/files/file_name.h"

namespace sortie {
namespace {

constexpr std::int64_t kMostLine = std::numeric_limits<std::int32_t>::max();  ///< of most readers
constexpr const char* kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

const char* level_of(const std::string& severity) {
  for (const char* level : {"error", "note"})
    if (severity == level) return level;
  return "warning";
}

/// A path as a relative reference (RFC 3986, 4.2): all but the unreserved characters as "%20".
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string uri;
  for (const char c : path) {
    char coded[8];
    std::snprintf(coded, sizeof coded, "%%%02X", static_cast<unsigned char>(c));
    if (kPlain.find(c) == kPlain.npos)
      uri += coded;
    else
      uri += c;
  }
  return uri;
}

Json location_of(const StoryFinding& finding) {
  Json place =
      Json::object({{"artifactLocation",
                     Json::object({{"uri", uri_of(finding.file)}, {"uriBaseId", "SRCROOT"}})}});
  if (finding.line > 0 && finding.line <= kMostLine)
    place.set("region", Json::object({{"startLine", finding.line}}));
  return Json::object({{"physicalLocation", std::move(place)}});
}

/// "[words](place)" in a message is a link (SARIF 2.1.0, 3.11.6), and a model's words are none.
std::string without_links(const std::string& words) {
  if (words.find("](") == words.npos) return words;
  std::string text;
  for (const char c : words) {
    if (c == '[' || c == ']' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string message_of(const StoryFinding& finding) {
  return finding.message.empty() ? "(no message)" : finding.message;
}

Json text_of(const StoryFinding& finding) {
  std::string text = message_of(finding);
  if (!finding.suggestion.empty()) text += "\n\nSuggestion: " + finding.suggestion;
  return Json::object({{"text", without_links(text)}});
}

/// A finding that names no file of the tree: GitHub refuses a whole upload for one result without a
/// location.
Json notification_of(const StoryFinding& finding) {
  return Json::object({{"level", level_of(finding.severity)}, {"message", text_of(finding)}});
}

Json result_of(const StoryFinding& finding) {
  const std::string message = message_of(finding);
  return Json::object(
      {{"ruleId", "review"},
       {"ruleIndex", 0},
       {"level", level_of(finding.severity)},
       {"message", text_of(finding)},
       {"locations", Json::array({location_of(finding)})},
       {"partialFingerprints",
        Json::object({{"sortieFinding/v1", sha256_hex(finding.file + "\n" + message)}})}});
}

Json rules() {
  return Json::array({Json::object(
      {{"id", "review"},
       {"name", "Review"},
       {"shortDescription", Json::object({{"text", "A finding of the agent's review."}})},
       {"defaultConfiguration", Json::object({{"level", "warning"}})}})});
}

Json invocation(const RunStory& story) {
  const StoryVerdict& verdict = story.verdict;
  Json one = Json::object({{"executionSuccessful", verdict.ended && verdict.code == 0}});
  if (verdict.ended) one.set("exitCode", verdict.code);
  if (!verdict.cause.empty()) one.set("exitCodeDescription", verdict.cause);
  Json notifications = Json::array();
  for (const StoryFinding& finding : story.findings)
    if (!is_plain_path(finding.file)) notifications.push_back(notification_of(finding));
  if (!notifications.items().empty())
    one.set("toolExecutionNotifications", std::move(notifications));
  return one;
}

}  // namespace

Json sarif_json(const RunStory& story) {
  Json results = Json::array();
  for (const StoryFinding& finding : story.findings)
    if (is_plain_path(finding.file)) results.push_back(result_of(finding));
  Json driver = Json::object({{"name", "sortie"}, {"version", story.setting.sortie}});
  driver.set("rules", rules());
  const std::string task = story.setting.task_name.empty() ? "task" : story.setting.task_name;
  Json run =
      Json::object({{"tool", Json::object({{"driver", std::move(driver)}})},
                    {"automationDetails", Json::object({{"id", "sortie/" + task + "/"}})},
                    {"invocations", Json::array({invocation(story)})},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", std::move(results)},
                    {"properties", Json::object({{"runId", story.setting.run_id},
                                                 {"findingsLeftOut", story.more_findings}})}});
  return Json::object(
      {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}});
}

std::string sarif_text(const RunStory& story) {
  return write_json_pretty(sarif_json(story)) + "\n";
}

}  // namespace sortie

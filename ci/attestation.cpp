#include "ci/attestation.h"

#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStatementType = "https://in-toto.io/Statement/v1";
constexpr const char* kPredicateType = "https://slsa.dev/provenance/v1";
/// What the parameters mean is said in docs/evidence.md.
constexpr const char* kBuildType = "urn:sortie:run:v1";
constexpr const char* kBuilder = "urn:sortie:runner";
constexpr std::uint64_t kMostBytes = 64u << 20;

/// What a transcript says at its two ends, and its digest.
struct TranscriptEnds {
  RunStart start;
  RunEnd end;
  std::string ended;   ///< the time of the last record
  std::string sha256;  ///< hex, of the whole file
};

TranscriptEnds read_ends(const fs::path& transcript) {
  Sha256 digest;
  std::string first;
  std::string last;
  each_record_line(transcript, [&](std::string_view line) {
    digest.update(line);
    digest.update("\n");
    if (first.empty()) first = line;
    last = line;
    return true;
  });
  TranscriptEnds ends;
  const auto start = event_with_blobs(parse_record(first), transcript);
  const TranscriptRecord record = parse_record(last);
  const auto end = event_with_blobs(record, transcript);
  if (!std::holds_alternative<RunStart>(start.what) || !std::holds_alternative<RunEnd>(end.what))
    throw Error("the transcript has no end", ExitCode::integrity);
  ends.start = std::get<RunStart>(start.what);
  ends.end = std::get<RunEnd>(end.what);
  ends.ended = record.timestamp;
  ends.sha256 = digest.finish();
  return ends;
}

/// "sha256:ab…" as a DigestSet.
Json digest_set(const std::string& digest) {
  const std::size_t colon = digest.find(':');
  return Json::object({{"sha256", digest.substr(colon == digest.npos ? 0 : colon + 1)}});
}

Json subject(const std::string& name, const std::string& digest) {
  return Json::object({{"name", name}, {"digest", digest_set(digest)}});
}

Json subjects(const TranscriptEnds& ends, const Json& result, const std::string& result_text) {
  Json list = Json::array();
  for (const auto& [name, digest] : result["artifacts"].members())
    list.push_back(subject(name, digest.text()));
  list.push_back(subject("result.json", sha256_hex(result_text)));
  list.push_back(subject(kTranscriptName, ends.sha256));
  return list;
}

/// "model:openai/gpt-5-codex"
std::string model_uri(const Json& model) {
  return "model:" + model.string_at("provider") + "/" + model.string_at("name");
}

Json dependencies(const TranscriptEnds& ends, const Json& result) {
  Json list = Json::array();
  if (const std::string& commit = ends.start.workspace.base_commit; !commit.empty())
    list.push_back(Json::object(
        {{"name", "base"},
         {"digest", Json::object({{"gitCommit", commit}})},
         {"annotations",
          Json::object({{"diff_base", result["base"]}, {"applies_to", result["applies_to"]}})}}));
  list.push_back(Json::object({{"name", "task"}, {"digest", digest_set(ends.start.task.digest)}}));
  list.push_back(
      Json::object({{"name", "policy"}, {"digest", digest_set(ends.start.policy.digest)}}));
  list.push_back(
      Json::object({{"name", "model"},
                    {"uri", model_uri(ends.start.model)},
                    {"annotations", Json::object({{"served", result["model"]["served"]}})}}));
  return list;
}

Json build_definition(const TranscriptEnds& ends, const Json& result) {
  const RunStart& start = ends.start;
  Json internal = Json::object({{"run_key", start.run_key},
                                {"isolation", result["isolation"]["mode"]},
                                {"sandbox", start.sandbox.mode},
                                {"network", start.sandbox.network}});
  if (const Json* best_of = result.find("best_of"))
    internal.set("best_of", Json::object({{"count", (*best_of)["count"]},
                                          {"pick", (*best_of)["pick"]},
                                          {"picked", (*best_of)["picked"]}}));
  return Json::object({{"buildType", kBuildType},
                       {"externalParameters",
                        Json::object({{"task", Json::object({{"name", result["name"]},
                                                             {"path", start.task.path},
                                                             {"digest", start.task.digest}})},
                                      {"policy", Json::object({{"path", start.policy.path},
                                                               {"digest", start.policy.digest}})},
                                      {"model", result["model"]["requested"]},
                                      {"approval", result["approval"]}})},
                       {"internalParameters", std::move(internal)},
                       {"resolvedDependencies", dependencies(ends, result)}});
}

/// The verification as a descriptor: what was run and how it ended, without any output.
Json verification(const Json& result) {
  Json commands = Json::array();
  for (const Json& one : result["verification"]["after"]["commands"].items())
    commands.push_back(Json::object(
        {{"command", one["command"]}, {"passed", one["passed"]}, {"exit_code", one["exit_code"]}}));
  const Json content = Json::object({{"verified", result["verified"]},
                                     {"rounds", result["verification"]["rounds"]},
                                     {"commands", std::move(commands)}});
  return Json::object({{"name", "verification"},
                       {"mediaType", "application/json"},
                       {"content", base64_encoded(write_json(content))},
                       {"annotations", Json::object({{"verified", result["verified"]}})}});
}

/// What else the picked one of several attempts was chosen from, by the last records of their
/// transcripts.
Json attempts(const Json& result) {
  Json list = Json::array();
  for (const Json& one : result["attempts"].items())
    list.push_back(Json::object({{"n", one["n"]},
                                 {"status", one["status"]},
                                 {"verified", one["verified"]},
                                 {"lines", one["lines"]},
                                 {"last_record", one["transcript"]},
                                 {"picked", one["picked"]},
                                 {"why", one["why"]}}));
  return Json::object({{"name", "attempts"},
                       {"mediaType", "application/json"},
                       {"content", base64_encoded(write_json(list))},
                       {"annotations", Json::object({{"picked", result["best_of"]["picked"]}})}});
}

Json run_details(const TranscriptEnds& ends, const Json& result) {
  Json byproducts = Json::array({verification(result)});
  if (result.find("attempts") != nullptr) byproducts.push_back(attempts(result));
  return Json::object(
      {{"builder", Json::object({{"id", kBuilder},
                                 {"version", Json::object({{"sortie", ends.start.sortie}})}})},
       {"metadata", Json::object({{"invocationId", ends.start.run_id},
                                  {"startedOn", result["started"]},
                                  {"finishedOn", ends.ended}})},
       {"byproducts", std::move(byproducts)}});
}

std::string statement(const TranscriptEnds& ends, const Json& result,
                      const std::string& result_text) {
  return write_json_pretty(
      Json::object({{"_type", kStatementType},
                    {"subject", subjects(ends, result, result_text)},
                    {"predicateType", kPredicateType},
                    {"predicate", Json::object({{"buildDefinition", build_definition(ends, result)},
                                                {"runDetails", run_details(ends, result)}})}}));
}

}  // namespace

std::string attestation_text(const fs::path& folder, const std::string& result_text) {
  return statement(read_ends(folder / kTranscriptName), parse_json(result_text), result_text);
}

std::string attestation_mismatch(const fs::path& folder) {
  const fs::path file = folder / kAttestationName;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  const std::string result = read_file(folder / "result.json", kMostBytes);
  const std::string name = kAttestationName;
  if (!parse_json(result)["attestation"].is_string())
    return fs::exists(status) ? name + " was added: the run has none" : "";
  if (!fs::exists(status)) return name + " is missing";
  if (!fs::is_regular_file(status)) return name + " is not a file";
  if (read_file(file, kMostBytes) != attestation_text(folder, result))
    return name + " was changed: it is not the one that the run's record gives";
  return "";
}

}  // namespace sortie

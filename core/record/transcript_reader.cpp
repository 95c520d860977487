#include "core/record/transcript_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/record/blobs.h"
#include "core/record/chain_check.h"
#include "core/record/diff_names.h"
#include "core/record/file_digest.h"
#include "core/record/transcript.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxResultBytes = 64ull << 20;
constexpr std::uint64_t kMaxArtifactBytes = 1ull << 30;

/// What stands in blobs/ and no record names. A run that was killed between a blob and its record
/// left one of those, whose content is what its name says, or a write that never ended.
std::string check_blob_folder(const fs::path& folder, const std::set<std::string>& named,
                              bool finished) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return {};
  if (!fs::is_directory(fs::symlink_status(folder, error))) return "blobs is not a folder";
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (named.count(name) > 0) continue;
    if (finished) return "blobs/" + one_line(name, 100) + " was added: no record names it";
    if (is_temporary_name(name)) continue;
    const auto found = digest_of(entry->path(), kMaxBlobBytes);
    if (!found || "sha256-" + found->sha256 != name)
      return "blobs/" + one_line(name, 100) +
             " was added: no record names it, and its content "
             "is not what its name says";
  }
  return error ? "blobs can't be listed: " + error.message() : "";
}

/// Whether each folder on the way to a file is one, and no link to somewhere else.
bool is_below_folders(const fs::path& folder, const fs::path& name) {
  std::error_code error;
  fs::path at = folder;
  for (const fs::path& part : name.parent_path())
    if (!fs::is_directory(fs::symlink_status(at /= part, error))) return false;
  return true;
}

/// What stands in the folders of submodules' diffs and is not known.
std::string check_submodule_diffs(const fs::path& folder, const RunEnd& completed) {
  for (const char* name : {kSubmoduleDiffs, kPartialSubmoduleDiffs}) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(folder / name, error);
    if (!fs::exists(status)) continue;
    if (!fs::is_directory(status)) return std::string(name) + " is not a folder";
    for (fs::recursive_directory_iterator entry(folder / name, error), end; !error && entry != end;
         entry.increment(error)) {
      if (fs::is_directory(entry->symlink_status(error))) continue;
      const std::string one = entry->path().lexically_relative(folder).string();
      if (completed.artifacts.count(one) == 0)
        return one_line(one, 300) + " was added: the transcript does not know it";
    }
    if (error) return std::string(name) + " can't be listed: " + error.message();
  }
  return {};
}

/// Compares the files that run.completed names. @return "" or the first that differs
std::string check_artifacts(const fs::path& folder, const RunEnd& completed,
                            std::vector<std::string>& equal) {
  for (const auto& [name, digest] : completed.artifacts) {
    const bool is_name = !name.empty() && name.find('/') == std::string::npos && name != "..";
    if (!is_name && submodule_of_diff(name).empty())
      return "run.completed names '" + one_line(name) + "', which is not a file name";
    const auto found = is_below_folders(folder, name) ? digest_of(folder / name, kMaxArtifactBytes)
                                                      : std::optional<FileDigest>();
    if (!found) return name + " is missing, or is no file of ours";
    if ("sha256:" + found->sha256 != digest)
      return name + " was changed: its SHA-256 is " + digest_begin(found->sha256) +
             ", the transcript says " + one_line(digest, 19);
    equal.push_back(name);
  }
  for (const char* name : {"changes.diff", "partial.diff", "last-message.txt", "last-message.json"})
    if (completed.artifacts.count(name) == 0 && fs::exists(folder / name))
      return std::string(name) + " was added: the transcript does not know it";
  return check_submodule_diffs(folder, completed);
}

std::string check_run_id(const Json& result, const VerifyResult& chain) {
  if (result.string_at("run_id") == chain.run_id) return {};
  return "result.json is of run '" + one_line(result.string_at("run_id")) +
         "', the transcript of run '" + one_line(chain.run_id) + "'";
}

/// result.json against the transcript that has the run's end.
std::string check_result(const fs::path& folder, const VerifyResult& chain,
                         const RunEnd& completed) {
  const fs::path path = folder / "result.json";
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return {};
  Json result;
  try {
    result = parse_json(read_file(path, kMaxResultBytes));
  } catch (const std::exception& error) {
    return std::string("result.json can't be read: ") + error.what();
  }
  if (std::string wrong = check_run_id(result, chain); !wrong.empty()) return wrong;
  const std::string digest = result["digests"].string_at("transcript");
  if (!digest.empty() && digest != "sha256:" + chain.last_digest)
    return "the transcript's last record has not the SHA-256 that result.json names";
  const std::pair<const char*, std::string> members[] = {
      {"status", completed.status},
      {"exit_code", std::to_string(static_cast<int>(completed.code))}};
  for (const auto& [member, recorded] : members)
    if (result[member].text() != recorded)
      return std::string("result.json has ") + member + " " + one_line(result[member].text()) +
             ", the transcript " + one_line(recorded);
  return {};
}

/// What a result of a run at work holds: only what was known before the first record, and the names of
/// what it is about to keep.
std::string check_running(const Json& result, const std::string& version) {
  constexpr const char* kMembers[] = {"status",  "version", "sortie", "run_id",
                                      "run_key", "saves",   "kept"};
  for (const auto& [member, value] : result.members())
    if (std::find(std::begin(kMembers), std::end(kMembers), member) == std::end(kMembers))
      return "result.json says running, and has '" + one_line(member, 100) +
             "', which only a run that ended knows";
  if (result.string_at("sortie") != version)
    return "result.json is of sortie '" + one_line(result.string_at("sortie"), 100) +
           "', the transcript of sortie '" + one_line(version, 100) + "'";
  return {};
}

/// A run writes its last record before it says success, so neither a diff nor a result of success
/// stands beside a transcript without it: its end was cut off.
std::string check_unfinished(const fs::path& folder, const VerifyResult& chain,
                             const std::string& version) {
  std::error_code error;
  for (const char* name : {kChangesDiff, kSubmoduleDiffs})
    if (fs::exists(fs::symlink_status(folder / name, error)))
      return std::string(name) +
             " is there, but the transcript has no run.completed: its end is missing";
  if (!fs::exists(fs::symlink_status(folder / "result.json", error))) return {};
  if (!fs::is_regular_file(fs::symlink_status(folder / "result.json", error)))
    return "result.json can't be read: not a regular file";
  Json result;
  try {
    result = parse_json(read_file(folder / "result.json", kMaxResultBytes));
  } catch (const std::exception&) {
    return {};  // torn: of a run that was killed
  }
  const std::string status = result.string_at("status");
  if (status == "success" || status == "nothing-to-do" || result["verified"].boolean() ||
      (result["exit_code"].is_number() && result.integer_at("exit_code") == 0))
    return "result.json says " + (status == "nothing-to-do" ? status : std::string("success")) +
           ", but the transcript has no run.completed: its end is missing";
  if (std::string wrong = check_run_id(result, chain); !wrong.empty()) return wrong;
  return status == "running" ? check_running(result, version) : std::string();
}

Json blob_content(const std::string& name, bool is_json, const fs::path& transcript) {
  if (name.find('/') != std::string::npos)
    throw Error("blob '" + one_line(name) + "' is not a file name", ExitCode::integrity);
  const std::string text = read_file(transcript.parent_path() / "blobs" / name, kMaxBlobBytes);
  if ("sha256-" + sha256_hex(text) != name)
    throw Error("blobs/" + name + " was changed", ExitCode::integrity);
  if (!is_json) return Json(text);
  try {
    return parse_json(text);
  } catch (const JsonError& error) {
    throw Error("blobs/" + name + ": " + error.what(), ExitCode::integrity);
  }
}

/// Replaces what stands for a blob by its content.
void take_blobs(Json& value, const fs::path& transcript) {
  if (!value.is_object() && !value.is_array()) return;
  const Json* const blob = value.find("blob");
  if (blob != nullptr && blob->is_string() && blob->text().starts_with("sha256-") &&
      value["bytes"].is_number()) {
    value = blob_content(blob->text(), value["json"].boolean(), transcript);
    return;
  }
  for (Json& item : value.items()) take_blobs(item, transcript);
  for (auto& member : value.members()) take_blobs(member.second, transcript);
}

}  // namespace

VerifyResult verify_run(const fs::path& path) {
  const bool is_folder = fs::is_directory(path);
  const fs::path file = is_folder ? path / kTranscriptName : path;
  const fs::path folder = is_folder ? path : path.parent_path();
  ChainCheck check(folder / "blobs");
  const std::uint64_t torn =
      each_line(file, [&](std::string_view line) { return check.take(line); });
  VerifyResult result = check.finish(torn);
  if (!result.ok || !is_folder) return result;
  result.problem = check_blob_folder(folder / "blobs", check.named_blobs(), result.finished);
  if (!result.finished) {
    if (result.problem.empty()) result.problem = check_unfinished(folder, result, check.version());
    result.ok = result.problem.empty();
    return result;
  }
  if (result.problem.empty() && torn > 0)
    result.problem = std::string(kTranscriptName) + ":" + std::to_string(result.records + 1) +
                     ": is cut off, behind the run's end";
  // First the record that names the artifacts, by the digest that only result.json has.
  if (result.problem.empty()) result.problem = check_result(folder, result, check.completed());
  if (result.problem.empty())
    result.problem = check_artifacts(folder, check.completed(), result.artifacts);
  result.ok = result.problem.empty();
  return result;
}

VerifyResult verify_events(const fs::path& transcript,
                           const std::function<void(RunEvent, std::string_view)>& each) {
  ChainCheck check(transcript.parent_path() / "blobs");
  const std::uint64_t torn = each_line(transcript, [&](std::string_view text) {
    RecordLine line = read_record_line(text, RecordData::read);
    if (!check.take(line, text.size())) return false;
    take_blobs(*line.data, transcript);
    const Envelope& envelope = line.envelope;
    if (auto event = read_event(envelope.type, envelope.turn, std::move(*line.data)))
      each(std::move(*event), envelope.timestamp);
    return true;
  });
  return check.finish(torn);
}

VerifyResult verify_transcript(std::string_view text) {
  ChainCheck check{fs::path()};
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    if (!check.take(text.substr(0, end))) return check.finish(0);
    text.remove_prefix(end + 1);
  }
  return check.finish(text.size());
}

TranscriptRecord parse_record(std::string_view line) {
  if (line.size() > kLongestLine) throw Error(kRecordTooLong, ExitCode::integrity);
  Envelope envelope;
  if (const std::string wrong = split_envelope(line, envelope); !wrong.empty())
    throw Error("not a valid record: " + wrong, ExitCode::integrity);
  try {
    return {envelope.seq,  std::string(envelope.timestamp), std::string(envelope.type),
            envelope.turn, std::string(envelope.prev),      parse_json(envelope.data)};
  } catch (const JsonError& error) {
    throw Error(std::string("not a valid record: ") + error.what(), ExitCode::integrity);
  }
}

Beginning beginning_of(const fs::path& path) {
  constexpr std::string_view kFirst = "{\"seq\":0,\"ts\":\"";
  try {
    std::optional<Beginning> whole;
    each_line(path, [&](std::string_view line) {
      whole = verify_transcript(std::string(line) + "\n").ok ? Beginning::record : Beginning::other;
      return false;
    });
    if (whole) return *whole;
    const std::string text = read_file(path, kLongestLine);
    return text.substr(0, kFirst.size()) == kFirst.substr(0, text.size()) ? Beginning::torn
                                                                          : Beginning::other;
  } catch (const std::exception&) {
    return Beginning::other;
  }
}

void each_record_line(const fs::path& path, const std::function<bool(std::string_view)>& each) {
  each_line(path, each);
}

void read_transcript(const fs::path& path,
                     const std::function<void(const TranscriptRecord&)>& each) {
  std::uint64_t number = 0;
  each_line(path, [&](std::string_view line) {
    ++number;
    TranscriptRecord record;
    try {
      record = parse_record(line);
    } catch (const Error& error) {
      throw Error(path.filename().string() + ":" + std::to_string(number) + ": " + error.what(),
                  ExitCode::integrity);
    }
    each(record);
    return true;
  });
}

Json with_blobs(const Json& value, const fs::path& transcript) {
  Json copy = value;
  take_blobs(copy, transcript);
  return copy;
}

RunEvent event_with_blobs(const TranscriptRecord& record, const fs::path& transcript) {
  return whole_event(record, transcript).value();
}

std::optional<RunEvent> whole_event(TranscriptRecord record, const fs::path& transcript) {
  take_blobs(record.data, transcript);
  return read_event(record.type, record.turn, std::move(record.data));
}

}  // namespace sortie

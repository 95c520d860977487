#include "core/record/chain_check.h"

#include <utility>
#include <variant>

#include "core/files/files.h"
#include "core/record/blobs.h"
#include "core/record/event_codec.h"
#include "core/record/file_digest.h"
#include "core/record/transcript.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr int kVersion = 1;

}  // namespace

bool ChainCheck::take(std::string_view line) {
  RecordLine read = read_record_line(line, RecordData::checked);
  return take(read, line.size());
}

bool ChainCheck::take(RecordLine& line, std::uint64_t bytes) {
  const std::string problem = check(line);
  if (!problem.empty()) {
    result_.problem =
        std::string(kTranscriptName) + ":" + std::to_string(result_.records + 1) + ": " + problem;
    return false;
  }
  result_.last_digest = std::move(line.sha256);
  result_.bytes += bytes + 1;
  ++result_.records;
  return true;
}

VerifyResult ChainCheck::finish(std::uint64_t torn_bytes) {
  result_.torn_bytes = torn_bytes;
  if (result_.problem.empty() && result_.records == 0)
    result_.problem = std::string(kTranscriptName) + ": holds no whole record";
  result_.ok = result_.problem.empty();
  return std::move(result_);
}

std::string ChainCheck::check(const RecordLine& line) {
  if (!line.problem.empty()) return line.problem;
  const Envelope& envelope = line.envelope;
  const std::string_view expected =
      result_.records == 0 ? std::string_view(kNoRecordBefore) : result_.last_digest;
  if (envelope.seq != result_.records)
    return "seq is " + std::to_string(envelope.seq) + " instead of " +
           std::to_string(result_.records) + ": records are missing, added or reordered";
  if (envelope.prev != expected)
    return "prev is " + digest_begin(envelope.prev) +
           (result_.records == 0 ? " instead of 64 zeros"
                                 : ", but the SHA-256 of line " + std::to_string(result_.records) +
                                       " is " + digest_begin(expected) + ": that line was changed");
  if (!line.unreadable.empty()) return "not a valid record: " + line.unreadable;
  return check_data(line);
}

std::string ChainCheck::check_data(const RecordLine& line) {
  const Envelope& envelope = line.envelope;
  result_.finished = envelope.type == "run.completed";
  if (result_.records == 0 && envelope.type != "run.started") return "is not run.started";
  if (!result_.finished && !line.has_blob && envelope.type != "run.started") return {};
  if (line.data) return check_event(envelope, *line.data);
  std::string unreadable;
  const auto data = read_data(envelope, unreadable);
  return data ? check_event(envelope, *data) : "data can't be read: " + unreadable;
}

std::string ChainCheck::check_event(const Envelope& envelope, const Json& data) {
  const auto event = read_event(envelope.type, envelope.turn, data);
  if (const auto* start = event ? std::get_if<RunStart>(&event->what) : nullptr) {
    result_.run_id = start->run_id;
    version_ = start->sortie;
    if (start->version > kVersion)
      return "the transcript has version " + std::to_string(start->version) +
             ", this sortie reads up to 1";
  }
  if (result_.finished) completed_ = std::get<RunEnd>(event->what);
  return blobs_.empty() ? std::string() : check_blobs(data);
}

std::string ChainCheck::check_blobs(const Json& value) {
  const std::string name = value.string_at("blob");
  if (name.starts_with("sha256-") && value["bytes"].is_number()) return check_blob(name, value);
  for (const Json& item : value.items())
    if (std::string wrong = check_blobs(item); !wrong.empty()) return wrong;
  for (const auto& member : value.members())
    if (std::string wrong = check_blobs(member.second); !wrong.empty()) return wrong;
  return {};
}

std::string ChainCheck::check_blob(const std::string& name, const Json& reference) {
  if (name.find('/') != std::string::npos)
    return "blob '" + one_line(name) + "' is not a file name";
  const auto found = digest_of(blobs_ / name, kMaxBlobBytes);
  if (!found) return "blobs/" + name + " is missing, or is no file of ours";
  if (found->bytes != static_cast<std::uint64_t>(reference.integer_at("bytes")))
    return "blobs/" + name + " has " + std::to_string(found->bytes) + " bytes instead of " +
           reference["bytes"].text();
  if ("sha256-" + found->sha256 != name) return "blobs/" + name + " was changed";
  ++result_.blobs;
  if (!named_blobs_.insert(name).second || !reference["json"].boolean()) return {};
  try {
    // A member that became a blob as a whole: its long strings are blobs of their own.
    return check_blobs(parse_json(read_file(blobs_ / name, kMaxBlobBytes)));
  } catch (const std::exception& error) {
    return "blobs/" + name + " can't be read: " + error.what();
  }
}

}  // namespace sortie

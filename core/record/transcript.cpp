#include "core/record/transcript.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxRecordBytes = 1u << 20;
/// Envelope and newline; the type's name is the only part of it that is not bounded.
constexpr std::size_t kEnvelopeBytes = 1024;
constexpr std::size_t kMaxDataBytes = kMaxRecordBytes - kEnvelopeBytes;
/// What is kept of an output once the transcript has reached its limit.
constexpr std::size_t kCutOutputBytes = 1024;

/// Types whose record is on disk before on() returns: what follows them can be seen outside, or
/// could not be done again.
constexpr std::array<std::string_view, 9> kSynced = {
    "run.started",  "stage.started",     "stage.completed",      "tool.call",
    "tool.output",  "context.compacted", "verification.started", "verification.completed",
    "run.completed"};

bool is_synced(std::string_view type) {
  return std::find(kSynced.begin(), kSynced.end(), type) != kSynced.end();
}

/// A record that only begins a turn: what stands before it is synced, not itself.
bool begins_turn(std::string_view type) { return type == "turn.started"; }

/// Cuts the member's text; false where there is nothing to cut.
bool cut_member(Json& data, std::string_view name) {
  Json* member = data.find(name);
  if (member == nullptr || !member->is_string() || member->text().size() <= kCutOutputBytes)
    return false;
  const std::string_view kept = utf8_prefix(member->text(), kCutOutputBytes);
  *member = Json(std::string(kept) + "\n… " + std::to_string(member->text().size() - kept.size()) +
                 " bytes left out: the transcript has reached its limit …");
  return true;
}

}  // namespace

Transcript::Transcript(const std::filesystem::path& folder, const Clock& clock,
                       std::uint64_t max_bytes)
    : path_(folder / kTranscriptName),
      clock_(clock),
      blobs_(folder / "blobs"),
      max_bytes_(max_bytes),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_) throw system_error("open " + path_.string(), ExitCode::environment);
  // The name has to survive a power loss too, not only the bytes.
  const Fd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent || ::fsync(parent.get()) != 0)
    throw system_error("fsync " + folder.string(), ExitCode::environment);
}

void Transcript::on(const RunEvent& event) {
  if (!failure_.empty()) throw Error(failure_, ExitCode::environment);
  if (const auto whole = whole_output_of(event)) return on(with_whole_output(event, *whole));
  if (fits(event)) return append(event);
  bool cut = false;
  const Json data = cut_outputs(event, cut);
  if (cut && !limit_told_) {
    limit_told_ = true;
    append(check_hit_event(event.turn, "transcript_limit",
                           "the transcript has " + std::to_string(file_bytes_ + blobs_.bytes()) +
                               " of " + std::to_string(max_bytes_) +
                               " bytes: from here on outputs are cut",
                           ""));
  }
  append({event.type, event.turn, data});
}

/// With the file as a blob, where it is still there and leaves a part of the limit to later
/// outputs.
RunEvent Transcript::with_whole_output(const RunEvent& event, const WholeOutput& whole) {
  std::optional<Json> blob;
  if (file_bytes_ + blobs_.bytes() + whole.bytes <= max_bytes_ / 4 * 3) {
    try {
      blob = blobs_.adopt(whole.path, whole.sha256, whole.bytes);
    } catch (const Error& error) {
      failure_ = error.what();
      throw;
    }
  }
  return {event.type, event.turn, without_whole_output(event, std::move(blob))};
}

/// Whether the limit leaves room for its output.
bool Transcript::fits(const RunEvent& event) const {
  if (event.type != "tool.output" && event.type != "verification.completed") return true;
  const std::uint64_t used = file_bytes_ + blobs_.bytes();
  const std::uint64_t needed =
      event.data["output"].text().size() + event.data["shown"].text().size();
  return used + needed <= max_bytes_;
}

/// The event's data with its output cut, where there is enough of it.
Json Transcript::cut_outputs(const RunEvent& event, bool& cut) const {
  Json data = event.data;
  for (const char* name : {"output", "shown"}) cut = cut_member(data, name) || cut;
  if (cut) data.set("cut", true);
  return data;
}

void Transcript::append(const RunEvent& event) {
  std::string record;
  if (written_size(event.data) <= kMaxDataBytes) {
    record = line(event, event.data);
  } else {
    try {
      record = line(event, blobs_.shorten(event.data, kMaxDataBytes));
    } catch (const Error& error) {
      failure_ = error.what();
      throw;
    }
  }
  if (begins_turn(event.type)) sync();
  write(record);
  if (is_synced(event.type)) sync();
}

std::string Transcript::line(const RunEvent& event, const Json& data) const {
  std::string line;
  line.reserve(written_size(data) + kEnvelopeBytes);
  line += "{\"seq\":" + std::to_string(next_seq_) + ",\"ts\":\"" + utc_timestamp(clock_.now()) +
          "\",\"type\":";
  write_json_string(event.type, line);
  line += ",\"turn\":" + std::to_string(event.turn) + ",\"prev\":\"" + prev_ + "\",\"data\":";
  write_json(data, line);
  line += "}\n";
  return line;
}

void Transcript::write(const std::string& line) {
  synced_ = false;
  ssize_t written = 0;
  do {
    written = ::write(file_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  // A short write means that the disk is full, also where the errno is still to come: with the
  // rest in a second write(2) a reader could see half a record.
  if (written != static_cast<ssize_t>(line.size())) {
    if (written >= 0) errno = ENOSPC;
    fail("write");
  }
  file_bytes_ += line.size();
  prev_ = sha256_hex(std::string_view(line).substr(0, line.size() - 1));
  ++next_seq_;
}

void Transcript::sync() {
  if (synced_) return;
  if (::fdatasync(file_.get()) != 0) fail("fdatasync");
  synced_ = true;
}

void Transcript::fail(const std::string& step) {
  failure_ =
      "the transcript can't be written: " + step + " " + path_.string() + ": " + errno_text(errno);
  // Half a record would be told from a whole one anyway; without it nobody has to.
  if (::ftruncate(file_.get(), static_cast<off_t>(file_bytes_)) != 0)
    failure_ += " (its last line is torn)";
  throw Error(failure_, ExitCode::environment);
}

}  // namespace sortie

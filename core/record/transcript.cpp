#include "core/record/transcript.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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

void Transcript::on(const Record& record) {
  if (!failure_.empty()) throw Error(failure_, ExitCode::environment);
  if (record.whole) return on(with_whole_output(record));
  if (fits(record)) return append(record);
  Record shorter = record;
  bool cut = false;
  for (const char* name : {"output", "shown"}) cut = cut_member(shorter.data, name) || cut;
  if (cut) shorter.data.set("cut", true);
  if (cut && !limit_told_) {
    limit_told_ = true;
    append(to_record({record.turn, CheckRecord{.check = "transcript_limit",
                                               .saw = "the transcript has " +
                                                      std::to_string(file_bytes_ + blobs_.bytes()) +
                                                      " of " + std::to_string(max_bytes_) +
                                                      " bytes: from here on outputs are cut"}}));
  }
  append(shorter);
}

/// With the file as a blob, where it is still there and leaves a part of the limit to later
/// outputs.
Record Transcript::with_whole_output(const Record& record) {
  Record with{record.type, record.turn, record.data};
  const SavedOutput& whole = *record.whole;
  if (file_bytes_ + blobs_.bytes() + whole.bytes > max_bytes_ / 4 * 3) return with;
  try {
    if (auto blob = blobs_.adopt(whole.path, whole.sha256, whole.bytes))
      with.data.set("output", std::move(*blob));
  } catch (const Error& error) {
    failure_ = error.what();
    throw;
  }
  return with;
}

/// Whether the limit leaves room for its output.
bool Transcript::fits(const Record& record) const {
  const std::uint64_t used = file_bytes_ + blobs_.bytes();
  const std::uint64_t needed =
      record.data["output"].text().size() + record.data["shown"].text().size();
  return needed == 0 || used + needed <= max_bytes_;
}

void Transcript::append(const Record& record) {
  std::string text;
  if (written_size(record.data) <= kMaxDataBytes) {
    text = line(record, record.data);
  } else {
    try {
      text = line(record, blobs_.shorten(record.data, kMaxDataBytes));
    } catch (const Error& error) {
      failure_ = error.what();
      throw;
    }
  }
  if (begins_turn(record.type)) sync();
  write(text);
  if (is_synced(record.type)) sync();
}

std::string Transcript::line(const Record& record, const Json& data) const {
  std::string line;
  line.reserve(written_size(data) + kEnvelopeBytes);
  line += "{\"seq\":" + std::to_string(next_seq_) + ",\"ts\":\"" + utc_timestamp(clock_.now()) +
          "\",\"type\":";
  write_json_string(record.type, line);
  line += ",\"turn\":" + std::to_string(record.turn) + ",\"prev\":\"" + prev_ + "\",\"data\":";
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

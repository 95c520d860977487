#include "core/record/transcript.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/sync_together.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxRecordBytes = 1u << 20;
/// Envelope and newline; only the type's name has no fixed length.
constexpr std::size_t kEnvelopeBytes = 1024;
constexpr std::size_t kMaxDataBytes = kMaxRecordBytes - kEnvelopeBytes;
/// Bytes kept of each output once the transcript has reached its limit.
constexpr std::size_t kCutOutputBytes = 1024;

bool begins_turn(std::string_view type) { return type == "turn.started"; }

/// Cuts the member's text. @return  whether there was something to cut
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
}

Transcript::Transcript(const std::filesystem::path& folder, const Clock& clock,
                       const TranscriptEnd& end, std::uint64_t max_bytes)
    : path_(folder / kTranscriptName),
      clock_(clock),
      blobs_(folder / "blobs"),
      max_bytes_(max_bytes),
      file_(::open(path_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)),
      file_bytes_(end.bytes),
      next_seq_(end.records),
      prev_(end.last_digest),
      synced_(false),
      name_synced_(true) {
  if (!file_) throw system_error("open " + path_.string(), ExitCode::environment);
  blobs_.count_found();
  if (::ftruncate(file_.get(), static_cast<off_t>(end.bytes)) != 0) fail("ftruncate");
  // Records that a kill left unsynced count from now on: what they say was done is acted on.
  sync();
}

void Transcript::on(const Record& record) {
  if (!failure_.empty()) throw Error(failure_, ExitCode::environment, failed_by_);
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

/// Records the saved file as a blob, if it still exists and leaves a part of the limit to later
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
    failed_by_ = error.cause();
    throw;
  }
  return with;
}

/// Whether its output fits the limit.
bool Transcript::fits(const Record& record) const {
  const std::uint64_t used = file_bytes_ + blobs_.bytes();
  const std::uint64_t needed =
      record.data["output"].text().size() + record.data["shown"].text().size();
  return needed == 0 || used + needed <= max_bytes_;
}

void Transcript::append(const Record& record) {
  std::string text;
  if (const std::size_t bytes = written_size(record.data); bytes <= kMaxDataBytes) {
    text = line(record, record.data, bytes);
  } else {
    try {
      const Json shorter = blobs_.shorten(record.data, kMaxDataBytes);
      text = line(record, shorter, written_size(shorter));
    } catch (const Error& error) {
      failure_ = error.what();
      failed_by_ = error.cause();
      throw;
    }
  }
  // Before the first request the run is on disk. The outputs of a later turn are synced with what can't
  // be undone next. But no anchor may be far ahead of the disk.
  if (begins_turn(record.type) && (!name_synced_ || anchor_ != nullptr)) sync();
  write(text);
  if (is_synced(record.type)) sync();
  if (anchor_ != nullptr && is_anchored(record.type)) write_anchor();
}

void Transcript::write_anchor() {
  try {
    anchor_->write(next_seq_ - 1, prev_);
  } catch (const Error& error) {
    anchor_ = nullptr;  // the run ends by this, and the record of that need not fail too
    throw;
  }
}

std::string Transcript::line(const Record& record, const Json& data, std::size_t bytes) const {
  std::string line;
  line.reserve(bytes + kEnvelopeBytes);
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
  // A short write means that the disk is full, even if errno does not say so yet. A second write(2)
  // for the rest could show half a record to a reader.
  if (written != static_cast<ssize_t>(line.size())) {
    if (written >= 0) errno = ENOSPC;
    fail("write");
  }
  file_bytes_ += line.size();
  prev_ = sha256_hex(std::string_view(line).substr(0, line.size() - 1));
  ++next_seq_;
}

void Transcript::sync() {
  if (!failure_.empty()) throw Error(failure_, ExitCode::environment, failed_by_);
  if (!name_synced_) return sync_with_name();
  if (!synced_ && ::fdatasync(file_.get()) != 0) fail("fdatasync");
  synced_ = true;
}

/// The name must survive a power loss too, not only the bytes.
void Transcript::sync_with_name() {
  std::vector<Fd> both;
  both.emplace_back(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 3));
  both.emplace_back(::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!both.front() || !both.back()) fail("open the folder of");
  errno = sync_together(both);
  if (errno != 0) fail("fsync");
  synced_ = name_synced_ = true;
}

void Transcript::fail(const std::string& step) {
  const int number = errno;
  failure_ =
      "the transcript can't be written: " + step + " " + path_.string() + ": " + errno_text(number);
  failed_by_ = cause_of(number);
  // Readers recognise half a record, but removing it is better.
  if (::ftruncate(file_.get(), static_cast<off_t>(file_bytes_)) != 0)
    failure_ += " (its last line is torn)";
  throw Error(failure_, ExitCode::environment, failed_by_);
}

void EventFanout::sync() {
  const std::lock_guard lock(mutex_);
  if (transcript_ != nullptr) transcript_->sync();
}

void EventFanout::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  Record record = to_record(event);
  const std::optional<RunEvent> redacted = write(record);
  tell(redacted ? *redacted : event);
}

namespace {

/// What an event has of a conversation, which may be long: the member "items" of its record.
Json* items_of(RunEvent& event) {
  if (auto* const requested = std::get_if<ModelRequested>(&event.what)) return &requested->items;
  auto* const answered = std::get_if<ModelAnswered>(&event.what);
  return answered ? &answered->items : nullptr;
}

}  // namespace

void EventFanout::consume(RunEvent&& event) {
  const std::lock_guard lock(mutex_);
  Json* const items = items_of(event);
  if (items == nullptr) return on(event);
  // The items are the record's while it is written, and the event's again for those who hear of it.
  Json whole = std::exchange(*items, Json::array());
  Record record = to_record(event);
  record.data.set("items", std::move(whole));
  const std::optional<RunEvent> redacted = write(record);
  if (!redacted) *items = std::move(*record.data.find("items"));
  tell(redacted ? *redacted : event);
}

/// @return  the event without secrets, if it had some
std::optional<RunEvent> EventFanout::write(Record& record) {
  turn_ = record.turn;
  std::optional<RunEvent> redacted;
  if (auto changed = redactor_.changed(record.data)) {
    record.data = std::move(*changed);
    redacted = read_event(record.type, record.turn, record.data);
  }
  if (transcript_ != nullptr) transcript_->on(record);
  return redacted;
}

void EventFanout::tell(const RunEvent& event) {
  for (EventSink* sink : sinks_) sink->on(event);
}

namespace {

/// Reads a line from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool literal(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  /// Digits without leading zeros, as JSON has them.
  template <class Number>
  bool number(Number& value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const auto length = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || text_.front() == '-' || (length > 1 && text_.front() == '0'))
      return false;
    text_.remove_prefix(length);
    return true;
  }
  /// Text of the same shape: 0 is any digit, the rest is literal.
  bool shaped(std::string_view shape, std::string_view& value) {
    if (text_.size() < shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!fits(shape[i], text_[i])) return false;
    value = text_.substr(0, shape.size());
    text_.remove_prefix(shape.size());
    return true;
  }
  /// A type's name: lower-case letters, dots and underscores.
  bool name(std::string_view& value) {
    std::size_t length = 0;
    while (length < text_.size() &&
           (is_lower(text_[length]) || text_[length] == '.' || text_[length] == '_'))
      ++length;
    value = text_.substr(0, length);
    text_.remove_prefix(length);
    return length > 0;
  }
  /// A SHA-256 in lower-case hex digits.
  bool digest(std::string_view& value) {
    value = text_.substr(0, kDigestLength);
    if (value.size() < kDigestLength) return false;
    unsigned char others = 0;  // without branches, so that the compiler vectorizes it
    for (std::size_t i = 0; i < kDigestLength; ++i) {
      const bool digit = static_cast<unsigned char>(value[i] - '0') < 10;
      const bool letter = static_cast<unsigned char>(value[i] - 'a') < 6;
      others = static_cast<unsigned char>(others | !(digit | letter));
    }
    if (others == 0) text_.remove_prefix(kDigestLength);
    return others == 0;
  }
  std::string_view rest() const { return text_; }

 private:
  static constexpr std::size_t kDigestLength = 64;
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool fits(char shape, char c) { return shape == '0' ? is_digit(c) : c == shape; }
  std::string_view text_;
};

}  // namespace

std::string split_envelope(std::string_view line, Envelope& envelope) {
  Cursor cursor(line);
  if (!cursor.literal("{\"seq\":") || !cursor.number(envelope.seq)) return "no sequence number";
  if (!cursor.literal(",\"ts\":\"") ||
      !cursor.shaped("0000-00-00T00:00:00.000Z", envelope.timestamp))
    return "no time after seq";
  if (!cursor.literal("\",\"type\":\"") || !cursor.name(envelope.type)) return "no type after ts";
  if (!cursor.literal("\",\"turn\":") || !cursor.number(envelope.turn)) return "no turn after type";
  if (!cursor.literal(",\"prev\":\"") || !cursor.digest(envelope.prev))
    return "no SHA-256 as prev after turn";
  if (!cursor.literal("\",\"data\":")) return "no data after prev";
  envelope.data = cursor.rest();
  if (!envelope.data.starts_with('{') || !envelope.data.ends_with("}}"))
    return "data is not an object, or the record does not end after it";
  envelope.data.remove_suffix(1);
  return {};
}

}  // namespace sortie

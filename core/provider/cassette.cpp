#include "core/provider/cassette.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/model/repetition.h"
#include "core/provider/wires.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// The recorded text with its passage repeated, so that the replay detects the repetition again.
std::string repeating_text(const RecordedResponse& recorded) {
  std::string text = recorded.output.items().empty()
                         ? std::string()
                         : recorded.output.items().front().string_at("text");
  if (text.size() < recorded.repeated.size()) text = recorded.repeated;
  const std::string passage = text.substr(text.size() - recorded.repeated.size());
  // The guard counts characters, which have up to four bytes, and checks only now and then.
  for (std::size_t bytes = 0; bytes < 4 * 2 * RepetitionGuard::kWindow; bytes += passage.size())
    text += passage;
  return text;
}

/// Reads the lines of a cassette or transcript.
struct Reader {
  std::filesystem::path file;
  std::size_t number = 0;
  std::string wire = "responses";  ///< of the last `model.request`
  bool known = false;              ///< a line shows that this is a cassette or a transcript
  bool unanswered = false;         ///< the last `model.request` has no response so far
  std::vector<RecordedStream> streams{};

  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(file.string() + ":" + std::to_string(number) + ": error: " + why);
  }
  void read(const Json& line);
  void read_stream(const Json& line);
  void read_record(const std::string& type, const Json& data);
  void read_response(const Json& data);
  void add_refusal(const std::string& code, const std::string& message);
  Json resolved(const Json& value) const;
};

void Reader::read(const Json& line) {
  if (!line.is_object()) refuse("not a JSON object");
  if (line.find("sse")) return read_stream(line);
  const std::string type = line.string_at("type");
  if (!type.empty() && line.find("data")) {
    known = true;
    return read_record(type, line["data"]);
  }
  if (number == 1 && line.find("cassette")) {  // a comment line
    known = true;
    return;
  }
  refuse("neither a recorded response (member 'sse') nor a transcript record ('type', 'data')");
}

void Reader::read_stream(const Json& line) {
  RecordedStream stream;
  if (!line["sse"].is_string()) refuse("'sse' is not a string");
  stream.sse = line["sse"].text();
  stream.wire = line.string_at("wire", "responses");
  if (!make_wire(stream.wire)) refuse("unknown wire format '" + one_line(stream.wire, 80) + "'");
  const Json* status = line.find("status");
  if (status) {
    const auto code = status->integer();
    if (!code || *code < 100 || *code > 599) refuse("'status' is not an HTTP status");
    stream.status = static_cast<int>(*code);
  }
  for (const auto& [name, value] : line["headers"].members()) {
    if (!value.is_string())
      refuse("the value of header '" + one_line(name, 80) + "' is not a string");
    stream.headers.emplace_back(name, value.text());
  }
  streams.push_back(std::move(stream));
}

void Reader::read_record(const std::string& type, const Json& data) {
  if (type == "run.started") unanswered = false;  // a run that resumes a killed one
  if (type == "check.hit" && data.string_at("check") == "image_refused" &&
      std::exchange(unanswered, false))
    add_refusal("invalid_image", data.string_at("saw"));
  if (type == "turn.started" && std::exchange(unanswered, false))
    add_refusal("context_length_exceeded", "as it was recorded");
  if (type == "model.request") {
    wire = data.string_at("wire", "responses");
    unanswered = true;
  }
  if (type == "model.response") {
    unanswered = false;
    read_response(data);
  }
}

/// A request that was too long, or had an unusable image, got no response: the run changed its
/// history and continued. The replay must fail likewise, or later responses would not match.
void Reader::add_refusal(const std::string& code, const std::string& message) {
  const Json error = Json::object({{"code", code}, {"message", message}});
  streams.push_back({.wire = wire,
                     .status = 400,
                     .headers = {{"Content-Type", "application/json"}},
                     .sse = write_json(Json::object({{"error", error}}))});
}

/// Converts the items of a recorded response to an event stream.
void Reader::read_response(const Json& data) {
  const Json whole = resolved(data);
  // If some items could not be used, `output` has all of them and `items` the others.
  const Json& output = whole.find("output") ? whole["output"] : whole["items"];
  if (!output.is_array()) refuse("a model.response without 'items'");
  auto text = response_stream(wire, whole);
  if (!text) refuse("a response of the unknown wire format '" + one_line(wire, 80) + "'");
  RecordedStream stream;
  stream.wire = wire;
  stream.headers.emplace_back("Content-Type", "text/event-stream");
  stream.sse = std::move(*text);
  stream.source = static_cast<int>(std::clamp<std::int64_t>(whole.integer_at("source"), 0, 1000));
  streams.push_back(std::move(stream));
}

/// The value with long strings taken from blobs/ beside the transcript.
Json Reader::resolved(const Json& value) const {
  const std::string blob = value.string_at("blob");
  if (blob.starts_with("sha256-") && value["bytes"].is_number()) {
    if (blob.find_first_not_of("sha256-0123456789abcdef") != std::string::npos)
      refuse("not the name of a blob: '" + one_line(blob, 80) + "'");
    return Json(read_file(file.parent_path() / "blobs" / blob));
  }
  Json copy = value;
  for (Json& item : copy.items()) item = resolved(item);
  for (auto& member : copy.members()) member.second = resolved(member.second);
  return copy;
}

}  // namespace

std::vector<RecordedStream> read_cassette(const std::filesystem::path& file) {
  const TextFile recording = read_bytes_file(file, 1ull << 30, Pipes::accepted);
  if (!recording.problem.empty()) throw InputError(path_text(file) + ": " + recording.problem);
  const std::string& text = recording.text;
  Reader reader{.file = file};
  for (const std::string_view line : split_lines(text)) {
    ++reader.number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    try {
      reader.read(parse_json(line));
    } catch (const JsonError& error) {
      reader.refuse(std::string(error.what()) + " at byte " + std::to_string(error.offset()));
    }
  }
  if (reader.streams.empty() && !reader.known)
    throw InputError(file.string() + ": error: it has no recorded response");
  return std::move(reader.streams);
}

Recording::Recording(const std::filesystem::path& file,
                     std::function<std::string(std::string_view)> redact)
    : path_(file), redact_(std::move(redact)) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file_ = Fd(::open(path_.c_str(), flags, 0644));
  if (!file_ && errno == ENXIO) file_ = open_for_writing(path_);  // a pipe without a reader so far
  if (!file_)
    throw Error("cannot write the recording " + path_.string() + ": " + write_problem(errno),
                ExitCode::usage);
  empty_file();
}

/// Truncates the file under a lock: the responses of two runs must not be mixed.
void Recording::empty_file() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  // Other errors mean that the file system has no locks: then no other writer can be known.
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error("--record " + path_.string() + ": another run is writing to it; name another file",
                ExitCode::busy);
  if (::ftruncate(file_.get(), 0) != 0)
    throw path_error("cannot write the recording " + path_.string(), errno);
}

void Recording::add(const RecordedStream& stream) {
  const auto shown = [this](std::string_view text) {
    return redact_ ? redact_(text) : std::string(text);
  };
  Json headers = Json::object();
  for (const auto& [name, value] : stream.headers) headers.set(name, shown(value));
  std::string line = write_json(Json::object({{"wire", stream.wire},
                                              {"status", stream.status},
                                              {"headers", std::move(headers)},
                                              {"sse", shown(stream.sse)}}));
  line += '\n';
  if (const int number = write_within(file_.get(), line); number != 0)
    throw Error("cannot write the recording " + path_.string() + ": " + write_problem(number),
                ExitCode::environment, cause_of(number));
}

std::optional<std::string> response_stream(std::string_view wire, const Json& response) {
  const auto format = make_wire(wire);
  if (!format) return std::nullopt;
  return response_stream(*format, RecordedResponse(response));
}

std::string response_stream(const Wire& wire, const RecordedResponse& recorded) {
  return recorded.is_cut_repetition() ? wire.stream_of_text(repeating_text(recorded))
                                      : wire.stream_of(recorded);
}

}  // namespace sortie

#include "core/net/http_reader.h"

#include <Poco/InflatingStream.h>

#include <algorithm>
#include <cctype>
#include <streambuf>
#include <utility>

namespace sortie {

namespace {

constexpr Http1Options kSloppyServers{.bare_lf = true,
                                      .folded_headers = true,
                                      .repeated_length = true,
                                      .length_and_coding = true,
                                      .padded_chunk_size = true};

/// Poco's buffer; what these bytes become is at most a thousand times as much.
constexpr std::size_t kStep = 1024;
/// Text shrinks to a tenth or so. A body that stays below this size may be anything.
constexpr std::uint64_t kFreeBytes = 16u << 20;
constexpr std::uint64_t kMostGrowth = 100;
/// zlib's 15 bits of window, with the frame found out by itself (zlib.h, inflateInit2); without
/// one.
constexpr int kAnyFrame = 15 + 32;
constexpr int kNoFrame = -15;

std::string normalized(std::string_view coding) {
  std::string name;
  for (const char c : coding)
    if (c != ' ' && c != '\t')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// The first byte of RFC 1950: method 8 in its lower half.
bool has_zlib_frame(char first) { return (static_cast<unsigned char>(first) & 0x0f) == 8; }

struct StringBuffer : std::streambuf {
  std::string text;

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    text.append(bytes, static_cast<std::size_t>(size));
    return size;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) text += static_cast<char>(c);
    return 0;
  }
};

}  // namespace

HttpReader::HttpReader(std::size_t max_head_bytes)
    : max_head_(max_head_bytes), lines_(kSloppyServers, max_head_bytes) {}

std::string_view HttpReader::next(std::string_view& bytes) {
  while (state_ == State::head && !bytes.empty()) {
    read_head_line(bytes);
    if (state_ != State::head) return {};
  }
  if (state_ != State::body) return {};
  const auto piece = body_->next(bytes);
  if (body_->is_malformed()) fail(body_->problem());
  if (body_->is_done()) state_ = State::done;
  return piece;
}

void HttpReader::at_end() {
  if (state_ == State::done || state_ == State::broken) return;
  keep_ = false;
  state_ = state_ == State::body && body_->finish() ? State::done : State::broken;
}

void HttpReader::read_head_line(std::string_view& bytes) {
  const std::size_t size = bytes.size();
  const auto result = lines_.take(bytes);
  head_size_ += size - bytes.size();
  if (head_size_ > max_head_)
    return fail("the response's head is longer than " + std::to_string(max_head_) + " bytes");
  if (result == LineReader::Result::incomplete) return;
  const std::string line = lines_.release();
  const bool malformed = result == LineReader::Result::malformed;
  if (head_.status == 0) {
    if (line.empty() && head_size_ <= 2) return;  // a stray line end before it (RFC 9112 §2.2)
    const StatusLine start = malformed ? StatusLine{} : read_status_line(line);
    if (start.status == 0) return fail("what the server sent is not an HTTP response");
    head_.status = start.status;
    keep_ = start.minor != 0;
  } else if (malformed) {
    fail("a header line of the response is malformed");
  } else if (line.empty()) {
    end_head();
  } else if (auto problem = read_header_line(line, kSloppyServers, head_.headers);
             !problem.empty()) {
    fail("the response is malformed: " + problem);
  }
}

void HttpReader::end_head() {
  const int status = head_.status;
  if (status == 101) return fail("the server switched to another protocol unasked");
  if (status < 200) {
    head_ = {};
    return;
  }
  if (list_has(head_.headers, "connection", "close"))
    keep_ = false;
  else if (list_has(head_.headers, "connection", "keep-alive"))
    keep_ = true;

  BodyFraming framing;
  if (auto problem = read_framing(head_.headers, kSloppyServers, framing); !problem.empty())
    return fail("the response is malformed: " + problem);
  if (status == 204 || status == 304)
    framing = {};
  else if (framing.kind == BodyFraming::Kind::none)
    framing.kind = BodyFraming::Kind::until_close;
  if (framing.kind == BodyFraming::Kind::until_close) keep_ = false;
  body_.emplace(framing, kSloppyServers);
  state_ = body_->is_done() ? State::done : State::body;
}

void HttpReader::fail(std::string problem) {
  problem_ = std::move(problem);
  state_ = State::broken;
  keep_ = false;
}

struct BodyDecoder::State {
  explicit State(int window) : output(&buffer), input(output, window) {}
  StringBuffer buffer;
  std::ostream output;
  Poco::InflatingOutputStream input;
};

bool BodyDecoder::is_identity(std::string_view coding) {
  const std::string name = normalized(coding);
  return name.empty() || name == "identity";
}

BodyDecoder::BodyDecoder(std::string_view coding) : coding_(normalized(coding)) {
  if (coding_ != "gzip" && coding_ != "x-gzip" && coding_ != "deflate")
    throw BodyError("the response has the content encoding '" + coding_.substr(0, 80) +
                    "', which was not asked for and is not known");
}

BodyDecoder::~BodyDecoder() = default;

std::string_view BodyDecoder::next(std::string_view& bytes) {
  if (bytes.empty()) return {};
  if (!state_) {
    const bool bare = coding_ == "deflate" && !has_zlib_frame(bytes.front());
    state_ = std::make_unique<State>(bare ? kNoFrame : kAnyFrame);
  }
  state_->buffer.text.clear();
  const std::string_view step = bytes.substr(0, kStep);
  bytes.remove_prefix(step.size());
  state_->input.write(step.data(), static_cast<std::streamsize>(step.size()));
  state_->input.flush();
  if (!state_->input.good()) throw BodyError("the response is no valid " + coding_);
  taken_ += step.size();
  made_ += state_->buffer.text.size();
  if (made_ > kFreeBytes && made_ / kMostGrowth > taken_)
    throw BodyError("the response is " + coding_ + " that grows beyond measure");
  return state_->buffer.text;
}

}  // namespace sortie

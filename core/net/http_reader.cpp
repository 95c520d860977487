#include "core/net/http_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/text/text.h"

namespace sortie {

namespace {

bool is_token(std::string_view text) {  // RFC 9110 §5.6.2
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

}  // namespace

std::string_view HttpReader::next(std::string_view& bytes) {
  if (state_ == State::head) {
    while (state_ == State::head && take_line(bytes, max_head_)) read_head_line();
    return {};
  }
  if (state_ != State::body) return {};
  switch (framing_) {
    case Framing::chunked:
      return read_chunked(bytes);
    case Framing::length: {
      const auto piece = take_data(bytes);
      if (left_ == 0) state_ = State::done;
      return piece;
    }
    default:
      return std::exchange(bytes, {});
  }
}

void HttpReader::at_end() {
  if (state_ == State::done || state_ == State::broken) return;
  keep_ = false;
  const bool whole = state_ == State::body && framing_ == Framing::until_end;
  state_ = whole ? State::done : State::broken;
}

/// Moves bytes up to the next LF into line_; true when a line is complete, its CR and LF removed.
bool HttpReader::take_line(std::string_view& bytes, std::size_t limit) {
  const std::size_t end = bytes.find('\n');
  const std::string_view text = bytes.substr(0, end);
  head_size_ += text.size() + 1;
  if (head_size_ > limit) {
    fail("the response's head is longer than " + std::to_string(limit) + " bytes");
    return false;
  }
  line_ += text;
  bytes.remove_prefix(text.size());
  if (end == std::string_view::npos) {
    --head_size_;
    return false;
  }
  bytes.remove_prefix(1);
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

/// status-line = "HTTP/1." DIGIT SP 3DIGIT [SP reason]; field-line = name ":" OWS value OWS
void HttpReader::read_head_line() {
  const std::string line = std::exchange(line_, {});
  if (head_.status == 0) {
    if (line.empty() && head_size_ <= 2) return;  // a stray line end before it (RFC 9112 §2.2)
    const bool shape = line.size() >= 12 && line.starts_with("HTTP/1.") &&
                       (line.size() == 12 || line[12] == ' ') && line[8] == ' ' &&
                       std::all_of(line.begin() + 9, line.begin() + 12,
                                   [](unsigned char c) { return std::isdigit(c); });
    if (!shape) return fail("what the server sent is no HTTP response");
    head_.status = std::stoi(line.substr(9, 3));
    keep_ = line[7] != '0';
    return;
  }
  if (line.empty()) return end_head();
  if (line.front() == ' ' || line.front() == '\t') {  // obs-fold: a blank in its place
    if (head_.headers.empty()) return fail("a header line begins with a blank");
    head_.headers.back().second += " " + std::string(without_blanks(line));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || !is_token(std::string_view(line).substr(0, colon)))
    return fail("a header line of the response is malformed");
  head_.headers.emplace_back(line.substr(0, colon),
                             without_blanks(std::string_view(line).substr(colon + 1)));
}

void HttpReader::end_head() {
  const int status = head_.status;
  if (status == 101) return fail("the server switched to another protocol unasked");
  if (status >= 100 && status < 200) {
    head_ = {};
    return;
  }
  const std::string connection = ascii_lower(header_value(head_.headers, "Connection"));
  if (connection.find("close") != std::string::npos) keep_ = false;
  if (connection.find("keep-alive") != std::string::npos) keep_ = true;

  const std::string coding =
      ascii_lower(without_blanks(header_value(head_.headers, "Transfer-Encoding")));
  std::string_view length;
  for (const auto& [name, value] : head_.headers) {
    if (ascii_lower(name) != "content-length") continue;
    if (length.data() && length != value) return fail("two different Content-Length headers");
    length = value;
  }
  head_size_ = 0;
  state_ = State::body;
  if (status == 204 || status == 304) {
    state_ = State::done;
  } else if (coding == "chunked") {
    framing_ = Framing::chunked;
  } else if (!coding.empty()) {
    fail("transfer encoding '" + coding + "' is not known");
  } else if (length.data()) {
    framing_ = Framing::length;
    const auto end = length.data() + length.size();
    const auto result = std::from_chars(length.data(), end, left_);
    if (length.empty() || result.ec != std::errc() || result.ptr != end)
      return fail("Content-Length is no number");
    if (left_ == 0) state_ = State::done;
  } else {
    framing_ = Framing::until_end;
    keep_ = false;
  }
}

/// chunk = 1*HEXDIG [";" extensions] CRLF data CRLF; the last has size 0 and is followed by
/// trailer lines and an empty line.
std::string_view HttpReader::read_chunked(std::string_view& bytes) {
  switch (chunk_) {
    case Chunk::data: {
      const auto piece = take_data(bytes);
      if (left_ == 0) chunk_ = Chunk::end;
      return piece;
    }
    case Chunk::size:
      if (take_line(bytes, max_head_)) read_chunk_size();
      return {};
    case Chunk::end:
      if (!take_line(bytes, max_head_)) return {};
      if (!line_.empty()) fail("a chunk of the body is longer than it says");
      line_.clear();
      head_size_ = 0;
      chunk_ = Chunk::size;
      return {};
    case Chunk::trailer:
      if (!take_line(bytes, max_head_)) return {};
      if (line_.empty()) state_ = State::done;
      line_.clear();
      return {};
  }
  return {};
}

void HttpReader::read_chunk_size() {
  const std::string line = std::exchange(line_, {});
  const auto digits = without_blanks(std::string_view(line).substr(0, line.find(';')));
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, left_, 16);
  if (digits.empty() || result.ec != std::errc() || result.ptr != end)
    return fail("a chunk's size is no number");
  head_size_ = 0;
  chunk_ = left_ == 0 ? Chunk::trailer : Chunk::data;
}

std::string_view HttpReader::take_data(std::string_view& bytes) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  const auto piece = bytes.substr(0, size);
  bytes.remove_prefix(size);
  left_ -= size;
  return piece;
}

void HttpReader::fail(std::string why) {
  problem_ = std::move(why);
  state_ = State::broken;
  keep_ = false;
}

}  // namespace sortie

#include "core/http1/body_reader.h"

#include <algorithm>
#include <charconv>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 4 << 10;      // a chunk's size with its extensions
constexpr std::size_t kLongestTrailer = 16 << 10;  // all its lines

}  // namespace

BodyReader::BodyReader(const BodyFraming& framing, const Http1Options& options)
    : framing_(framing),
      padded_chunk_size_(options.padded_chunk_size),
      lines_(options, kLongestLine),
      left_(framing.kind == BodyFraming::Kind::until_close ? ~0ull : framing.length) {
  if (framing.kind == BodyFraming::Kind::chunked)
    state_ = State::chunk_size;
  else if (framing.kind == BodyFraming::Kind::none || left_ == 0)
    state_ = State::done;
}

std::string_view BodyReader::next(std::string_view& bytes) {
  if (state_ == State::chunk_end || state_ == State::chunk_size) pass_plain_size(bytes);
  if (state_ == State::content || state_ == State::chunk_content) return take_content(bytes);
  if (state_ != State::done && state_ != State::malformed) read_line(bytes);
  return {};
}

std::size_t BodyReader::feed(std::string_view bytes, std::string& content) {
  const std::size_t size = bytes.size();
  while (!bytes.empty() && !is_done() && !is_malformed()) content += next(bytes);
  return size - bytes.size();
}

std::string_view BodyReader::take_content(std::string_view& bytes) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
  const auto piece = bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (framing_.kind != BodyFraming::Kind::until_close) left_ -= size;
  if (left_ == 0) state_ = state_ == State::content ? State::done : State::chunk_end;
  return piece;
}

/// Reads the end of a chunk and the size of the next one where they are whole and as nearly all servers
/// write them; read_line() reads all others. A stream of a model has a chunk for each delta.
void BodyReader::pass_plain_size(std::string_view& bytes) {
  if (!lines_.begun().empty()) return;
  std::string_view rest = bytes;
  if (state_ == State::chunk_end) {
    if (!rest.starts_with("\r\n")) return;
    rest.remove_prefix(2);
  }
  const char* const most = rest.data() + std::min<std::size_t>(rest.size(), 15);
  std::uint64_t size = 0;
  const auto result = std::from_chars(rest.data(), most, size, 16);
  const auto digits = static_cast<std::size_t>(result.ptr - rest.data());
  if (result.ec != std::errc() || digits == 0 || !rest.substr(digits).starts_with("\r\n")) return;
  rest.remove_prefix(digits + 2);
  left_ = size;
  state_ = size == 0 ? State::trailer : State::chunk_content;
  bytes = rest;
}

/// chunk = 1*HEXDIG [";" extensions] CRLF data CRLF; the last has size 0 and is followed by trailer
/// lines and an empty line.
void BodyReader::read_line(std::string_view& bytes) {
  const auto result = lines_.take(bytes);
  const bool is_end = state_ == State::chunk_end;
  const auto begun = lines_.begun();
  if (is_end && !begun.empty() && begun != "\r") return fail("a chunk is longer than it says");
  if (result == LineReader::Result::malformed) return fail("a line between chunks is malformed");
  if (result == LineReader::Result::incomplete) return;
  const std::string line = lines_.release();
  if (is_end) {
    state_ = State::chunk_size;
  } else if (state_ == State::chunk_size) {
    read_chunk_size(line);
  } else {
    trailer_bytes_ += line.size() + 2;
    if (line.empty())
      state_ = State::done;
    else if (trailer_bytes_ > kLongestTrailer)
      fail("the trailer is too long");
  }
}

void BodyReader::read_chunk_size(std::string_view line) {
  auto digits = line.substr(0, line.find(';'));
  if (padded_chunk_size_)
    digits = without_blanks(digits);
  else if (digits.size() < line.size())  // blanks before ';' are well-formed (RFC 9112 §7.1.1)
    digits = digits.substr(0, digits.find_last_not_of(" \t") + 1);
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, left_, 16);
  if (digits.empty() || digits.size() > 15 || result.ec != std::errc() || result.ptr != end)
    return fail("a chunk's size is not a number");
  state_ = left_ == 0 ? State::trailer : State::chunk_content;
}

void BodyReader::fail(const char* problem) {
  problem_ = problem;
  state_ = State::malformed;
}

bool BodyReader::finish() {
  if (state_ == State::content && framing_.kind == BodyFraming::Kind::until_close)
    state_ = State::done;
  return state_ == State::done;
}

void append_framed(const BodyFraming& framing, std::string_view content, std::string& out) {
  if (content.empty()) return;
  if (framing.kind != BodyFraming::Kind::chunked) {
    out += content;
    return;
  }
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), content.size(), 16).ptr;
  out.append(digits, end).append("\r\n").append(content).append("\r\n");
}

void append_body_end(const BodyFraming& framing, std::string& out) {
  if (framing.kind == BodyFraming::Kind::chunked) out += "0\r\n\r\n";
}

}  // namespace sortie

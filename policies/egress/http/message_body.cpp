#include "policies/egress/http/message_body.h"

#include <algorithm>
#include <charconv>

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 4 << 10;      // a chunk's size with its extensions
constexpr std::size_t kLongestTrailer = 16 << 10;  // all its lines

}  // namespace

BodyReader::BodyReader(const BodyFraming& framing) : framing_(framing), state_(State::content) {
  switch (framing.kind) {
    case BodyFraming::Kind::none:
      state_ = State::done;
      break;
    case BodyFraming::Kind::length:
      left_ = framing.length;
      if (left_ == 0) state_ = State::done;
      break;
    case BodyFraming::Kind::chunked:
      state_ = State::chunk_size;
      break;
    case BodyFraming::Kind::until_close:
      left_ = ~0ull;
      break;
  }
}

std::size_t BodyReader::feed(std::string_view bytes, std::string& content) {
  std::size_t used = 0;
  while (used < bytes.size()) {
    const auto rest = bytes.substr(used);
    std::size_t step = 0;
    switch (state_) {
      case State::content:
        step = take(rest, content, State::done);
        break;
      case State::chunk_content:
        step = take(rest, content, State::chunk_end);
        break;
      case State::chunk_size:
      case State::chunk_end:
      case State::trailer:
        step = read_line(rest);
        break;
      case State::done:
      case State::malformed:
        return used;
    }
    if (step == 0) return used;
    used += step;
  }
  return used;
}

std::size_t BodyReader::take(std::string_view bytes, std::string& content, State next) {
  const auto piece =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_)));
  content += piece;
  if (framing_.kind != BodyFraming::Kind::until_close) left_ -= piece.size();
  if (left_ == 0) state_ = next;
  return piece.size();
}

/// One whole line with its CRLF; 0 where it has not arrived yet.
std::size_t BodyReader::read_line(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  const auto line = bytes.substr(0, end);
  const std::size_t cr = line.find('\r');
  const bool ends_in_cr = cr != std::string_view::npos && cr + 1 == line.size();
  const bool lone_cr = cr != std::string_view::npos && !ends_in_cr;
  const bool no_chunk_end = state_ == State::chunk_end && !line.empty() && line.front() != '\r';
  const bool lone_lf = end != std::string_view::npos && !ends_in_cr;
  if (lone_cr || lone_lf || no_chunk_end || line.size() > kLongestLine ||
      line.find('\0') != std::string_view::npos) {
    state_ = State::malformed;
    return 0;
  }
  if (end == std::string_view::npos) return 0;
  on_line(line.substr(0, cr));
  return state_ == State::malformed ? 0 : end + 1;
}

void BodyReader::on_line(std::string_view line) {
  switch (state_) {
    case State::chunk_size:
      read_chunk_size(line);
      break;
    case State::chunk_end:
      state_ = line.empty() ? State::chunk_size : State::malformed;
      break;
    default:  // the trailer
      lines_ += line.size() + 2;
      if (line.empty())
        state_ = State::done;
      else if (lines_ > kLongestTrailer)
        state_ = State::malformed;
  }
}

void BodyReader::read_chunk_size(std::string_view line) {
  const auto digits = line.substr(0, line.find(';'));
  const auto size_end = digits.find_last_not_of(" \t") + 1;  // blanks before ';': RFC 9112 §7.1.1
  const bool blanks_alone = line.size() == digits.size() && size_end != digits.size();
  std::uint64_t size = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + size_end, size, 16);
  if (size_end == 0 || size_end > 15 || blanks_alone || result.ec != std::errc() ||
      result.ptr != digits.data() + size_end) {
    state_ = State::malformed;
    return;
  }
  left_ = size;
  state_ = size == 0 ? State::trailer : State::chunk_content;
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
  out.append(digits, end);
  out += "\r\n";
  out += content;
  out += "\r\n";
}

void append_body_end(const BodyFraming& framing, std::string& out) {
  if (framing.kind == BodyFraming::Kind::chunked) out += "0\r\n\r\n";
}

}  // namespace sortie

#include "core/net/http_reader.h"

#include <utility>

namespace sortie {

namespace {

constexpr Http1Options kSloppyServers{.bare_lf = true,
                                      .folded_headers = true,
                                      .repeated_length = true,
                                      .length_and_coding = true,
                                      .padded_chunk_size = true};

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

}  // namespace sortie

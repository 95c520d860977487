#include "core/http1/message_head.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kHopByHop[] = {"connection",
                                          "keep-alive",
                                          "proxy-connection",
                                          "proxy-authorization",
                                          "te",
                                          "proxy-authenticate",
                                          "proxy-authentication-info",
                                          "trailer",
                                          "upgrade",
                                          "transfer-encoding",
                                          "content-length",
                                          "http2-settings"};

template <typename Use>
void each_word(std::string_view list, const Use& use) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const auto word = without_blanks(list.substr(begin, end - begin));
    if (!word.empty()) use(word);
    begin = end + 1;
  }
}

/// All lines of that name; `same` is false where they differ.
struct Repeated {
  std::size_t count = 0;
  std::string_view value{};
  bool same = true;
};

Repeated repeated(const HttpHeaders& headers, std::string_view name) {
  Repeated found;
  for (const auto& [each, value] : headers) {
    if (!equal_ignoring_case(each, name)) continue;
    if (found.count++ == 0) found.value = value;
    found.same = found.same && value == found.value;
  }
  return found;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_ascii_alphanumeric(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return is_ascii_alphanumeric(c) || c == '-' || c == '_';
  });
}

bool is_header_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

std::size_t count_headers(const HttpHeaders& headers, std::string_view name) {
  return repeated(headers, name).count;
}

std::string_view header_value(const HttpHeaders& headers, std::string_view name) {
  return repeated(headers, name).value;
}

bool list_has(const HttpHeaders& headers, std::string_view name, std::string_view word) {
  bool found = false;
  for (const auto& [each, value] : headers)
    if (equal_ignoring_case(each, name))
      each_word(value, [&](std::string_view one) { found |= equal_ignoring_case(one, word); });
  return found;
}

void remove_hop_by_hop(HttpHeaders& headers) {
  std::vector<std::string> removed(std::begin(kHopByHop), std::end(kHopByHop));
  for (const auto& [name, value] : headers)
    if (equal_ignoring_case(name, "connection"))
      each_word(value, [&](std::string_view word) { removed.push_back(ascii_lower(word)); });
  std::erase_if(headers,
                [&](const auto& header) { return is_one_of(ascii_lower(header.first), removed); });
}

StatusLine read_status_line(std::string_view line) {
  const bool shape = (line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ")) &&
                     line.size() >= 12 && (line.size() == 12 || line[12] == ' ') &&
                     std::all_of(line.begin() + 9, line.begin() + 12, is_ascii_digit);
  const auto reason = line.substr(std::min<std::size_t>(13, line.size()));
  if (!shape || line[9] == '0' || !is_header_value(reason)) return {};
  StatusLine read{.minor = line[7] - '0', .reason = std::string(reason)};
  std::from_chars(line.data() + 9, line.data() + 12, read.status);
  return read;
}

std::string read_header_line(std::string_view line, const Http1Options& options,
                             HttpHeaders& headers) {
  const auto continued = without_blanks(line);
  if (!is_header_value(line)) return "a header field has a control byte";
  if (!line.empty() && is_blank(line.front())) {
    if (!options.folded_headers || headers.empty()) return "a header field goes on in a new line";
    headers.back().second.append(" ").append(continued);
    return "";
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return "a header line has no colon";
  const auto name = line.substr(0, colon);
  if (!is_token(name)) return "the name of a header field is malformed";
  headers.emplace_back(name, without_blanks(line.substr(colon + 1)));
  return "";
}

std::string read_header_lines(std::string_view lines, const Http1Options& options,
                              HttpHeaders& headers) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    if (end == std::string_view::npos) return "a header line has no end";
    if (auto problem = read_header_line(lines.substr(0, end), options, headers); !problem.empty())
      return problem;
    lines.remove_prefix(end + 2);
  }
  return "";
}

std::string read_framing(const HttpHeaders& headers, const Http1Options& options,
                         BodyFraming& framing) {
  const Repeated length = repeated(headers, "content-length");
  const Repeated coding = repeated(headers, "transfer-encoding");
  framing = {};
  if (length.count > 0 && coding.count > 0 && !options.length_and_coding)
    return "both Content-Length and Transfer-Encoding are given";
  if (length.count > 1 && !(options.repeated_length && length.same))
    return "Content-Length is given twice";
  if (coding.count > 1) return "Transfer-Encoding is given twice";
  if (coding.count == 1) {
    if (!equal_ignoring_case(coding.value, "chunked"))
      return "the only transfer coding that is known is 'chunked'";
    framing.kind = BodyFraming::Kind::chunked;
  } else if (length.count > 0) {
    const auto digits = length.value;
    if (digits.empty() || digits.size() > 18 ||
        !std::all_of(digits.begin(), digits.end(), is_ascii_digit))
      return "Content-Length is not a number";
    std::from_chars(digits.data(), digits.data() + digits.size(), framing.length);
    framing.kind = BodyFraming::Kind::length;
  }
  return "";
}

HeadEnd find_head_end(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\0') return {HeadEnd::Found::malformed, 0};
    if (c == '\n' && (i == 0 || bytes[i - 1] != '\r')) return {HeadEnd::Found::malformed, 0};
    if (c != '\r') continue;
    if (i + 1 < bytes.size() && bytes[i + 1] != '\n') return {HeadEnd::Found::malformed, 0};
    if (i >= 2 && i + 1 < bytes.size() && bytes.substr(i - 2, 4) == "\r\n\r\n")
      return {HeadEnd::Found::complete, i + 2};
  }
  return {};
}

LineReader::Result LineReader::take(std::string_view& bytes) {
  const std::size_t lf = bytes.find('\n');
  const auto piece = bytes.substr(0, lf);
  const std::size_t known = line_.empty() ? 0 : line_.size() - 1;  // before it all is in order
  line_.append(piece.substr(0, max_bytes_ + 1));
  bytes.remove_prefix(lf == std::string_view::npos ? piece.size() : lf + 1);
  const std::size_t cr = line_.find('\r', known);
  const bool ends_in_cr = cr != std::string::npos && cr + 1 == line_.size();
  const bool is_whole = lf != std::string_view::npos;
  if ((cr != std::string::npos && !ends_in_cr) || line_.size() > max_bytes_ ||
      line_.find('\0', known) != std::string::npos || (is_whole && !ends_in_cr && !bare_lf_))
    return Result::malformed;
  if (!is_whole) return Result::incomplete;
  if (ends_in_cr) line_.pop_back();
  return Result::complete;
}

std::string LineReader::release() { return std::exchange(line_, {}); }

}  // namespace sortie

#include "policies/egress/http/http_fields.h"

#include <algorithm>
#include <charconv>

namespace sortie {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_token_byte(char c) {
  const char folded = lower(c);
  return (folded >= 'a' && folded <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <typename Use>
void each_word(std::string_view list, const Use& use) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const auto word = trimmed(list.substr(begin, end - begin));
    if (!word.empty()) use(word);
    begin = end + 1;
  }
}

std::string read_field(std::string_view line, HttpField& field) {
  if (line.starts_with(' ') || line.starts_with('\t'))
    return "a header field goes on in a new line";
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return "a header line has no colon";
  const auto name = line.substr(0, colon);
  if (!is_token(name)) return "the name of a header field is malformed";
  const auto value = trimmed(line.substr(colon + 1));
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) return "a header field has a control byte";
  }
  field = {std::string(name), std::string(value)};
  return "";
}

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

}  // namespace

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

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_byte);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::size_t count_fields(const HttpFields& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(),
                    [&](const HttpField& field) { return equal_ignoring_case(field.name, name); }));
}

std::string_view field_value(const HttpFields& fields, std::string_view name) {
  for (const HttpField& field : fields)
    if (equal_ignoring_case(field.name, name)) return field.value;
  return {};
}

bool list_has(const HttpFields& fields, std::string_view name, std::string_view word) {
  bool found = false;
  for (const HttpField& field : fields) {
    if (!equal_ignoring_case(field.name, name)) continue;
    each_word(field.value,
              [&](std::string_view each) { found |= equal_ignoring_case(each, word); });
  }
  return found;
}

std::string read_fields(std::string_view lines, HttpFields& fields) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    if (end == std::string_view::npos) return "a header line has no end";
    HttpField field;
    if (auto problem = read_field(lines.substr(0, end), field); !problem.empty()) return problem;
    fields.push_back(std::move(field));
    lines.remove_prefix(end + 2);
  }
  return "";
}

std::string read_framing(const HttpFields& fields, BodyFraming& framing) {
  const std::size_t lengths = count_fields(fields, "content-length");
  const std::size_t codings = count_fields(fields, "transfer-encoding");
  framing = {};
  if (lengths + codings == 0) return "";
  if (lengths > 0 && codings > 0) return "both Content-Length and Transfer-Encoding are given";
  if (codings > 1) return "Transfer-Encoding is given twice";
  if (codings == 1) {
    if (!equal_ignoring_case(field_value(fields, "transfer-encoding"), "chunked"))
      return "the only transfer coding that is known is 'chunked'";
    framing.kind = BodyFraming::Kind::chunked;
    return "";
  }
  if (lengths > 1) return "Content-Length is given twice";
  const auto digits = field_value(fields, "content-length");
  const bool plain =
      !digits.empty() && digits.size() <= 18 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!plain) return "Content-Length is no number";
  std::from_chars(digits.data(), digits.data() + digits.size(), framing.length);
  framing.kind = BodyFraming::Kind::length;
  return "";
}

void remove_hop_by_hop(HttpFields& fields) {
  std::vector<std::string> named;
  for (const HttpField& field : fields) {
    if (equal_ignoring_case(field.name, "connection"))
      each_word(field.value, [&](std::string_view word) { named.emplace_back(word); });
  }
  std::erase_if(fields, [&](const HttpField& field) {
    const auto same = [&](std::string_view name) { return equal_ignoring_case(field.name, name); };
    return std::any_of(std::begin(kHopByHop), std::end(kHopByHop), same) ||
           std::any_of(named.begin(), named.end(), same);
  });
}

}  // namespace sortie

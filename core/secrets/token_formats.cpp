#include "core/secrets/token_formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_of(Alphabet alphabet, char c) {
  switch (alphabet) {
    case Alphabet::digits_upper:
      return is_digit(c) || is_upper(c);
    case Alphabet::hex_lower:
      return is_digit(c) || (c >= 'a' && c <= 'f');
    case Alphabet::hex:
      return is_hex(c);
    case Alphabet::alphanumeric:
      return is_ascii_alphanumeric(c);
    case Alphabet::word:
      return is_ascii_alphanumeric(c) || c == '_';
    case Alphabet::base64url:
      return is_ascii_alphanumeric(c) || c == '_' || c == '-';
    case Alphabet::base64url_dots:
      return is_ascii_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  }
  return false;
}

/// Whether the character continues a word, in any alphabet: a token is a whole word. A dot may end
/// the sentence.
bool goes_on(Alphabet alphabet, char c) {
  return (is_of(alphabet, c) && c != '.') || is_ascii_alphanumeric(c) || c == '_';
}

bool has_digit(std::string_view body) { return std::any_of(body.begin(), body.end(), is_digit); }

/// Whether a piece of at least 16 characters between '-' and '_' mixes digits and letters: random
/// tokens have one, names of packages, classes and files ("sk-estimator-doc-link-2") don't.
bool is_drawn(std::string_view body) {
  std::size_t length = 0;
  bool digit = false;
  bool letter = false;
  for (const char c : body) {
    if (!is_ascii_alphanumeric(c)) {
      length = 0;
      digit = letter = false;
      continue;
    }
    ++length;
    (is_digit(c) ? digit : letter) = true;
    if (length >= 16 && digit && letter) return true;
  }
  return false;
}

/// SendGrid: an id of 22, a dot, a secret of 43.
bool is_sendgrid(std::string_view body) {
  return body[22] == '.' && std::count(body.begin(), body.end(), '.') == 1;
}

/// Grafana: 32, an underscore, a checksum of 8.
bool is_grafana(std::string_view body) { return body[32] == '_'; }

constexpr bool kAnywhere = false;
constexpr bool kAtBorder = true;

/// Lengths and alphabets as published by the issuers, or as used in their scanners.
const std::vector<TokenFormat>& rows() {
  using enum Alphabet;
  static const std::vector<TokenFormat> table = {
      {"private-key", "-----BEGIN ", base64url, 0, 0, kAnywhere},
      // OpenAI, Anthropic ("sk-ant-"), OpenRouter, DeepSeek and others
      {"sk-key", "sk-", base64url, 20, kOpen, kAtBorder, is_drawn},
      {"github-token", "ghp_", alphanumeric, 36, kOpen, kAnywhere},
      {"github-token", "gho_", alphanumeric, 36, kOpen, kAnywhere},
      {"github-token", "ghu_", alphanumeric, 36, kOpen, kAnywhere},
      {"github-token", "ghs_", word, 36, kOpen, kAnywhere},
      {"github-token", "ghr_", alphanumeric, 36, kOpen, kAnywhere},
      {"github-token", "github_pat_", word, 82, kOpen, kAnywhere},
      {"gitlab-token", "glpat-", base64url_dots, 20, kOpen, kAtBorder, has_digit},
      {"gitlab-token", "gldt-", base64url, 20, kOpen, kAtBorder, has_digit},
      {"gitlab-token", "glrt-", base64url_dots, 20, kOpen, kAtBorder, has_digit},
      {"gitlab-token", "glptt-", hex, 40, 40, kAtBorder},
      {"gitlab-token", "glcbt-", base64url, 20, kOpen, kAtBorder, has_digit},
      {"gitlab-token", "glsoat-", base64url, 20, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxa-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxb-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxe-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxo-", base64url, 40, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxp-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxr-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xoxs-", base64url, 10, kOpen, kAtBorder, has_digit},
      {"slack-token", "xapp-", base64url, 40, kOpen, kAtBorder, has_digit},
      // AWS: the prefix says what the key is for; the rest is base32
      {"aws-key-id", "AKIA", digits_upper, 16, 16, kAtBorder},
      {"aws-key-id", "ASIA", digits_upper, 16, 16, kAtBorder},
      {"aws-key-id", "ABIA", digits_upper, 16, 16, kAtBorder},
      {"aws-key-id", "ACCA", digits_upper, 16, 16, kAtBorder},
      {"npm-token", "npm_", alphanumeric, 36, 36, kAtBorder},
      {"pypi-token", "pypi-AgEIcHlwaS5vcmc", base64url, 50, kOpen, kAnywhere},
      {"pypi-token", "pypi-AgENdGVzdC5weXBpLm9yZw", base64url, 50, kOpen, kAnywhere},
      {"google-api-key", "AIza", base64url, 35, 35, kAtBorder},
      {"google-oauth-token", "ya29.", base64url_dots, 20, kOpen, kAtBorder, is_drawn},
      {"google-client-secret", "GOCSPX-", base64url, 28, 28, kAtBorder},
      {"sendgrid-key", "SG.", base64url_dots, 66, 66, kAtBorder, is_sendgrid},
      {"huggingface-token", "hf_", alphanumeric, 34, 34, kAtBorder},
      {"groq-key", "gsk_", alphanumeric, 52, 52, kAtBorder},
      {"xai-key", "xai-", alphanumeric, 80, 80, kAtBorder},
      {"replicate-token", "r8_", alphanumeric, 37, 37, kAtBorder},
      {"digitalocean-token", "dop_v1_", hex_lower, 64, 64, kAtBorder},
      {"digitalocean-token", "doo_v1_", hex_lower, 64, 64, kAtBorder},
      {"digitalocean-token", "dor_v1_", hex_lower, 64, 64, kAtBorder},
      {"square-token", "sq0atp-", base64url, 22, 22, kAtBorder},
      {"square-token", "sq0csp-", base64url, 43, 43, kAtBorder},
      {"stripe-key", "sk_live_", alphanumeric, 16, kOpen, kAtBorder},
      {"stripe-key", "sk_test_", alphanumeric, 16, kOpen, kAtBorder, has_digit},
      {"stripe-key", "rk_live_", alphanumeric, 16, kOpen, kAtBorder},
      {"stripe-key", "rk_test_", alphanumeric, 16, kOpen, kAtBorder, has_digit},
      {"shopify-token", "shpat_", hex, 32, 32, kAtBorder},
      {"shopify-token", "shpca_", hex, 32, 32, kAtBorder},
      {"shopify-token", "shppa_", hex, 32, 32, kAtBorder},
      {"shopify-token", "shpss_", hex, 32, 32, kAtBorder},
      {"supabase-token", "sbp_", hex_lower, 40, 40, kAtBorder},
      {"vault-token", "hvs.", base64url, 90, kOpen, kAtBorder},
      {"docker-token", "dckr_pat_", base64url, 27, 27, kAtBorder},
      {"rubygems-key", "rubygems_", hex_lower, 48, 48, kAtBorder},
      {"grafana-token", "glsa_", word, 41, 41, kAtBorder, is_grafana},
      {"linear-key", "lin_api_", alphanumeric, 40, 40, kAtBorder},
      {"figma-token", "figd_", base64url, 40, kOpen, kAtBorder, has_digit},
      {"age-key", "AGE-SECRET-KEY-1", digits_upper, 58, 58, kAtBorder},
  };
  return table;
}

// ---- private key blocks ----

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kDashes = "-----";
constexpr std::size_t kLongestLabel = 40;
/// A base64 line of a key has 64 or 70 characters; names in programs are shorter than this.
constexpr std::size_t kShortestKeyLine = 40;

bool is_base64(char c) { return is_ascii_alphanumeric(c) || c == '+' || c == '/' || c == '='; }

std::size_t longest_base64_run(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = is_base64(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// The end of the key in one of its lines, which may begin with numbers, marks or quotes: after its
/// last long run of base64, or after a short one that is the whole line; 0 if there is none.
std::size_t end_of_key(std::string_view line) {
  std::size_t end = 0;
  std::size_t run = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    run = is_base64(line[i]) || line[i] == '\\' ? run + 1 : 0;
    if (run >= 16) end = i + 1;
  }
  if (end == 0 && run > 0 && line.find_last_of(" \t:", line.size() - run) == line.size() - run - 1)
    return line.size();
  return end == 0 && run == line.size() ? run : end;
}

/// How much of a block without its last line is part of the key: lines of base64, the headers that
/// old formats have before them and, if it is one string, the escapes for line breaks.
std::size_t cut_block(std::string_view text, std::size_t body) {
  std::size_t end = body;
  for (std::size_t at = body; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, newline - at);
    const std::size_t last = end_of_key(line);
    const bool key = last > 0;
    const bool header = line.find(": ") != std::string_view::npos && line.size() < 100;
    const bool empty = line.find_first_not_of(" \t\r\"'\\n+") == std::string_view::npos;
    if (!key && !header && !empty) break;
    if (key) end = at + last;
    at = newline + 1;
  }
  return end;
}

ShapeVerdict judge_key_block(std::string_view text, bool ended) {
  using enum ShapeVerdict::Kind;
  const std::size_t limit = kLongestKeyBlock;
  const bool whole = ended || text.size() >= limit;
  text = text.substr(0, limit);
  const std::string_view after = text.substr(kBegin.size());
  const std::size_t label = after.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
  const std::size_t length = std::min({label, after.size(), kLongestLabel});
  const std::string_view name = after.substr(0, length);
  const std::string_view dashes = after.substr(length, kDashes.size());
  if (label == std::string_view::npos || (dashes.size() < kDashes.size() && length < kLongestLabel))
    if (!ended && length < kLongestLabel && kDashes.starts_with(dashes)) return {more, 0};
  if (dashes != kDashes || !(name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK")))
    return {no, 1};

  const std::size_t body = kBegin.size() + length + kDashes.size();
  const std::size_t next = text.find(kBegin, body);
  const std::size_t border = std::min(next, text.size());
  const std::string end_line = "-----END " + std::string(name) + "-----";
  const std::size_t end = text.substr(0, border).find(end_line, body);
  if (end == std::string_view::npos && next == std::string_view::npos && !whole) return {more, 0};
  const bool is_whole = end != std::string_view::npos;
  const std::size_t last = is_whole ? end : cut_block(text.substr(0, border), body);
  if (longest_base64_run(text.substr(body, last - body)) < kShortestKeyLine) return {no, 1};
  return {hit, is_whole ? end + end_line.size() : last};
}

/// A credential's name and an assignment: "password = ", "api_key: ", "secret => ".
constexpr std::string_view kAssigned =
    R"re((?i)(?:_pwd|(?:\b|_)(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|)re"
    R"re(access[_-]?key|private[_-]?key|client[_-]?secret|credentials?))["']?\s*(?:=>|=|:)\s*)re";
// "PWD=/work" is a shell's folder, in each listing of its variables; "Pwd=x" is a password.
constexpr std::string_view kPwdAssigned = R"re((?i)\bpwd["']?\s*(?:=>|=|:)\s*)re";
// A value in quotes may hold blanks; one without ends at what ends a word in shells and URLs.
// "$X", "${{ … }}", "<…>", "%s" and "***" stand for a value and are none; nor is our own mark.
constexpr std::string_view kDoubleQuoted = R"re("([^"$<{%*\[][^"]{3,})re";
constexpr std::string_view kSingleQuoted = R"re('([^'$<{%*\[][^']{3,})re";
constexpr std::string_view kBare = R"re(([^\s"'$<{%*\[(&,;][^\s"'&,;()]{3,})re";
constexpr std::string_view kQuotedNoPath = R"re(["']([^"'$<{%*\[/][^"']{3,})re";
constexpr std::string_view kBareNoPath = R"re(([^\s"'$<{%*\[(&,;/][^\s"'&,;()]{3,})re";
constexpr const char* kBearer = R"re((?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{12,}=*))re";
constexpr const char* kWebToken =
    R"re(\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*))re";
constexpr const char* kUserInfo =
    R"re(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:@"'<>]*:([^\s/?#@"'<>$\[{]{2,})@)re";

}  // namespace

const std::vector<TokenFormat>& token_shapes() { return rows(); }

ShapeVerdict judge_shape(const TokenFormat& shape, std::string_view text, bool ended) {
  using enum ShapeVerdict::Kind;
  if (shape.longest == 0) return judge_key_block(text, ended);
  const std::size_t prefix = std::string_view(shape.prefix).size();
  const std::string_view rest = text.substr(prefix);
  const std::size_t most = std::min(rest.size(), shape.longest);
  std::size_t length = 0;
  while (length < most && is_of(shape.body, rest[length])) ++length;
  const bool open = shape.longest == kOpen;
  const bool seen_to_its_end = length < rest.size() || ended || (open && length == kOpen);
  if (!seen_to_its_end) return {more, 0};
  // A dot at the end of a sentence is not part of the token.
  std::size_t used = length;
  while (shape.body == Alphabet::base64url_dots && used > 0 && rest[used - 1] == '.') --used;
  const std::string_view body = rest.substr(0, used);
  const bool cut = !open && length < rest.size() && goes_on(shape.body, rest[length]);
  if (used < shape.shortest || cut || (shape.holds != nullptr && !shape.holds(body)))
    return {no, open ? prefix + length : 1};
  return {hit, prefix + used};
}

bool follows_border(std::string_view before) {
  if (before.empty() || !is_ascii_alphanumeric(before.back())) return true;
  const auto from_end = [&](std::size_t back) {
    return back <= before.size() ? before[before.size() - back] : '\0';
  };
  const auto all_hex = [&](std::size_t count) {
    for (std::size_t back = 1; back <= count; ++back)
      if (!is_hex(from_end(back))) return false;
    return true;
  };
  if (from_end(2) == '\\' && std::string_view("nrtbfv0").find(before.back()) != std::string::npos)
    return true;
  if (all_hex(2) && (from_end(3) == '%' || (from_end(4) == '\\' && from_end(3) == 'x')))
    return true;
  if (all_hex(4) && from_end(6) == '\\' && from_end(5) == 'u') return true;
  // A terminal's "ESC [ 32 m".
  if (before.back() != 'm') return false;
  std::size_t at = before.size() - 1;
  while (at > 0 && (is_digit(before[at - 1]) || before[at - 1] == ';')) --at;
  return at > 0 && before[at - 1] == '[';
}

const std::vector<LineShape>& loose_shapes() {
  static const std::vector<LineShape> shapes = [] {
    std::vector<LineShape> list;
    // What is needed is what their names have in common.
    const auto add = [&list](const char* name, const std::string& expression,
                             std::vector<std::string> needed) {
      list.push_back({name, Pattern::rare_line_expression(expression, std::move(needed)), 1});
    };
    for (const auto value : {kDoubleQuoted, kSingleQuoted, kBare})
      add("password", std::string(kAssigned) + std::string(value) + ")",
          {"pass", "_pwd", "secret", "token", "key", "credential"});
    for (const auto value : {kQuotedNoPath, kBareNoPath})
      add("password", std::string(kPwdAssigned) + std::string(value) + ")", {"pwd"});
    add("credential", kBearer, {"bearer", "basic"});
    add("web-token", kWebToken, {"eyJ"});
    add("password", kUserInfo, {"://"});
    return list;
  }();
  return shapes;
}

}  // namespace sortie

#include "policies/rules/host_pattern.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxLabel = 63;

bool is_host_letter(char c) {
  return (c >= 'a' && c <= 'z') || is_ascii_digit(c) || c == '-' || c == '_';
}

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, 16> address{};
  return ::inet_pton(family, text.c_str(), address.data()) == 1;
}

/// 1 to 65535 in decimal without leading zeros; else 0.
int port_number(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return 0;
  int port = 0;
  for (const char c : text) {
    if (!is_ascii_digit(c)) return 0;
    port = port * 10 + (c - '0');
  }
  return port <= 65535 ? port : 0;
}

/// Why the text can't be a host name, or "".
std::string name_problem(std::string_view name) {
  if (name.empty()) return "the host is missing";
  if (name.size() > kMaxHost) return "a host has at most 253 letters";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view label = name.substr(begin, end - begin);
    if (label.empty()) return "a part between its dots is empty";
    if (label.size() > kMaxLabel) return "a part between its dots has more than 63 letters";
    if (label.find('*') != std::string_view::npos)
      return "'*' stands for whole names at the left only, as in *.example.org";
    if (!std::all_of(label.begin(), label.end(), is_host_letter))
      return "a host is written with letters, digits, '-' and dots";
    if (label.front() == '-' || label.back() == '-') return "no part begins or ends with '-'";
    begin = end + 1;
  }
  // 127.1, 0x7f.0.0.1 and 2130706433 are addresses to some programs and names to others.
  const std::string_view last = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
  if (is_ascii_digit(last.front()) && !is_address(AF_INET, std::string(name)))
    return "an IPv4 address is written as four numbers, 192.0.2.1";
  return "";
}

/// The sign that makes it an address of some other kind than a host's; "" for none.
std::string foreign_sign(std::string_view text) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable) return "it has blanks or letters beyond ASCII (a host's ASCII form begins xn--)";
  if (text.find("://") != std::string_view::npos) return "the host alone, without a scheme";
  if (text.find('@') != std::string_view::npos) return "the host alone, without a user";
  if (text.find_first_of("/?#\\") != std::string_view::npos)
    return "the host alone, without a path";
  return "";
}

}  // namespace

std::optional<HostPattern> parse_host_pattern(std::string_view text, std::string& problem) {
  problem = text.empty() ? "the host is missing" : foreign_sign(text);
  if (!problem.empty()) return std::nullopt;
  HostPattern pattern;
  std::string_view rest;  // behind the host
  if (text.front() == '[') {
    const std::size_t end = text.find(']');
    pattern.host = ascii_lower(text.substr(1, std::min(end, text.size()) - 1));
    pattern.address = true;
    if (end == std::string_view::npos || !is_address(AF_INET6, pattern.host)) {
      problem = "an IPv6 address stands in brackets, [2001:db8::1]";
      return std::nullopt;
    }
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    if (colon != text.rfind(':')) {
      problem = "an IPv6 address stands in brackets, [2001:db8::1]";
      return std::nullopt;
    }
    pattern.host = ascii_lower(text.substr(0, colon));
    rest = colon == std::string_view::npos ? "" : text.substr(colon);
  }
  if (!rest.empty()) {
    pattern.port = rest.front() == ':' ? port_number(rest.substr(1)) : 0;
    if (pattern.port == 0) {
      problem = "a port is a number from 1 to 65535";
      return std::nullopt;
    }
  }
  if (pattern.address) return pattern;
  if (pattern.host == "*") {
    pattern.any = true;
    pattern.host.clear();
    return pattern;
  }
  if (pattern.host.starts_with("*.")) {
    pattern.subdomains = true;
    pattern.host.erase(0, 2);
  }
  problem = name_problem(pattern.host);
  pattern.address = is_address(AF_INET, pattern.host);
  if (problem.empty() && pattern.subdomains && pattern.address)
    problem = "an IP address has no hosts below it";
  if (!problem.empty()) return std::nullopt;
  return pattern;
}

}  // namespace sortie

#include "core/host/host.h"

#include <algorithm>
#include <charconv>

namespace sortie {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_name_byte(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Whether some program would read the label as a number, and so the name as an address.
bool looks_numeric(std::string_view label) {
  if (label.starts_with("0x")) {
    label.remove_prefix(2);
    return std::all_of(label.begin(), label.end(), is_hex);
  }
  return std::all_of(label.begin(), label.end(), is_digit);
}

HostReading refused(std::string problem) { return {std::nullopt, std::move(problem)}; }

HostReading read_bracketed(std::string_view text) {
  if (text.size() < 2 || text.back() != ']') return refused("']' is missing after the address");
  const auto inner = text.substr(1, text.size() - 2);
  if (inner.find('%') != std::string_view::npos)
    return refused("an address with a zone is not supported");
  const auto address = read_ip_address(inner);
  if (!address || !address->v6) return refused("expected an IPv6 address in the brackets");
  if (is_ipv4_in_disguise(*address)) return refused("an IPv4 address must be written in IPv4 form");
  return {Host{address->text(), address}, ""};
}

/// Why the text is not a host name, or "".
std::string problem_of(std::string_view text) {
  if (text.find('@') != std::string_view::npos) return "a user name before the host is not allowed";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x21 || byte == 0x7f) return "the host name has a control character or blank";
    if (byte >= 0x80) return "a non-ASCII host name must be written in its xn-- form";
    if (c == '%') return "a host name can't have percent signs";
    if (c == ':') return "an IPv6 address must be in brackets";
    if (c == '*') return "'*' is not a host: wildcards are for policies only";
    if (c != '.' && !is_name_byte(c)) return std::string("a host name can't have '") + c + "'";
  }
  if (text.empty()) return "the host name is missing";
  if (text.size() > kLongestName) return "the host name is longer than 253 bytes";
  return "";
}

std::string problem_of_label(std::string_view label) {
  if (label.empty()) return "the host name has an empty part";
  if (label.size() > kLongestLabel) return "a part of the host name is longer than 63 bytes";
  if (label.front() == '-' || label.back() == '-')
    return "a part of the host name begins or ends with '-'";
  return "";
}

/// Removes ":PORT" from the text's end, if it is there. @return why it is invalid, or ""
std::string cut_port(std::string_view& text, std::uint16_t& port) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return "']' is missing after the address";
  const std::size_t colon = text.find(':', bracket);
  if (colon == std::string_view::npos) return "";
  const auto digits = text.substr(colon + 1);
  if (digits.find(':') != std::string_view::npos) return "an IPv6 address must be in brackets";
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, port);
  if (digits.empty() || digits.size() > 5 || result.ec != std::errc() || result.ptr != end ||
      port == 0)
    return "expected a port from 1 to 65535";
  text = text.substr(0, colon);
  return "";
}

/// Why an entry of a policy is not a host with a port, or "".
std::string problem_of_entry(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return "expected a host without a scheme";
  if (text.find('@') != std::string_view::npos) return "expected a host without a user";
  if (text.find_first_of("/?#\\") == std::string_view::npos) return "";
  return "expected a host without a path";
}

}  // namespace

HostReading read_host(std::string_view text) {
  if (text.starts_with('[')) return read_bracketed(text);
  const std::string folded = lower(text);
  std::string_view name = folded;
  if (name.size() > 1 && name.ends_with('.')) name.remove_suffix(1);
  if (auto problem = problem_of(name); !problem.empty()) return refused(std::move(problem));
  std::string_view last;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    last = name.substr(begin, end - begin);
    if (auto problem = problem_of_label(last); !problem.empty()) return refused(std::move(problem));
    begin = end + 1;
  }
  if (!looks_numeric(last)) return {Host{std::string(name), std::nullopt}, ""};
  const auto address = read_ip_address(name);
  if (!address || name.size() != folded.size())
    return refused("an IPv4 address must be four decimal numbers without leading zeros");
  return {Host{address->text(), address}, ""};
}

AuthorityReading read_authority(std::string_view text, std::uint16_t default_port) {
  if (text.find('@') != std::string_view::npos)
    return {std::nullopt, "a user name before the host is not allowed"};
  std::uint16_t port = default_port;
  if (auto problem = cut_port(text, port); !problem.empty())
    return {std::nullopt, std::move(problem)};
  if (port == 0) return {std::nullopt, "the port is missing"};
  HostReading reading = read_host(text);
  if (!reading.host) return {std::nullopt, std::move(reading.problem)};
  return {Authority{std::move(*reading.host), port}, ""};
}

std::string authority_text(const Host& host, std::uint16_t port) {
  const bool brackets = host.address && host.address->v6;
  return (brackets ? "[" + host.name + "]" : host.name) + ":" + std::to_string(port);
}

bool is_loopback_host(std::string_view name) {
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  const auto address = read_ip_address(name);
  if (!address) return false;
  return address->v6 ? address->text() == "::1" : address->bytes[0] == 127;
}

bool HostPattern::covers(std::string_view name) const {
  if (any) return true;
  if (!subdomains) return name == host.name;
  // Only at the border of a label: "*.example.org" does not match "badexample.org".
  return name.size() > host.name.size() + 1 && name.ends_with(host.name) &&
         name[name.size() - host.name.size() - 1] == '.';
}

std::optional<HostPattern> parse_host_pattern(std::string_view text, std::string& problem) {
  problem = problem_of_entry(text);
  HostPattern pattern;
  std::string_view name = text;
  if (problem.empty()) problem = cut_port(name, pattern.port);
  if (problem.empty() && pattern.port != 0 && text[name.size() + 1] == '0')
    problem = "a port can't have leading zeros";
  if (!problem.empty()) return std::nullopt;
  pattern.any = name == "*";
  if (pattern.any) return pattern;
  pattern.subdomains = name.starts_with("*.");
  if (pattern.subdomains) name.remove_prefix(2);
  HostReading reading = read_host(name);
  problem = std::move(reading.problem);
  if (name.find('*') != std::string_view::npos)
    problem = "'*' is only allowed as the whole first part, as in *.example.org";
  else if (name.size() > 1 && name.ends_with('.'))
    problem = "the host name has an empty part";  // a name has one spelling here
  else if (reading.host && pattern.subdomains && reading.host->address)
    problem = "an IP address can't have subdomains";
  if (!problem.empty()) return std::nullopt;
  pattern.host = std::move(*reading.host);
  return pattern;
}

}  // namespace sortie

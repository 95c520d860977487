#include "semver.h"

#include <cctype>

namespace semver {
namespace {

bool is_numeric(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  return true;
}

bool is_identifier(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') return false;
  return true;
}

/// Takes the number at the front of `text`, without leading zeros.
std::optional<unsigned long> take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && std::isdigit(static_cast<unsigned char>(text[length]))) ++length;
  if (length == 0 || length > 9 || (length > 1 && text[0] == '0')) return std::nullopt;
  const unsigned long number = std::stoul(std::string(text.substr(0, length)));
  text.remove_prefix(length);
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

int compare_numbers(unsigned long a, unsigned long b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare_identifiers(const std::string& a, const std::string& b) {
  return a.compare(b);
}

int compare_prerelease(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (const int order = compare_identifiers(a[i], b[i])) return order;
  return compare_numbers(a.size(), b.size());
}

}  // namespace

std::optional<Version> parse(std::string_view text) {
  Version version;
  const auto major = take_number(text);
  if (!major || !take(text, '.')) return std::nullopt;
  const auto minor = take_number(text);
  if (!minor || !take(text, '.')) return std::nullopt;
  const auto patch = take_number(text);
  if (!patch) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  version.patch = *patch;

  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    version.build = text.substr(plus + 1);
    if (version.build.empty()) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (text.empty()) return version;
  if (!take(text, '-')) return std::nullopt;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view identifier = text.substr(0, dot);
    if (!is_identifier(identifier)) return std::nullopt;
    if (is_numeric(identifier) && identifier.size() > 1 && identifier[0] == '0')
      return std::nullopt;
    version.prerelease.emplace_back(identifier);
    if (dot == std::string_view::npos) return version;
    text.remove_prefix(dot + 1);
  }
}

int compare(const Version& a, const Version& b) {
  if (const int order = compare_numbers(a.major, b.major)) return order;
  if (const int order = compare_numbers(a.minor, b.minor)) return order;
  if (const int order = compare_numbers(a.patch, b.patch)) return order;
  return compare_prerelease(a.prerelease, b.prerelease);
}

}  // namespace semver

#include "core/text/ci_commands.h"

#include <algorithm>

#include "core/base/own_variable.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestSign = 14;  // "section_start:"

bool is_set(const char* name) {
  const std::string value = own_variable(name);
  return !value.empty() && value != "false";
}

bool is_visible(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

CiSystems ci_systems() {
  return {
      .github = is_set("GITHUB_ACTIONS") || is_set("GITEA_ACTIONS") || is_set("FORGEJO_ACTIONS"),
      .gitlab = is_set("GITLAB_CI"),
      .azure = is_set("TF_BUILD"),
      .teamcity = is_set("TEAMCITY_VERSION")};
}

/// Whether the character completes a command's marker.
bool CiCommandFilter::completes_sign(char c) {
  if (c == '\n' || c == '\r') {
    word_.clear();
    begun_ = colon_ = false;
    return false;
  }
  // Invisible characters are skipped: culture-sensitive comparisons ignore them.
  if (!is_visible(c)) return false;
  const bool second_colon = colon_ && c == ':';
  colon_ = !begun_ && c == ':';
  begun_ = begun_ || c != ' ';
  word_.erase(0, word_.size() - std::min(word_.size(), kLongestSign - 1));
  word_ += c;
  if (second_colon && systems_.github) return true;
  if (c != '[' && c != ':') return false;
  const std::string word = ascii_lower(word_);
  const auto ends = [&](std::string_view sign) { return word.ends_with(sign); };
  return ((systems_.github || systems_.azure) && ends("##[")) ||
         (systems_.azure && ends("##vso[")) || (systems_.teamcity && ends("##teamcity[")) ||
         (systems_.gitlab && (ends("section_start:") || ends("section_end:")));
}

std::string CiCommandFilter::feed(std::string_view piece) {
  if (!systems_.any()) return std::string(piece);
  std::string text;
  text.reserve(piece.size());
  for (const char c : piece) {
    if (completes_sign(c)) text += ' ';
    text += c;
  }
  return text;
}

std::string CiCommandFilter::json(std::string_view text, CiSystems systems) {
  CiCommandFilter filter(systems);
  std::string shown;
  for (const char c : text) {
    if (!systems.any() || !filter.completes_sign(c))
      shown += c;
    else
      shown += c == '[' ? "\\u005b" : "\\u003a";
  }
  return shown;
}

std::string without_ci_commands(std::string_view text, CiSystems systems) {
  return CiCommandFilter(systems).feed(text);
}

}  // namespace sortie

#include "core/secrets/address_passwords.h"

#include <algorithm>
#include <cctype>

#include "core/secrets/encodings.h"
#include "core/text/base64.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// User names that forges require when the token is the password.
bool is_usual_name(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "x-access-token", "x-oauth-basic", "x-token-auth", "git",      "gitlab-ci-token",
      "oauth2",         "oauth",         "token",        "__token__"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void add(std::vector<std::string>& found, std::string value) {
  if (value.empty() || is_usual_name(value)) return;
  if (std::find(found.begin(), found.end(), value) == found.end())
    found.push_back(std::move(value));
}

/// Whether a word looks like a token rather than a name: letters and digits, at least 16.
bool looks_like_token(std::string_view word) {
  std::size_t letters = 0;
  std::size_t digits = 0;
  for (const char c : word) {
    if (std::isdigit(static_cast<unsigned char>(c)))
      ++digits;
    else if (std::isalpha(static_cast<unsigned char>(c)))
      ++letters;
    else if (c == '@' || c == '.')
      return false;  // an e-mail address
  }
  return letters + digits >= 16 && digits > 0 && letters > 0;
}

void add_user(std::vector<std::string>& found, const std::string& user) {
  if (looks_like_token(user)) add(found, user);
}

bool same_letters(std::string_view one, std::string_view other) {
  return ascii_lower(one) == ascii_lower(other);
}

}  // namespace

std::vector<std::string> address_passwords(std::string_view text) {
  // Few texts have one, and to make the expressions takes a while.
  if (text.find("://") == std::string_view::npos || text.find('@') == std::string_view::npos)
    return {};
  static const Pattern with_password =
      Pattern::line_expression(R"re([A-Za-z][A-Za-z0-9+.-]*://[^\s/@:"'<>]*:([^\s/"'<>]+)@)re");
  static const Pattern user = Pattern::line_expression(
      R"re([A-Za-z][A-Za-z0-9+.-]*://([^\s/@:"'<>]+)(?::[^\s/"'<>]*)?@)re");
  std::vector<std::string> found;
  const auto look_for = [&](const Pattern& pattern, auto&& use) {
    for (std::size_t at = 0;;) {
      const auto match = pattern.find_group(text, at, 1);
      if (!match) return;
      use(std::string(text.substr(match->group_begin, match->group_end - match->group_begin)));
      at = match->end;
    }
  };
  look_for(with_password, [&](const std::string& password) {
    add(found, password);
    add(found, url_decoded(password));
  });
  look_for(user, [&](const std::string& name) { add_user(found, url_decoded(name)); });
  return found;
}

std::vector<std::string> header_credentials(std::string_view header) {
  std::vector<std::string> found;
  const std::size_t colon = header.find(':');
  if (colon == std::string_view::npos) return found;
  std::string_view value = trimmed(header.substr(colon + 1));
  const std::size_t blank = value.find(' ');
  const std::string_view scheme = value.substr(0, std::min(blank, value.size()));
  if (blank != std::string_view::npos &&
      (same_letters(scheme, "basic") || same_letters(scheme, "bearer") ||
       same_letters(scheme, "token") || same_letters(scheme, "digest")))
    value = trimmed(value.substr(blank));
  add(found, std::string(value));
  if (!same_letters(scheme, "basic")) return found;
  const std::string pair = base64_decoded(value);
  const std::size_t split = pair.find(':');
  if (split == std::string::npos) return found;
  add_user(found, pair.substr(0, split));
  add(found, pair.substr(split + 1));
  return found;
}

}  // namespace sortie

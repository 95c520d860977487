#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semver {

/// A version as Semantic Versioning 2.0.0 defines it: 1.4.0-rc.2+build.7
struct Version {
  unsigned long major = 0;
  unsigned long minor = 0;
  unsigned long patch = 0;
  std::vector<std::string> prerelease;  ///< identifiers between '-' and '+'
  std::string build;                    ///< after '+'; takes no part in precedence
};

/// Nothing when the text is no version.
std::optional<Version> parse(std::string_view text);

/// Negative, zero or positive: the precedence of a before, equal to or after b (section 11).
int compare(const Version& a, const Version& b);

}  // namespace semver

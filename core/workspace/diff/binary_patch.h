#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// What a binary patch makes of a content, in git's own form: "GIT binary patch", what leads to the
/// new content, what leads back (git, Documentation/gitformat-patch; apply.c, parse_binary).
///
/// A small patch may say that it is deflated from very much: no more is inflated than its line of the
/// size says, nothing is made that is larger than sortie reads of a file (kMostFileBytes), and that is
/// said before it is made.
/// @param body  from the line "GIT binary patch" to its end
/// @throws Error  it does not apply
std::string apply_binary_patch(std::string_view before, std::string_view body);

}  // namespace sortie

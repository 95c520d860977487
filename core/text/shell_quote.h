#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The word, quoted for a POSIX shell where it needs to be: 'a b'.
std::string shell_quoted(std::string_view word);

/// A command's words as a line that could be pasted into a shell.
std::string shell_line(const std::vector<std::string>& argv);

}  // namespace sortie

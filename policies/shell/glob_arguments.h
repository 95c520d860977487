#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sortie {

/// Why a glob among the words of a command of the class read-only can't be judged: it may become
/// any name of a file, "--pre=x" too.
/// @param name  the command's bare name
/// @param glob  the word as written, quotes resolved
/// @return "" where all names that it may become are fine
std::string why_no_glob(std::string_view name, std::string_view glob);

/// Whether all that the glob becomes begins with a character that stands there, and that is not
/// '-': no option then.
bool begins_literally(std::string_view glob);

/// The glob for rules that deny: the part that is not known as kLooseAnything.
std::string loose_glob(std::string_view glob);

}  // namespace sortie

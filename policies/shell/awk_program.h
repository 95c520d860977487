#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// Why an awk program may do more than read its operands and print: system(), pipes, output to
/// files, getline, ARGV and ENVIRON, gawk's @ directives, functions of its own, and whatever awk,
/// gawk, mawk and busybox may read differently.
/// @return "" for a program without an effect
std::string why_awk_has_effects(std::string_view program);

}  // namespace sortie

#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// Whether an absolute path, ".." taken back by words, lies in /proc, /sys or /dev.
bool lies_in_kernel_folder(std::string_view path);

/// Whether a word of a command, as operand or as the value of an option ("--file=…", "-f…"), may
/// lead into the kernel's own file systems when read in `workdir`: it lies in /proc, /sys or /dev
/// (but /dev/null), begins with one of them behind its last "..", or has a glob in the first
/// folder of an absolute path or behind "..".
bool word_reaches_kernel_folder(std::string_view word, const std::string& workdir);

}  // namespace sortie

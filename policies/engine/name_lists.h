#pragma once

#include <span>
#include <string>
#include <vector>

#include "policies/shell/script.h"

namespace sortie {

/// What the commands of a pipeline print, if it is names of files.
struct NameList {
  bool known = false;                 ///< only names below the folders that the commands name
  bool ends_with_nul = false;         ///< each name with a NUL behind it
  std::vector<std::string> starts{};  ///< with ends_with_nul: what each name begins with
};

/// @param commands  of one pipeline, in their order; the last one prints
NameList names_listed_by(std::span<const SimpleCommand> commands);

/// The folders in which a `find` begins: "." if it names none; empty if they are in a file.
std::vector<std::string> starts_of_find(std::span<const std::string> argv);
/// Whether none of them is the root, an option, or leads up: nothing below is in /proc, /sys or
/// /dev.
bool are_plain_starts(std::span<const std::string> starts);

}  // namespace sortie

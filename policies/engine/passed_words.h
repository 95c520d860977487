#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/rules/action.h"
#include "policies/shell/script.h"

namespace sortie {

/// A command that `find -exec` or `xargs` runs, with marks (policies/rules/open_words.h) for the
/// words that they put there.
struct PassedCommand {
  std::vector<std::string> argv;
  std::vector<std::size_t> globs;  ///< indexes of the words that are not known
};

/// What a `find` with `-exec`, or an `xargs`, does, as far as it is certain.
struct PassedWords {
  std::vector<std::string> without;  ///< `find` without what it runs; empty for xargs
  std::vector<PassedCommand> runs;   ///< each that may run: all have to be allowed
  std::string problem;               ///< why it is not certain, or ""
};

/// @param argv   a command whose name is `find`
/// @param globs  indexes of the words that the shell may expand
/// @return nothing if it has no -exec
std::optional<PassedWords> passed_by_find(std::span<const std::string> argv,
                                          std::span<const std::size_t> globs,
                                          const CommandPlace& place);

/// @param argv      a command whose name is `xargs`
/// @param upstream  the commands of the same pipeline before it
PassedWords passed_by_xargs(std::span<const std::string> argv, std::span<const std::size_t> globs,
                            std::span<const SimpleCommand> upstream);

}  // namespace sortie

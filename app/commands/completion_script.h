#pragma once

#include <string>
#include <vector>

#include "app/commands/completed_words.h"

namespace sortie {

/// The completion of sortie's command line as a script of the shell, which has all words in it: it
/// starts no program.
std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace sortie

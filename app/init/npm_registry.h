#pragma once

#include <string>
#include <vector>

namespace sortie {

/// The registries that a project's .npmrc names.
struct NpmRegistries {
  std::string usual;                ///< HOST:PORT of all packages; "" for npm's own
  std::vector<std::string> scoped;  ///< HOST:PORT of those of a scope, sorted
};

/// Reads an .npmrc. What is no address over https, or has a variable in it, is left out: its host
/// has to be written into the policy by hand.
/// Source: npm's documentation, .npmrc: KEY = VALUE, comments by # and ;, "@SCOPE:registry".
NpmRegistries npm_registries(const std::string& npmrc);

}  // namespace sortie

#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A policy while its files are read, the extended ones first.
struct PolicyDraft {
  Policy policy;
  /// Lists that a file has named: the first takes the place of the default, later ones add to it.
  std::set<std::string> given;
  std::filesystem::path folder;  ///< of the file that is being read: absolute, or empty
  std::string shown;             ///< that file, as messages call it
  std::string protecting;        ///< FILE:LINE of the last file that names protected paths
  Examples examples = Examples::checked;
};

}  // namespace sortie

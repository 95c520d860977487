#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/config/fields.h"
#include "policies/file/policy_loader.h"
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

/// The table of the policy file's keys, over the draft: what is there already is replaced where it
/// is a scalar, and added to where it is a list.
/// @param file  what the rules' places call it
Fields policy_fields(PolicyDraft& draft, const std::string& file);

}  // namespace sortie

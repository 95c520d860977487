#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "policies/rules/policy.h"

namespace sortie {

/// Why a rule must not allow commands by this first word, an absolute path; "" if it may.
///
/// HOME and the folders for temporary files are private to the run, and the policy's writable paths
/// can be written by it: a program there was put there by a command of the run, unless `paths.read`
/// shows the folder read-only. Programs of the workspace are left to `script` rules.
/// @param workspace  absolute; what `paths` are relative to
/// @param home       "": /root, and every folder of /home
std::string why_planted(const std::string& word, const Policy& policy,
                        const std::filesystem::path& workspace, const std::filesystem::path& home);

/// The policy's command rules, without the words of allow rules that why_planted() rejects; a rule
/// that has no other first word is left out.
/// @param folders  in which names are looked up; none of them is writable, so a path into one is
///                 the same as the bare name
std::vector<CommandRule> rules_without_planted(const Policy& policy,
                                               const std::filesystem::path& workspace,
                                               const std::filesystem::path& home,
                                               std::span<const std::filesystem::path> folders);

}  // namespace sortie

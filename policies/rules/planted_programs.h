#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "policies/rules/policy.h"

namespace sortie {

/// Why no command of a run may be allowed by this first word, an absolute path; "" where it may.
///
/// HOME and the folders for temporary files are the run's own, and so are the policy's writable
/// paths: whatever program stands there, some command of the run has put it there, unless
/// `paths.read` shows the place, read-only. Of the workspace `script` rules judge.
/// @param workspace  absolute; what `paths` are relative to
/// @param home       "": /root, and every folder of /home
std::string why_planted(const std::string& word, const Policy& policy,
                        const std::filesystem::path& workspace, const std::filesystem::path& home);

/// The policy's command rules, without the words of allow rules that why_planted() names; a rule
/// that has no other first word is left out.
/// @param folders  in which names are looked up; none of them can be written to, so that a path
///                 into one stands for the bare name
std::vector<CommandRule> rules_without_planted(const Policy& policy,
                                               const std::filesystem::path& workspace,
                                               const std::filesystem::path& home,
                                               std::span<const std::filesystem::path> folders);

}  // namespace sortie

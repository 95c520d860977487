#pragma once

#include <filesystem>
#include <string>

#include "core/json/json.h"
#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Loads a policy by file or preset name ("strict", "review", "auto"), with the policies that it
/// extends. A value without '/' that does not end in .yaml or .yml is a preset's name.
/// @throws InputError  all findings at once
Policy load_policy(const std::string& name_or_file, Examples examples = Examples::checked);
/// Loads a policy from text.
/// @param name    its name in findings and rules
/// @param folder  the folder that `extends` is relative to
Policy parse_policy(const std::string& text, const std::string& name,
                    const std::filesystem::path& folder);
/// The effective policy as JSON, for the digest and the transcript.
Json policy_json(const Policy& policy);
/// "sha256:…" of policy_json(); to be made again after flags changed the policy.
std::string policy_digest(const Policy& policy);
/// JSON Schema (draft 2020-12) of the policy file, from the same table as reading and
/// policy_json().
Json policy_schema();

}  // namespace sortie

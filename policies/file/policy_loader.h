#pragma once

#include <filesystem>
#include <string>

#include "core/json/json.h"
#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Loads a policy by file or preset name ("strict", "review", "auto"), with what it extends. A
/// value without '/' that does not end in .yaml or .yml is a preset's name.
/// @throws InputError  all findings at once
Policy load_policy(const std::string& name_or_file, Examples examples = Examples::checked);
/// The same from a policy's text.
/// @param name    what findings and rules call it
/// @param folder  what `extends` is relative to
Policy parse_policy(const std::string& text, const std::string& name,
                    const std::filesystem::path& folder);
/// The effective policy as JSON: what the digest covers and the transcript holds.
Json policy_json(const Policy& policy);
/// "sha256:…" of policy_json: once more after flags changed the policy.
std::string policy_digest(const Policy& policy);
/// JSON Schema (draft 2020-12) of the policy file. Like policy_json() from the table that it is
/// read by.
Json policy_schema();

}  // namespace sortie

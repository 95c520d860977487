#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/review/audit_words.h"
#include "policies/rules/action.h"

namespace sortie {

using AuditFlags = std::set<AuditFlag>;

/// The flags of a call, from its actions and, for tools without actions, from the strings in its
/// arguments. Scripts are read conservatively, and wrappers are looked through.
AuditFlags audit_flags(const std::vector<Action>& actions, const Json& arguments,
                       const std::filesystem::path& workspace);

/// The flags of a command by its words, without paths.
AuditFlags command_flags(std::span<const std::string> argv);

/// The names of the flags, in enumeration order: the member `audit_flags` of an approval record.
Json to_json(const AuditFlags& flags);

}  // namespace sortie

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

/// The flags of a call, from its actions and, for tools without actions of their own, the strings
/// among its arguments. Scripts are read loosely, and wrappers are seen through.
AuditFlags audit_flags(const std::vector<Action>& actions, const Json& arguments,
                       const std::filesystem::path& workspace);

/// Those of a command by its words alone, paths aside.
AuditFlags command_flags(std::span<const std::string> argv);

/// Their names, in the order of the enumeration: the member `audit_flags` of an approval record.
Json to_json(const AuditFlags& flags);

}  // namespace sortie

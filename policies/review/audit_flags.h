#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "policies/rules/action.h"

namespace sortie {

/// What the reader of a transcript should notice of a call. Flags inform; they decide nothing.
enum class AuditFlag {
  path_traversal,       ///< `..` that leads out of the workspace
  system_path,          ///< a path of the machine: /etc, /proc, /var …
  destructive_command,  ///< deletes, overwrites or ends something
  network_access,       ///< a program or address of the network
  credential_access,    ///< a file, variable or command that holds credentials
  obfuscated,           ///< what runs can't be seen: base64 -d, eval, escapes, computed names
};
const char* name_of(AuditFlag flag) noexcept;

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

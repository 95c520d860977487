#include "policies/review/audit_flag.h"

namespace sortie {

const char* name_of(AuditFlag flag) noexcept {
  switch (flag) {
    case AuditFlag::path_traversal:
      return "path_traversal";
    case AuditFlag::system_path:
      return "system_path";
    case AuditFlag::destructive_command:
      return "destructive_command";
    case AuditFlag::network_access:
      return "network_access";
    case AuditFlag::credential_access:
      return "credential_access";
    case AuditFlag::obfuscated:
      return "obfuscated";
  }
  return "";
}

}  // namespace sortie

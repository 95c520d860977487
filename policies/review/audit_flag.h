#pragma once

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

}  // namespace sortie

#pragma once

#include <span>
#include <string_view>

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

/// A command that a flag is for.
struct AuditRow {
  AuditFlag flag;
  std::string_view name;  ///< the command's last part
  /// What it must be called with, between blanks, all of it: a bare word is one of the first words
  /// that are no options, in this order; `-x` a letter of a short option, `--long` an option or
  /// its beginning with `=`; `of=` a word that begins so. "" is: however it is called.
  std::string_view with;
};
std::span<const AuditRow> audit_rows();

/// Folders of the machine, and what does not count among them.
std::span<const std::string_view> system_folders();
std::span<const std::string_view> harmless_system_paths();

/// Globs over single parts of a path that hold credentials: ".ssh", "id_*".
std::span<const std::string_view> credential_names();
/// Expressions (RE2) over a script or a program given as text.
struct AuditExpression {
  AuditFlag flag;
  std::string_view expression;
};
std::span<const AuditExpression> audit_expressions();

/// Commands whose operands are text, so that an address or a path among them is none: echo, grep.
bool takes_text(std::string_view name);

}  // namespace sortie

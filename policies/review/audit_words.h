#pragma once

#include <span>
#include <string_view>

namespace sortie {

/// What a reader of the transcript should notice about a call. Flags inform; they decide nothing.
enum class AuditFlag {
  path_traversal,       ///< `..` that leads out of the workspace
  system_path,          ///< a path of the machine: /etc, /proc, /var …
  destructive_command,  ///< deletes, overwrites or ends something
  network_access,       ///< a program or address of the network
  credential_access,    ///< a file, variable or command that holds credentials
  obfuscated,           ///< it hides what runs: base64 -d, eval, escapes, computed names
};
const char* name_of(AuditFlag flag) noexcept;

/// A command that gets a flag.
struct AuditRow {
  AuditFlag flag;
  std::string_view name;  ///< the command's last part
  /// Required arguments, separated by blanks; "" for none. A bare word must be among the first
  /// words that are not options, in this order; `-x` is a letter of a short option, `--long` an
  /// option, possibly followed by `=`; `of=` the beginning of a word.
  std::string_view with;
};
std::span<const AuditRow> audit_rows();

/// Folders of the machine, and harmless paths in them.
std::span<const std::string_view> system_folders();
std::span<const std::string_view> harmless_system_paths();

/// Globs for single parts of paths that contain credentials: ".ssh", "id_*".
std::span<const std::string_view> credential_names();
/// RE2 expressions for scripts and programs given as text.
struct AuditExpression {
  AuditFlag flag;
  std::string_view expression;
};
std::span<const AuditExpression> audit_expressions();

/// Whether the operands of a command are text, not addresses or paths: echo, grep.
bool takes_text(std::string_view name);

}  // namespace sortie

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A command that a wrapper runs.
struct Wrapped {
  std::vector<std::string> argv;  ///< the command; empty: `script`
  std::string script;             ///< text for a shell
  bool loose = false;             ///< uncertain: an option was unknown
  bool open = false;              ///< more words may follow, and `{}` is a placeholder
};

/// The commands that an argv would run through one layer of `env`, `timeout`, `xargs`,
/// `find -exec`, a shell and so on; none if it is not a wrapper. For deny rules: all words after an
/// unknown option are returned as a script to be read loosely.
std::vector<Wrapped> unwrap(std::span<const std::string> argv);

/// Whether the command runs another one that its arguments name.
bool is_wrapper(std::string_view name);
/// Whether the word's last part is sh, bash, dash, zsh, ksh or ash.
bool is_shell(std::string_view word);

/// How a shell is called.
struct ShellCall {
  std::optional<std::string> script;  ///< -c S, -lc S: its text
  std::string file;                   ///< the script file, where there is no -c
};
ShellCall read_shell_call(std::span<const std::string> argv);

}  // namespace sortie

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// What a wrapper runs.
struct Wrapped {
  std::vector<std::string> argv;  ///< the command; empty: `script`
  std::string script;             ///< text that a shell reads
  bool loose = false;             ///< only could be it: an option was not known
  bool open = false;              ///< more words may follow, and `{}` stands for unknown ones
};

/// The commands that an argv would run through one layer of `env`, `timeout`, `xargs`,
/// `find -exec`, a shell and their like; none where it is no wrapper. For deny rules: where an
/// option is not known, all words behind it are listed as a script to be read loosely.
std::vector<Wrapped> unwrap(std::span<const std::string> argv);

/// Whether the command runs another one that its arguments name.
bool is_wrapper(std::string_view name);
/// sh, bash, dash, zsh, ksh, ash by their last part.
bool is_shell(std::string_view word);

/// How a shell is called.
struct ShellCall {
  std::optional<std::string> script;  ///< -c S, -lc S: its text
  std::string file;                   ///< the script file, where there is no -c
};
ShellCall read_shell_call(std::span<const std::string> argv);

}  // namespace sortie

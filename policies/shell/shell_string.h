#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sortie {

/// The script of a call that is a shell string: exactly `NAME -c SCRIPT` or `NAME -lc SCRIPT`, NAME
/// sh, bash, dash or zsh, bare or directly in one of the folders. Nothing for every other argv.
std::optional<std::string> shell_string(std::span<const std::string> argv,
                                        std::span<const std::filesystem::path> folders);

/// What is run in place of a shell string, whichever shell it names: `bash --noprofile --norc -c`.
std::vector<std::string> shell_string_argv(std::string script);

/// The environment for it: without start-up files, functions and the variables that change how bash
/// reads a script or finds what it names, and in a locale in which no byte of a character can be
/// taken for a quote or a blank.
std::map<std::string, std::string> shell_string_environment(
    std::map<std::string, std::string> given);

/// Whether a variable makes a shell read a file or define a function before it runs anything.
bool starts_shells(const std::string& name, const std::string& value);

}  // namespace sortie

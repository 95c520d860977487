#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The folders in which names are looked up, ready to compare: only absolute ones outside the
/// workspace, with all of /bin, /usr/bin and so on that are the same folder. Reads the disk once,
/// so that decisions don't.
std::vector<std::filesystem::path> lookup_folders(const std::vector<std::filesystem::path>& path,
                                                  const std::filesystem::path& workspace);

/// The bare name of a command's first word: the word itself if it is a name ([A-Za-z0-9._+-]+ or
/// "["), the last part of an absolute path directly in one of the folders; else "". `./git`,
/// `/tmp/git` and `../bin/git` have no bare name.
std::string_view command_name(std::string_view word,
                              std::span<const std::filesystem::path> folders);

/// The part after the last '/'.
std::string_view base_name(std::string_view word);

/// The script of a shell string: exactly `NAME -c SCRIPT` or `NAME -lc SCRIPT`, where NAME is sh,
/// bash, dash or zsh, bare or directly in one of the folders. Nothing for every other argv.
std::optional<std::string> shell_string(std::span<const std::string> argv,
                                        std::span<const std::filesystem::path> folders);

/// The argv that is run for a shell string, whichever shell it names: `bash --noprofile --norc -c`.
std::vector<std::string> shell_string_argv(std::string script);

/// The environment for shell_string_argv(): without start-up files, functions and the variables
/// that change how bash reads a script or finds programs, and in a locale in which no byte of a
/// character can be taken for a quote or a blank.
std::map<std::string, std::string> shell_string_environment(
    std::map<std::string, std::string> given);

/// Whether a variable makes a shell read a file or define a function before it runs anything.
bool starts_shells(const std::string& name, const std::string& value);

}  // namespace sortie

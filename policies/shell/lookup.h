#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The folders in which names are looked up, ready to compare: absolute ones alone, none inside
/// the workspace, and with /bin, /usr/bin and their like where they are the same folder. Asks the
/// disk once, so that a decision does not.
std::vector<std::filesystem::path> lookup_folders(const std::vector<std::filesystem::path>& path,
                                                  const std::filesystem::path& workspace);

/// The bare name that a command's first word stands for: the word itself where it is one
/// ([A-Za-z0-9._+-]+ or "["), the last part of an absolute path directly in one of the folders;
/// else "". `./git`, `/tmp/git` and `../bin/git` are no names.
std::string_view command_name(std::string_view word,
                              std::span<const std::filesystem::path> folders);

/// The part behind the last '/'.
std::string_view base_name(std::string_view word);

}  // namespace sortie

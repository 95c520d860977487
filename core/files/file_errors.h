#pragma once

#include <filesystem>
#include <string>

/// What went wrong with a file of the workspace, as ToolError: "PATH: cause".
namespace sortie::disk {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& cause);
[[noreturn]] void fail_errno(const std::filesystem::path& path, int number);
bool is_missing(int number);

}  // namespace sortie::disk

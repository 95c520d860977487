#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sortie::test {

/// What a program said (stdout and stderr) and its exit status.
struct Said {
  int status = 0;
  std::string output;
};

/// Runs a program of PATH in a folder, with no configuration of git but the repository's own.
/// @param environment  added to that of all programs here, or in place of it
Said run_program(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                 const std::map<std::string, std::string>& environment = {});

/// The real git in a folder; throws what it said when it fails.
std::string git(const std::filesystem::path& folder, const std::vector<std::string>& arguments);

/// `git init` with a name for commits, on branch "main".
void make_repository(const std::filesystem::path& folder);
/// Everything in the folder, committed.
void commit_all(const std::filesystem::path& folder);

}  // namespace sortie::test

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/npm_packages.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

/// What action-validator says, which has the schemas of GitHub that SchemaStore publishes.
inline Said check_for_github(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / name, text);
  auto argv = npm_packages().command("@action-validator/cli", "cli.mjs");
  argv.push_back(name);
  return run_program(argv, folder.path());
}

/// What gitlab-ci-local says, which has the schema of GitLab's own editor.
/// @param files  .gitlab-ci.yml, and what it includes
inline Said check_for_gitlab(const std::map<std::string, std::string>& files) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  git(folder.path(), {"remote", "add", "origin", "https://gitlab.example/owner/project.git"});
  for (const auto& [name, content] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    write_file(folder / name, content);
  }
  // It includes only what git knows.
  commit_all(folder.path());
  auto argv = npm_packages().command("gitlab-ci-local", "dist/index.js");
  argv.insert(argv.end(), {"--list-all", "--home", folder.path().string()});
  return run_program(argv, folder.path(), {{"HOME", folder.path().string()}});
}

inline Said check_for_gitlab(const std::string& text) {
  return check_for_gitlab({{".gitlab-ci.yml", text}});
}

}  // namespace sortie::test

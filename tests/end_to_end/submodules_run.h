#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

/// A repository in the workspace with the submodules `sub`, `sub/inner` within it, and `empty`, not
/// checked out. Each has the files `file` and `gone`.
inline void make_modules(const RunFolder& folder) {
  const auto make = [&](const std::string& name) {
    folder.write(name + "/file", name + "\n");
    folder.write(name + "/gone", name + "\n");
    make_repository(folder.path(name));
    commit_all(folder.path(name));
  };
  const auto add = [&](const std::string& to, const std::string& from, const std::string& at) {
    git(folder.path(to), {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                          folder.path(from).string(), at});
    git(folder.path(to), {"commit", "-q", "-m", "module"});
  };
  for (const char* name : {"inner", "module", "work"}) make(name);
  add("module", "inner", "inner");
  add("work", "module", "sub");
  add("work", "inner", "empty");
  git(folder.workspace(), {"-c", "protocol.file.allow=always", "submodule", "--quiet", "update",
                           "--init", "--recursive"});
  git(folder.workspace(), {"submodule", "--quiet", "deinit", "-f", "empty"});
}

/// A whole copy of the workspace with its submodules, elsewhere.
inline std::filesystem::path clone_modules(const RunFolder& folder, const std::string& name) {
  git(folder.path(""), {"-c", "protocol.file.allow=always", "clone", "-q", "--recurse-submodules",
                        folder.workspace().string(), folder.path(name).string()});
  return folder.path(name);
}

inline CassetteWriter script_of(const std::string& text) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", text}).next().message("done");
  return cassette;
}

/// Each file by its path, without what git keeps.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& root) {
  auto tree = read_tree(root);
  std::erase_if(tree, [](const auto& one) {
    const std::string path = "/" + one.first + "/";
    return path.find("/.git/") != path.npos;
  });
  return tree;
}

/// "REASON PATH: DETAIL"
inline std::vector<std::string> left_out_of(const Json& result) {
  std::vector<std::string> lines;
  for (const Json& one : result["left_out"].items())
    lines.push_back(one.string_at("reason") + " " + one.string_at("path") + ": " +
                    one.string_at("detail"));
  return lines;
}

}  // namespace sortie::test

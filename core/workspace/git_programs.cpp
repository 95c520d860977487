#include "core/workspace/git_programs.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/base/file_name.h"
#include "core/workspace/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr int kDeepestInclude = 10;  // as git's own limit
constexpr std::size_t kMostFiles = 200;
constexpr std::size_t kMostOverrides = 4000;  // they have to fit into an environment

/// Shows the two versions as git would without the repository's program.
constexpr const char* kPlainDiff = "f() { diff -u -- \"$2\" \"$5\" || true; }; f";

/// A key that names a program, as `section.*.name` or `section.name`, and a value that runs none.
struct ProgramKey {
  std::string_view section;
  std::string_view name;  ///< "" is any
  const char* value;
};

constexpr ProgramKey kProgramKeys[] = {
    {"filter", "clean", ""},
    {"filter", "smudge", ""},
    {"filter", "process", ""},
    {"filter", "required", "false"},
    {"diff", "textconv", "cat"},
    {"diff", "command", kPlainDiff},
    {"diff", "external", kPlainDiff},
    {"diff", "submodule", "short"},
    {"merge", "driver", "false"},
    {"core", "fsmonitor", "false"},
    {"core", "sshcommand", "false"},
    {"core", "askpass", "false"},
    {"core", "editor", "false"},
    {"core", "gitproxy", "false"},
    {"core", "alternaterefscommand", "false"},
    {"gpg", "program", "false"},
    {"gpg", "defaultkeycommand", "false"},
    {"log", "showsignature", "false"},
    {"credential", "helper", ""},
    {"interactive", "difffilter", "cat"},
    {"sequence", "editor", "false"},
    {"pager", "", "false"},
    {"trailer", "command", ""},
    {"trailer", "cmd", ""},
    {"tar", "command", "false"},
    {"remote", "uploadpack", "false"},
    {"remote", "receivepack", "false"},
    {"remote", "vcs", "false"},
    {"remote", "promisor", "false"},
    {"protocol", "allow", "never"},
    {"uploadpack", "packobjectshook", "cat"},
    {"status", "submodulesummary", "false"},
    {"submodule", "ignore", "all"},
    {"submodule", "recurse", "false"},
    {"difftool", "cmd", "false"},
    {"mergetool", "cmd", "false"},
    {"browser", "cmd", "false"},
    {"man", "cmd", "false"},
};

/// A key in its parts; libgit2 gives section and name in lower case.
struct KeyParts {
  std::string_view section;
  std::string_view name;
};

KeyParts parts_of(std::string_view key) {
  return {key.substr(0, key.find('.')), key.substr(key.rfind('.') + 1)};
}

class ConfigWalk {
 public:
  explicit ConfigWalk(GitPrograms& found) : found_(found) {}

  void file(const fs::path& path, int depth) {
    std::error_code error;
    if (!fs::exists(path, error)) return;
    const std::string step = "git configuration " + path_text(path);
    // A pipe would be waited for without end.
    if (!fs::is_regular_file(path, error))
      throw Error(step + ": is no regular file", ExitCode::environment);
    if (depth > kDeepestInclude || read_.size() > kMostFiles)
      throw Error(step + ": too many includes", ExitCode::environment);
    if (!read_.insert(path).second) return;
    GitConfig config;
    check_git(git_config_open_ondisk(GitOut(config), path.c_str()), step, ExitCode::environment);
    git_config_iterator* iterator = nullptr;
    check_git(git_config_iterator_new(&iterator, config.get()), step, ExitCode::environment);
    const GitHandle<git_config_iterator, git_config_iterator_free> held(iterator);
    git_config_entry* entry = nullptr;
    std::vector<fs::path> includes;
    while (git_config_next(&entry, iterator) == 0) {
      const std::string value = entry->value != nullptr ? entry->value : "";
      key(entry->name);
      // What stands in an included file is relative to that one, which is read by itself.
      const KeyParts parts = parts_of(entry->name);
      const bool includes_file =
          (parts.section == "include" || parts.section == "includeif") && parts.name == "path";
      if (includes_file && entry->include_depth == 0 && !value.empty()) includes.push_back(value);
    }
    for (const fs::path& include : includes) {
      // Of HOME: commands have one of their own.
      if (include.native().front() == '~') continue;
      const fs::path whole = (path.parent_path() / include).lexically_normal();
      found_.included.push_back(whole);
      file(whole, depth + 1);
    }
  }

  void submodules(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    GitConfig config;
    // What libgit2 can't read, git refuses too.
    if (git_config_open_ondisk(GitOut(config), path.c_str()) < 0) return;
    git_config_iterator* iterator = nullptr;
    if (git_config_iterator_new(&iterator, config.get()) < 0) return;
    const GitHandle<git_config_iterator, git_config_iterator_free> held(iterator);
    git_config_entry* entry = nullptr;
    while (git_config_next(&entry, iterator) == 0) {
      const std::string name = entry->name;
      if (parts_of(name).section == "submodule" && parts_of(name).name == "path")
        add(name.substr(0, name.rfind('.')) + ".ignore", "all");
    }
  }

 private:
  void key(const std::string& name) {
    const KeyParts parts = parts_of(name);
    for (const ProgramKey& one : kProgramKeys) {
      if (one.section == parts.section && (one.name.empty() || one.name == parts.name))
        add(name, one.value);
    }
  }

  void add(const std::string& name, const char* value) {
    if (!seen_.insert(name).second) return;
    if (seen_.size() > kMostOverrides)
      throw Error("git configuration: it names too many programs", ExitCode::environment);
    found_.overrides.emplace_back(name, value);
  }

  GitPrograms& found_;
  std::set<fs::path> read_;
  std::set<std::string> seen_;
};

}  // namespace

GitPrograms read_git_programs(const fs::path& folder) {
  GitPrograms found;
  const FoundRepository repository = find_repository(folder);
  if (!repository.handle) return found;
  ConfigWalk walk(found);
  walk.file((fs::path(git_repository_commondir(repository.handle.get())) / "config"), 0);
  walk.file((fs::path(git_repository_path(repository.handle.get())) / "config.worktree"), 0);
  walk.submodules(repository.toplevel / ".gitmodules");
  return found;
}

}  // namespace sortie

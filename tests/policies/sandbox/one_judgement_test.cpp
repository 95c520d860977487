// The tools' path rules and what the kernel lets commands do give the same answer.
#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "policies/rules/path_rules.h"
#include "policies/sandbox/view/workspace_search.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// A path of the workspace, and whether it may be read and written. What does not exist can't be
/// read by anybody. What leads out of the workspace is the view's matter, and protected names that
/// are not there are those of made_paths_test.cpp.
struct Row {
  const char* path;
  bool read;
  bool write;
};

constexpr Row kRows[] = {
    {"file.txt", true, true},
    {"new.txt", false, true},
    {"src/main.c", true, true},
    {"src/new/deep/file.c", false, true},
    {".git/config", true, false},
    {".git/hooks/pre-commit", false, false},
    {".git/new", false, false},
    {".github/workflows/ci.yml", true, false},
    {".github/new.yml", false, false},
    {"Jenkinsfile", true, false},
    {"Jenkinsfile.bak", false, true},
    {"AGENTS.md", true, false},
    {"codeowners", true, false},
    {"docs/.ENV", false, false},
    {"tracked/.env", true, true},
    {"link-to-tracked", true, true},
    {"docs/AGENTS.md", false, true},
    {"CODEOWNERS", true, false},
    {"docs/CODEOWNERS", true, false},
    {"a/b/CODEOWNERS", true, false},
    {".env", false, false},
    {"src/.env", false, false},
    {"a/b/.env", false, false},
    {".env.example", true, true},
    {"src/.env.dist", false, true},
    {".env.local", false, false},
    {".env.example.local", false, false},
    {".env.sample", false, false},
    {".env.template/secret", false, false},
    {"env", false, true},
    {"keys/id", false, false},
    {"keys/new", false, false},
    {"link-to-file", true, true},
    {"link-to-env", false, false},
    {"link-to-config", true, false},
    {"link-to-keys/id", false, false},
    {"link-to-git/config", true, false},
    {"src/../file.txt", true, true},
    {"src/../.git/config", true, false},
    {"./.git/config", true, false},
    {"with space/a b", true, true},
    {"-dash", true, true},
    {"src/*.c", false, true},
    {"ä/ö", true, true},
    {"generated/one.lock", true, false},
    {"generated/new.txt", false, true},
};

void make_tree(const Sandboxed& here) {
  const fs::path work = here.base / "ws";
  for (const char* folder : {"nested/.git", "tracked", ".github/workflows", "docs", "a/b", "keys",
                             "with space", "ä", "generated", ".env.template"})
    fs::create_directories(work / folder);
  for (const char* file : {"src/main.c",
                           "nested/.git/config",
                           ".github/workflows/ci.yml",
                           "Jenkinsfile",
                           "AGENTS.md",
                           "CODEOWNERS",
                           "docs/CODEOWNERS",
                           "a/b/CODEOWNERS",
                           ".env",
                           "src/.env",
                           "a/b/.env",
                           ".env.example",
                           ".env.local",
                           ".env.example.local",
                           ".env.template/secret",
                           "keys/id",
                           "with space/a b",
                           "-dash",
                           "ä/ö",
                           "generated/one.lock",
                           "codeowners",
                           "docs/.ENV",
                           "tracked/.env"})
    here.write(fs::path("ws") / file, "content\n");
  const std::pair<const char*, const char*> links[] = {
      {"file.txt", "link-to-file"}, {"tracked/.env", "link-to-tracked"}, {".env", "link-to-env"},
      {".env", ".env.sample"},      {".git/config", "link-to-config"},   {"keys", "link-to-keys"},
      {".git", "link-to-git"},      {"/etc/hostname", "link-out"},       {"..", "link-up"}};
  for (const auto& [target, link] : links) fs::create_symlink(target, work / link);
}

/// As the tools do it: links first, then the rules, then the file.
struct Tools {
  const PathRules& rules;
  Files& files;

  bool can_read(const fs::path& path) const {
    try {
      const fs::path real = files.resolve(path);
      return rules.decide_read(path).effect == Effect::allow &&
             rules.decide_read(real).effect == Effect::allow && files.read(real).has_value();
    } catch (const std::exception&) {
      return false;
    }
  }
  bool can_write(const fs::path& path) {
    try {
      const fs::path real = files.resolve(path);
      if (rules.decide_write(path).effect != Effect::allow ||
          rules.decide_write(real).effect != Effect::allow)
        return false;
      const auto was = files.read(real);
      files.write(real, was.value_or("made"), 0644);
      if (!was) files.remove(real);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
};

BOOST_AUTO_TEST_CASE(tools_and_commands_are_judged_alike) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;  // there changes are undone after the command
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      make_tree(here);
      const std::string git = "cd " + (here.base / "ws").string() +
                              " && git init -q . && git add tracked/.env && "
                              "git config core.x y";
      if (std::system(git.c_str()) != 0) return std::string("git failed\n");
      Policy policy;
      policy.hide.push_back("keys");
      policy.hide.push_back("keys/**");
      policy.protect.push_back("generated/*.lock");
      here.profile.hide = policy.hide;
      here.profile.protect = policy.protect;
      here.profile.protect.push_back("**/.git");
      const PathRules rules(policy, {.workspace = here.workspace(),
                                     .home = here.profile.home,
                                     .tracked = tracked_by_git(here.workspace())});
      Keeper keeper(here.profile);
      DiskFiles files(Fd(::fcntl(keeper.view_root().get(), F_DUPFD_CLOEXEC, 3)));
      Tools tools{rules, files};
      std::string text;
      for (const Row& row : kRows) {
        const auto command = [&](const std::string& script) {
          Command one = here.shell(script);
          one.argv.push_back("sh");
          one.argv.push_back(row.path);
          return run(keeper, one).status.success();
        };
        const bool command_reads = command("cat -- \"$1\" >/dev/null 2>&1");
        const bool command_writes = command(
            "if [ -e \"$1\" ]; then : >> \"$1\"; else mkdir -p -- \"$(dirname -- \"$1\")\" "
            "&& : > \"$1\" && rm -- \"$1\"; fi 2>/dev/null");
        const auto say = [&](const char* who, const char* what, bool can, bool may) {
          if (can != may)
            text += std::string(who) + (can ? " can " : " can't ") + what + ' ' + row.path + '\n';
        };
        say("a tool", "read", tools.can_read(row.path), row.read);
        say("a command", "read", command_reads, row.read);
        say("a tool", "write", tools.can_write(row.path), row.write);
        say("a command", "write", command_writes, row.write);
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

}  // namespace
}  // namespace sortie::test

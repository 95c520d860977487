#include "policies/rules/path_rules.h"

#include <boost/test/unit_test.hpp>

#include "tests/policies/policies.h"

using namespace sortie;

namespace {

Policy path_policy() {
  Policy policy;
  policy.file = "/w/ci/policy.yaml";
  policy.files = {"/w/ci/policy.yaml", "/w/ci/[base].yaml"};
  policy.protect = {".github", "**/CODEOWNERS", "AGENTS.md"};
  policy.hide = {"**/.env", "~/.ssh", "/etc/shadow", "secret/*.pem"};
  policy.read = {"/data", "~/shared"};
  return policy;
}

PathPlaces places() {
  return {.workspace = "/w/",
          .out = "/w/sortie-out",
          .protected_files = {"/w/task.yaml", "/elsewhere/prompt.md"},
          .home = "/home/u"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(path_rules)

BOOST_AUTO_TEST_CASE(writing_stays_in_the_workspace_and_off_protected_names) {
  const Policy policy = path_policy();
  const PathRules rules(policy, places());
  const struct {
    const char* path;
    bool allowed;
  } rows[] = {
      {"a.c", true},
      {"src/x/y.c", true},
      {"/w/src/a.c", true},
      {"./a", true},
      {"a/../b", true},
      {".gitignore", true},
      {"sub/.git/x", false},
      {".github2/x", true},
      {"agents.md", false},
      {"docs/agents.md", true},
      {".GitHub/workflows/x.yml", false},
      {"docs/CodeOwners", false},
      {"Sortie-Out/x", false},
      {"sortie-out.prev/x", false},
      {"TASK.yaml", false},
      {"sub/.ENV", false},
      {"", false},
      {".", false},
      {"../x", false},
      {"a/../../x", false},
      {"/etc/x", false},
      {"/w2/x", false},
      {"/tmp/x", false},
      {".git", false},
      {".git/config", false},
      {"./.git/x", false},
      {"a/../.git/x", false},
      {".GIT/config", false},
      {".Git", false},
      {"/w/.git/hooks/x", false},
      {".github", false},
      {".github/w/x", false},
      {"CODEOWNERS", false},
      {"docs/CODEOWNERS", false},
      {"AGENTS.md", false},
      {"sortie-out", false},
      {"sortie-out/x", false},
      {"task.yaml", false},
      {"ci/policy.yaml", false},
      {"ci/[base].yaml", false},
      {"ci/b.yaml", true},
      {".env", false},
      {"a/.env", false},
      {"secret/a.pem", false},
      {"/data/x", false},
  };
  for (const auto& row : rows) {
    const Decision decision = rules.decide_write(row.path);
    BOOST_TEST((decision.effect == Effect::allow) == row.allowed,
               row.path << ": " << decision.reason);
  }
}

BOOST_AUTO_TEST_CASE(reading_reaches_the_workspace_system_folders_and_listed_paths) {
  const Policy policy = path_policy();
  const PathRules rules(policy, places());
  const struct {
    const char* path;
    bool allowed;
  } rows[] = {
      {"a.c", true},
      {".", true},
      {".git/config", true},
      {"AGENTS.md", true},
      {"/usr/include/x.h", true},
      {"/etc/passwd", true},
      {"/opt/x", true},
      {"/data/a/b", true},
      {"/home/u/shared/x", true},
      {"/etc/shadow", false},
      {"/home/u/.ssh/id", false},
      {"/home/u/x", false},
      {"/usr/../root/x", false},
      {"../x", false},
      {"/proc/self/environ", false},
      {".env", false},
      {"a/b/.env", false},
      {"/data/.env", false},
      {"secret/a.pem", false},
      {"secret/sub/a.pem", true},
      {"/", false},
      {"/usrlocal/x", false},
      {"", false},
      {"/w/../etc2/x", false},
  };
  for (const auto& row : rows) {
    const Decision decision = rules.decide_read(row.path);
    BOOST_TEST((decision.effect == Effect::allow) == row.allowed,
               row.path << ": " << decision.reason);
  }
  BOOST_TEST((rules.decide_read(std::string("a\0b", 3)).effect == Effect::deny));
}

BOOST_AUTO_TEST_CASE(what_git_tracks_is_hidden_by_an_absolute_path_alone) {
  Policy policy;
  policy.hide = {"**/.env", "keys", "/w/private"};
  PathPlaces where = places();
  where.tracked = [](const std::string& path) {
    return path == ".env" || path == "keys/a" || path == "private/a";
  };
  const PathRules rules(policy, where);
  const struct {
    const char* path;
    bool hidden;
  } rows[] = {
      {".env", false},        {"/w/.env", false},   {"sub/.env", true},
      {"sub/../.env", false}, {".ENV", true},  // another file than the tracked one
      {"keys/a", true},                        // the folder is hidden as a whole
      {"private/a", true},    {"/data/.env", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST(rules.is_hidden(row.path) == row.hidden, row.path);
    BOOST_TEST((rules.decide_write(row.path).effect == Effect::deny) ==
                   (row.hidden || std::string_view(row.path).starts_with("/data")),
               row.path);
  }
}

BOOST_AUTO_TEST_CASE(a_list_of_folders_limits_writing) {
  Policy policy;
  policy.write = {"src", "docs/*.md", "/cache"};
  const PathRules rules(policy, places());
  for (const char* path : {"src/a", "src", "docs/a.md", "/cache/x"}) {
    BOOST_TEST((rules.decide_write(path).effect == Effect::allow), path);
  }
  for (const char* path : {"a", "docs/a.txt", "docs/sub/a.md", "/cache2", "srcs/a"}) {
    BOOST_TEST((rules.decide_write(path).effect == Effect::deny), path);
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_sandbox_lets_nothing_be_written) {
  Policy policy;
  policy.sandbox = SandboxMode::read_only;
  const PathRules rules(policy, places());
  BOOST_TEST((rules.decide_write("a.c").effect == Effect::deny));
  BOOST_TEST((rules.decide_read("a.c").effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(without_a_home_its_names_are_hidden_in_any_folder) {
  PathPlaces nowhere = places();
  nowhere.home.clear();
  const Policy policy = path_policy();
  const PathRules rules(policy, nowhere);
  BOOST_TEST(rules.is_hidden("/root/.ssh/id"));
  BOOST_TEST(rules.is_hidden("/home/x/.ssh"));
  BOOST_TEST(rules.is_hidden(".ssh/id"));
  BOOST_TEST(!rules.is_hidden("/home/x/.sshd"));
}

BOOST_AUTO_TEST_CASE(protected_names_need_not_exist) {
  const Policy policy = path_policy();
  const PathRules rules(policy, places());
  BOOST_TEST(rules.is_protected(".github/workflows/x.yml"));
  BOOST_TEST(rules.is_protected("not/there/CODEOWNERS"));
  BOOST_TEST(!rules.is_protected("not/there"));
  const Policy empty;
  BOOST_TEST(PathRules(empty, places()).is_protected(".git/config"));
}

BOOST_AUTO_TEST_CASE(a_protected_name_is_known_however_its_path_is_written) {
  for (const char* workspace : {"/w", "/w/", "/"}) {
    const PathRules rules(Policy(), {.workspace = workspace});
    for (const char* path : {".git/config", "./.git/config", "a/../.git/config", "a/.GIT//config",
                             ".git/", "a/b/.git", "/w/.git/config", "/w/a/../.git"})
      BOOST_TEST(rules.is_protected(path), workspace << " " << path);
    for (const char* path : {"a/.gitignore", ".gitx/a", "git", "a/../b", "/w/a"})
      BOOST_TEST(!rules.is_protected(path), workspace << " " << path);
  }
}

BOOST_AUTO_TEST_CASE(files_that_usually_hold_secrets_are_hidden_by_default) {
  const Policy policy;
  const PathRules rules(policy, places());
  for (const char* path :
       {".env", "app/.env", ".env.local", "app/.env.production", ".envrc", "certs/server.pem",
        "deploy.key", "config/master.key", "id_rsa", "keys/id_ed25519", ".npmrc", "pkg/.pypirc",
        "infra/terraform.tfstate", "terraform.tfstate.backup", ".netrc", "store.p12"})
    BOOST_TEST(rules.is_hidden(path), path);
  for (const char* path : {"env", "src/id_token.cpp", "id_rsa.pub", "environment", ".environment",
                           "key", "keys/readme.md", "main.tf", "package.json", "npmrc"})
    BOOST_TEST(!rules.is_hidden(path), path);
}

BOOST_AUTO_TEST_SUITE_END()

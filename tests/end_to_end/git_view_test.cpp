#include <sys/socket.h>
#include <sys/un.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kToken = "ghs_16C7e42F292c6912E7710c838347Ae178B4a";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One output of a command.
struct Shown {
  bool success = false;
  std::string text;
};

/// Runs each line by a shell in a folder of the run's own one.
std::vector<Shown> run_in(const RunFolder& folder, const std::string& workspace,
                          const std::vector<std::string>& lines, const Caller& caller = {},
                          const std::string& policy = "auto", const std::string& more = {}) {
  CassetteWriter cassette;
  for (const auto& line : lines) cassette.shell({"sh", "-c", line}).next();
  cassette.message("done");
  folder.write_task(cassette, "policy: " + policy + "\nexpect: {changes: any}\n" + more);
  const ProgramEnd end =
      folder.run_as(caller, folder.start({"-C", folder.path(workspace).string()}));
  BOOST_TEST(end.status == 0, end.errors);
  std::vector<Shown> shown;
  for (const auto& output : folder.records("tool.output"))
    shown.push_back({output["success"].boolean(), output.string_at("output")});
  BOOST_REQUIRE(shown.size() == lines.size());
  return shown;
}

/// A repository with two packages, and a commit whose subject is "one".
void make_monorepo(const RunFolder& folder) {
  folder.write("work/packages/foo/a.txt", "a\n");
  folder.write("work/packages/bar/b.txt", "b\n");
  folder.write("work/.gitignore", "*.o\n");
  make_repository(folder.workspace());
  git(folder.workspace(), {"add", "-A"});
  git(folder.workspace(), {"commit", "-q", "-m", "one"});
}

void add_header(const fs::path& config) {
  write_file(config, read_file(config, 1 << 20) +
                         "[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic " +
                         kToken + "\n");
}

/// What a tree holds, by path; links are not followed.
std::map<std::string, std::string> content_of(const fs::path& tree) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(tree))
    content[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
  return content;
}

std::vector<Caller> callers_with_namespaces() {
  std::vector<Caller> callers = all_callers();
  std::erase_if(callers, [](const Caller& caller) { return !caller.namespaces; });
  return callers;
}

/// A service of the machine that listens at a path.
Fd listen_at(const fs::path& path) {
  Fd service(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  BOOST_REQUIRE(path.native().size() < sizeof address.sun_path);
  path.native().copy(address.sun_path, path.native().size());
  BOOST_REQUIRE(
      ::bind(service.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  BOOST_REQUIRE(::listen(service.get(), 8) == 0);
  fs::permissions(path, fs::perms::all);
  return service;
}

std::string connect_to(const std::string& path) {
  return "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"" + path +
         "\")'";
}

struct Place {
  const char* name;
  const char* workspace;
  void (*make)(const RunFolder& folder);
  const char* policy = "auto";
};

const Place kPlaces[] = {
    {"the whole", "work", [](const RunFolder&) {}},
    {"a subfolder", "work/packages/foo", [](const RunFolder&) {}},
    {"a linked worktree", "linked",
     [](const RunFolder& folder) {
       git(folder.workspace(), {"worktree", "add", "-q", "../linked", "-b", "linked"});
     }},
    {"a subfolder of a linked worktree", "linked/packages/foo",
     [](const RunFolder& folder) {
       git(folder.workspace(), {"worktree", "add", "-q", "../linked", "-b", "linked"});
     }},
    {"a submodule", "super/sub",
     [](const RunFolder& folder) {
       fs::create_directories(folder.path("super"));
       make_repository(folder.path("super"));
       git(folder.path("super"), {"-c", "protocol.file.allow=always", "submodule", "add", "-q",
                                  folder.workspace().string(), "sub"});
     }},
    {"a clone with alternates", "shared",
     [](const RunFolder& folder) {
       git(folder.path("."), {"clone", "-q", "--shared", folder.workspace().string(), "shared"});
       folder.write("policy.yaml", "version: 1\nextends: [auto]\npaths: {read: ['" +
                                       (folder.workspace() / ".git").string() + "']}\n");
     },
     "policy.yaml"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(git_view)

BOOST_AUTO_TEST_CASE(git_finds_its_repository_wherever_the_workspace_lies_in_it) {
  for (const Caller& caller : callers_with_namespaces()) {
    for (const Place& place : kPlaces) {
      BOOST_TEST_CONTEXT(caller.name << ", " << place.name) {
        const RunFolder folder;
        make_monorepo(folder);
        place.make(folder);
        const auto shown =
            run_in(folder, place.workspace,
                   {"git status --short", "git log --format=%s", "git show --stat HEAD",
                    "echo x > new.txt", "git status --short ."},
                   caller, place.policy, "verify: ['git diff --quiet HEAD', 'git log -1']\n");
        for (const Shown& one : shown) BOOST_TEST(one.success, one.text);
        BOOST_TEST(!holds(shown[0].text, "packages"), shown[0].text);
        BOOST_TEST(holds(shown[1].text, "one"), shown[1].text);
        BOOST_TEST(holds(shown[2].text, "b.txt"), shown[2].text);
        BOOST_TEST(holds(shown[4].text, "?? new.txt"), shown[4].text);
        BOOST_TEST(folder.result()["warnings"].items().empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(of_a_submodule_the_repository_above_is_not_shown) {
  const Place& submodule = kPlaces[4];
  const RunFolder folder;
  make_monorepo(folder);
  submodule.make(folder);

  const auto shown =
      run_in(folder, submodule.workspace,
             {"git rev-parse --show-superproject-working-tree", "git -C .. status", "ls -a .."});

  BOOST_TEST(shown[0].success, shown[0].text);
  BOOST_TEST(!holds(shown[0].text, "super"), shown[0].text);
  BOOST_TEST(!shown[1].success, shown[1].text);
  BOOST_TEST(!holds(shown[2].text, ".gitmodules"), shown[2].text);
}

BOOST_AUTO_TEST_CASE(the_read_only_class_has_git_wherever_the_workspace_lies_in_it) {
  for (const Place& place : kPlaces) {
    if (place.policy != std::string("auto")) continue;
    BOOST_TEST_CONTEXT(place.name) {
      const RunFolder folder;
      make_monorepo(folder);
      place.make(folder);
      const auto shown = run_in(folder, place.workspace,
                                {"git log --format=%s", "git status --short"}, {}, "strict");
      BOOST_TEST(holds(shown[0].text, "one"), shown[0].text);
      BOOST_TEST(shown[1].success, shown[1].text);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_path_leads_a_command_to_write_in_the_users_repository) {
  for (const Caller& caller : callers_with_namespaces()) {
    for (const Place& place : kPlaces) {
      BOOST_TEST_CONTEXT(caller.name << ", " << place.name) {
        const RunFolder folder;
        make_monorepo(folder);
        place.make(folder);
        give_to(folder.path("."), caller.uid);
        std::vector<std::string> lines;
        for (const char* target :
             {"$(git rev-parse --git-dir)/HEAD", "$(git rev-parse --git-common-dir)/config",
              "$(git rev-parse --git-dir)/index", "$(git rev-parse --git-common-dir)/objects/x",
              "$(git rev-parse --git-common-dir)/hooks/post-commit"})
          lines.push_back(std::string("echo x > ") + target);
        lines.insert(lines.end(),
                     {"git -c user.name=a -c user.email=b commit --allow-empty -m x",
                      "git config core.fsmonitor evil", "git update-ref refs/heads/evil HEAD",
                      "git worktree add /tmp/w", "mv $(git rev-parse --git-common-dir) /tmp/moved",
                      "rm -rf $(git rev-parse --git-common-dir)/refs"});
        const auto before = content_of(folder.path("work/.git"));
        for (const Shown& one : run_in(folder, place.workspace, lines, caller, place.policy))
          BOOST_TEST(!one.success, one.text);
        BOOST_TEST((content_of(folder.path("work/.git")) == before));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(credentials_of_the_configuration_are_not_in_the_view) {
  for (const Caller& caller : all_callers()) {
    for (const Place& place : kPlaces) {
      // Without namespaces git is left without its configuration where it lies outside.
      if (!caller.namespaces && place.workspace != std::string("work")) continue;
      BOOST_TEST_CONTEXT(caller.name << ", " << place.name) {
        const RunFolder folder;
        make_monorepo(folder);
        place.make(folder);
        for (const char* config :
             {"work/.git/config", "super/.git/modules/sub/config", "shared/.git/config"})
          if (fs::exists(folder.path(config))) add_header(folder.path(config));
        // By halves, so that no redaction of outputs helps.
        const auto shown = run_in(
            folder, place.workspace,
            {"git config --get-regexp extraheader",
             "{ grep -rsl ghs_16C7e42F $(git rev-parse --git-common-dir) .; "
             "find / -name 'config*' -exec grep -sl ghs_16C7e42F {} +; } 2>/dev/null | grep .",
             "git config core.repositoryformatversion"},
            caller, place.policy);
        BOOST_TEST(!shown[0].success, shown[0].text);
        BOOST_TEST(!shown[1].success, shown[1].text);
        BOOST_TEST(shown[2].success, shown[2].text);
        BOOST_TEST(!holds(folder.artifact("transcript.jsonl"), kToken));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_repository_is_shown_without_what_is_hidden) {
  for (const Caller& caller : callers_with_namespaces()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      make_monorepo(folder);
      folder.write("work/packages/bar/deep/er/and/deeper/.env", "SECRET=1\n");
      folder.write("work/.env", "SECRET=1\n");
      folder.write("work/packages/bar/keys/id", "SECRET=1\n");
      folder.write("work/sortie-out.prev/transcript.jsonl", "SECRET=1\n");
      folder.write("policy.yaml", "version: 1\nextends: [auto]\npaths: {hide: [keys]}\n");
      CassetteWriter cassette;
      for (const char* line : {"cat ../bar/b.txt", "grep -rs SECRET ../..", "ls ../../sortie-out"})
        cassette.shell({"sh", "-c", line}).next();
      cassette.message("done");
      folder.write_task(cassette, "policy: policy.yaml\nexpect: {changes: any}\n");
      const ProgramEnd end =
          folder.run_as(caller, folder.start({"-C", folder.path("work/packages/foo").string(),
                                              "--out", folder.path("work/sortie-out").string()}));
      BOOST_TEST(end.status == 0, end.errors);
      std::vector<std::string> shown;
      for (const auto& event : end.events)
        if (event.string_at("type") == "item.completed" &&
            event["item"].string_at("type") == "command_execution")
          shown.push_back(event["item"].string_at("aggregated_output"));
      BOOST_REQUIRE(shown.size() == 3u);
      BOOST_TEST(holds(shown[0], "b\n"));
      BOOST_TEST(!holds(shown[1], "SECRET"), shown[1]);
      BOOST_TEST(!holds(shown[2], "transcript"), shown[2]);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_service_of_the_machine_is_reached_by_a_socket_in_the_repository) {
  for (const Caller& caller : callers_with_namespaces()) {
    for (const Place& place : kPlaces) {
      BOOST_TEST_CONTEXT(caller.name << ", " << place.name) {
        const RunFolder folder;
        make_monorepo(folder);
        place.make(folder);
        fs::create_directories(folder.path("work/packages/bar/deep/er/and/deeper"));
        const std::string inside = std::string(place.workspace) + "/in.sock";
        const Fd services[] = {listen_at(folder.path("work/packages/bar/deep/er/and/deeper/s")),
                               listen_at(folder.path("work/.git/fsmonitor--daemon.ipc")),
                               listen_at(folder.path(inside))};
        std::vector<std::string> lines;
        for (const std::string& path : {std::string("work/packages/bar/deep/er/and/deeper/s"),
                                        std::string("work/.git/fsmonitor--daemon.ipc"), inside})
          lines.push_back(connect_to(folder.path(path).string()));
        for (const Shown& one : run_in(folder, place.workspace, lines, caller, place.policy)) {
          BOOST_TEST(!one.success, one.text);
          BOOST_TEST(holds(one.text, "Error: "), one.text);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_service_of_the_machine_is_reached_by_a_socket_in_a_large_folder) {
  for (const Caller& caller : callers_with_namespaces()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      make_monorepo(folder);
      fs::create_directories(folder.path("large"));
      for (int i = 0; i <= 20'000; ++i)
        fs::create_directory(folder.path("large") / std::to_string(i));
      const Fd service = listen_at(folder.path("large/7/s"));
      folder.write("policy.yaml", "version: 1\nextends: [auto]\npaths: {read: ['" +
                                      folder.path("large").string() + "']}\n");
      for (const Shown& one : run_in(folder, "work", {connect_to(folder.path("large/7/s").string())},
                                     caller, "policy.yaml")) {
        BOOST_TEST(!one.success, one.text);
        BOOST_TEST(holds(one.text, "Error: "), one.text);
      }
      BOOST_TEST(folder.result()["warnings"].items().empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_in_place_shows_no_sockets_of_the_folder_and_of_its_repository) {
  const RunFolder folder;
  make_monorepo(folder);
  const Fd services[] = {listen_at(folder.path("work/packages/s")),
                         listen_at(folder.path("work/.git/fsmonitor--daemon.ipc"))};
  for (const char* path : {"packages/s", ".git/fsmonitor--daemon.ipc"}) {
    ProgramStart start;
    start.argv = {sortie_binary(), "sandbox", "--", "sh", "-c", connect_to(path)};
    start.folder = folder.workspace();
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 1, end.errors);
    BOOST_TEST(holds(end.output + end.errors, "PermissionError"), end.output + end.errors);
  }
}

BOOST_AUTO_TEST_CASE(what_hide_names_is_hidden_at_every_depth_in_any_case_and_in_packages) {
  for (const Caller& caller : callers_with_namespaces()) {
    for (const char* workspace : {"work", "work/packages/foo"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << workspace) {
        const RunFolder folder;
        make_monorepo(folder);
        for (const char* name : {"foo/services/api/config/prod/.env", "foo/node_modules/m/.env",
                                 "bar/node_modules/m/.npmrc", "bar/deep/.ENV", "bar/Server.PEM"})
          folder.write(std::string("work/packages/") + name, "SECRET=1\n");
        // More than any search used to look at.
        for (int i = 0; i < 4'500; ++i)
          folder.write("work/packages/foo/many/" + std::to_string(i) + ".txt", "");
        folder.write("work/packages/foo/zoo/.env", "SECRET=1\n");
        const auto shown = run_in(folder, workspace,
                                  {"grep -rs SECRET " + folder.workspace().string(), "ls"}, caller);
        BOOST_TEST(!holds(shown[0].text, "SECRET="), shown[0].text);
        BOOST_TEST(shown[1].success);
        BOOST_TEST(folder.result()["warnings"].items().empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(credentials_of_every_repository_that_is_shown_are_kept_back) {
  for (const Caller& caller : callers_with_namespaces()) {
    for (const char* workspace : {"work", "work/packages/foo"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << workspace) {
        const RunFolder folder;
        make_monorepo(folder);
        for (const char* name : {"packages/bar/nest", "packages/foo/a/b/c/d/e/nest"}) {
          fs::create_directories(folder.workspace() / name);
          make_repository(folder.workspace() / name);
          add_header(folder.workspace() / name / ".git/config");
        }
        git(folder.workspace(), {"init", "-q", "--bare", "packages/bar/bare"});
        add_header(folder.workspace() / "packages/bar/bare/config");
        git(folder.workspace(), {"config", "credential.helper", "store --file=.git/tokens"});
        const std::string address = std::string("https://u:") + kToken + "@host/\n";
        folder.write("work/.git/tokens", address);
        folder.write("work/.git/remotes/old", "URL: " + address);
        folder.write("work/.git/config.bak", "[remote \"o\"]\nurl = " + address);
        const auto shown = run_in(
            folder, workspace,
            {"grep -rl ghs_16C7e42F " + folder.workspace().string(),
             "git -C " + (folder.workspace() / "packages/bar/nest").string() + " status --short"},
            caller);
        BOOST_TEST(!holds(shown[0].text, "/work/"), shown[0].text);
        BOOST_TEST(shown[1].success, shown[1].text);
        BOOST_TEST(!holds(folder.artifact("transcript.jsonl"), kToken));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_at_home_stays_as_private_as_home) {
  const RunFolder folder;
  make_monorepo(folder);
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "ls ../bar ../../.git"}).next().message("done");
  folder.write_task(cassette, "policy: auto\nexpect: {changes: any}\n");
  ProgramStart start = folder.start({"-C", folder.path("work/packages/foo").string()});
  start.environment["HOME"] = folder.workspace().string();
  BOOST_TEST(run_program(start).status == 0);
  BOOST_TEST(!folder.records("tool.output").at(0)["success"].boolean());
  BOOST_TEST(holds(folder.artifact("transcript.jsonl"), "which is private"));
}

BOOST_AUTO_TEST_CASE(a_foreign_repository_ends_no_run_and_is_shown_to_nobody) {
  const RunFolder folder;
  make_monorepo(folder);
  folder.write("tarball/a.txt", "a\n");
  folder.write("tarball/.git", "gitdir: " + (folder.workspace() / ".git").string() + "\n");
  for (const char* policy : {"auto", "strict"}) {
    const auto shown = run_in(folder, "tarball", {"git log"}, {}, policy);
    BOOST_TEST(!shown[0].success, shown[0].text);
    BOOST_TEST(holds(folder.result()["warnings"].items().at(0).text(), "without git"));
    BOOST_TEST(!holds(folder.artifact("transcript.jsonl"), "git_status\",\"description"));
    fs::remove_all(folder.out());
  }
}

BOOST_AUTO_TEST_CASE(a_repository_of_long_ids_is_run_in_as_a_folder_without_git) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  git(folder.workspace(), {"init", "-q", "--object-format=sha256", "."});
  const auto shown = run_in(folder, "work", {"git status --short", "echo x >> a.txt"});
  BOOST_TEST(holds(shown[0].text, "?? a.txt"), shown[0].text);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+x"));
  BOOST_TEST(holds(folder.result()["warnings"].items().at(0).text(), "ids are sha256"));
}

BOOST_AUTO_TEST_CASE(git_in_the_tests_own_repositories_is_as_it_is_elsewhere) {
  const std::string repository =
      "git init -q /tmp/own && cd /tmp/own && git config user.email a@b && git config user.name a";
  const std::vector<std::string> lines = {
      "git config --global alias.x 'log --oneline' && git config --global alias.x",
      repository +
          " && printf '#!/bin/sh\\ntouch /tmp/ran\\n' > .git/hooks/pre-commit && "
          "chmod +x .git/hooks/pre-commit && git commit -q --allow-empty -m x && "
          "test -f /tmp/ran",
      "cd /tmp/own && git config core.fsmonitor 'touch /tmp/watched;:' && git status && "
      "test -f /tmp/watched"};
  for (const Caller& caller : callers_with_namespaces()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      make_monorepo(folder);
      for (const Shown& one : run_in(folder, "work", lines, caller))
        BOOST_TEST(one.success, one.text);
    }
  }
}

/// What a rule names is the operator's own; what the class allows runs nothing.
BOOST_AUTO_TEST_CASE(only_git_that_the_class_allows_runs_nothing_of_the_configuration) {
  const RunFolder folder;
  make_monorepo(folder);
  folder.write("policy.yaml",
               "version: 1\nextends: strict\ncommands:\n"
               "  - allow: [git, stash, list]\n");
  git(folder.workspace(), {"config", "alias.noop", "!true"});
  git(folder.workspace(), {"config", "core.fsmonitor", "echo > /tmp/ran; false"});
  const auto shown =
      run_in(folder, "work", {"git status --short", "ls /tmp", "git stash list", "ls /tmp"}, {},
             "policy.yaml");
  BOOST_TEST(shown[0].success, shown[0].text);
  BOOST_TEST(!holds(shown[1].text, "ran"), shown[1].text);
  BOOST_TEST(shown[2].success, shown[2].text);
}

/// samples/monorepo, in a repository of its own.
BOOST_AUTO_TEST_CASE(the_sample_of_a_monorepo_succeeds_and_changes_its_package_alone) {
  for (const Caller& caller : callers_with_namespaces()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const TemporaryFolder folder;
      const fs::path sample = folder / "monorepo";
      fs::copy(fs::path(SORTIE_SOURCE_DIR) / "samples/monorepo", sample,
               fs::copy_options::recursive);
      make_repository(sample / "project");
      commit_all(sample / "project");
      fs::permissions(folder.path(), fs::perms::all);
      give_to(folder.path(), caller.uid);
      ProgramStart start;
      start.argv = {sortie_binary(), "run", (sample / "task.yaml").string(), "--out",
                    (folder / "out").string()};
      start.folder = folder.path();
      start.environment = {{"OPENAI_API_KEY", ""}};
      const ProgramEnd end = run_program(as_caller(caller, std::move(start)));
      BOOST_TEST(end.status == 0, end.errors);
      const std::string diff = read_file(folder / "out/changes.diff");
      BOOST_TEST(holds(diff, "+def total(prices, discount=0):"), diff);
      BOOST_TEST(holds(read_file(folder / "out/transcript.jsonl"), "2 files changed"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Protected names that the workspace lacks: they stay absent, and what commands make there goes.
#include "policies/sandbox/view/made_paths.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include "tests/policies/sandbox/ways.h"
#include "tests/support/run_folder.h"

namespace sortie::test {
namespace {

/// The workspace under an overlay, or a copy of it bound over it.
enum class Kind { overlay, bind };

void set_plan(Sandboxed& here, Kind kind) {
  here.profile.protect = {".git",      ".github",       "AGENTS.md", "Jenkinsfile",
                          "./sub/.ci", "**/CODEOWNERS", "src/*.lock"};
  if (kind == Kind::overlay) return;
  fs::copy(here.base / "ws", here.base / "state/copy", fs::copy_options::recursive);
  here.profile.mount.kind = MountPlan::Kind::bind;
  here.profile.mount.source = here.base / "state/copy";
}

MadePaths made_paths(const Keeper& keeper, const SandboxProfile& profile) {
  return MadePaths(Fd(::fcntl(keeper.view_root().get(), F_DUPFD_CLOEXEC, 3)), profile);
}

std::string joined(const std::vector<std::string>& paths) {
  std::string text;
  for (const auto& path : paths) text += (text.empty() ? "" : " ") + path;
  return text;
}

struct Row {
  const char* script;
  const char* made;  ///< what is taken away
};

constexpr Row kRows[] = {
    {"echo x > AGENTS.md", "AGENTS.md"},
    {"mkdir -p .github/workflows && echo x > .github/workflows/a.yml", ".github"},
    {"ln -s file.txt AGENTS.md", "AGENTS.md"},
    {"ln -s /etc .github", ".github"},
    {"cp file.txt f && mv f agents.md", "agents.md"},
    {"mkdir .GitHub && mkdir .GITHUB", ".GITHUB .GitHub"},
    {"mkdir -p sub/.ci/deep", "sub/.ci"},
    {"mkdir -p SUB/.CI", "SUB/.CI"},
    {"echo x > src/CODEOWNERS", "src/CODEOWNERS"},
    {"echo x > src/new.lock && echo x > src/new.txt", "src/new.lock"},
    {"mkdir -p .github/a/b && chmod 000 .github/a .github", ".github"},
    {"mkfifo Jenkinsfile", "Jenkinsfile"},
    {"echo x > other && mkdir -p nested/.git && echo x > nested/.git/config", ""},
    {"echo y >> file.txt", ""},
};

BOOST_AUTO_TEST_SUITE(made_paths_of_commands)

BOOST_AUTO_TEST_CASE(what_is_made_under_an_absent_protected_name_is_taken_away) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    for (const Kind kind : {Kind::overlay, Kind::bind}) {
      const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
        set_plan(here, kind);
        Keeper keeper(here.profile);
        MadePaths made = made_paths(keeper, here.profile);
        std::string told;
        made.tell([&](const auto& paths) { told += joined(paths); });
        std::string text;
        for (const Row& row : kRows) {
          told.clear();
          const Ran ran = run(keeper, here.shell(row.script));
          const std::string taken = joined(made.take());
          if (!ran.status.success()) text += std::string(row.script) + ": " + ran.output;
          if (taken != row.made || told != row.made)
            text += std::string(row.script) + ": took '" + taken + "', told '" + told + "'\n";
          if (const auto again = made.take(); !again.empty()) text += "took again\n";
        }
        const Ran left = run(keeper, here.shell("find . -iname '*.ci' -o -iname '.github' -o "
                                                "-iname agents.md -o -iname codeowners -o "
                                                "-iname jenkinsfile -o -name '*.lock'; cat src/*"));
        if (said(left) != "0:0:x\n") text += "left: " + said(left);
        return text;
      });
      BOOST_TEST(wrong == "", way.name << ", " << static_cast<int>(kind) << ":\n" << wrong);
    }
  }
}

BOOST_AUTO_TEST_CASE(commands_see_the_names_that_the_user_has) {
  for (const Kind kind : {Kind::overlay, Kind::bind}) {
    Sandboxed here;
    set_plan(here, kind);
    Keeper keeper(here.profile);

    const Ran ran = run(keeper, here.shell("ls -A && grep -r start *"));

    BOOST_TEST(said(ran) == "0:0:.git\nfile.txt\nsrc\nfile.txt:start\n");
  }
}

BOOST_AUTO_TEST_CASE(what_was_there_at_the_start_stays) {
  for (const Kind kind : {Kind::overlay, Kind::bind}) {
    Sandboxed here;
    here.write("ws/src/CODEOWNERS", "me\n");
    here.write("ws/src/one.lock", "1\n");
    here.write("ws/Agents.md", "read me\n");
    fs::create_symlink("file.txt", here.base / "ws/Jenkinsfile");
    set_plan(here, kind);
    Keeper keeper(here.profile);
    MadePaths made = made_paths(keeper, here.profile);

    run(keeper, here.shell("ls > out.txt; touch src/x"));

    BOOST_TEST(joined(made.take()) == "");
    const Ran ran =
        run(keeper, here.shell("cat src/CODEOWNERS src/one.lock Agents.md Jenkinsfile"));
    BOOST_TEST(said(ran) == "0:0:me\n1\nread me\nstart\n");
  }
}

BOOST_AUTO_TEST_CASE(nothing_outside_is_removed_through_links) {
  Sandboxed here;
  fs::create_directories(here.base / "outside/.ci");
  here.write("outside/.ci/kept", "kept\n");
  fs::create_directories(here.base / "ws/real/.ci");
  here.write("ws/real/.ci/kept", "kept\n");
  set_plan(here, Kind::overlay);
  Keeper keeper(here.profile);
  MadePaths made = made_paths(keeper, here.profile);

  run(keeper, here.shell("ln -s " + (here.base / "outside").string() + " sub; ln -s real SUB"));

  BOOST_TEST(joined(made.take()) == "");
  BOOST_TEST(here.read("outside/.ci/kept") == "kept\n");
  BOOST_TEST(said(run(keeper, here.shell("cat real/.ci/kept"))) == "0:0:kept\n");
}

BOOST_AUTO_TEST_CASE(before_each_command_what_one_beside_it_made_is_gone) {
  Sandboxed here;
  set_plan(here, Kind::overlay);
  fs::remove_all(here.base / "ws/.git");
  Keeper keeper(here.profile);
  MadePaths made = made_paths(keeper, here.profile);
  MadePathsLauncher launcher(keeper.launcher(), made);
  const auto beside = launcher.start(here.shell("mkdir -p .git/hooks; echo x > ready; sleep 60"));
  BOOST_REQUIRE(wait_until([&] { return fs::exists(here.base / "state/upper/ready"); }));

  std::string output;
  const ExitStatus status = run_command(launcher, here.shell("ls -d .git"),
                                        [&](std::string_view part) { output += part; }, {});

  BOOST_TEST(!status.success());
  BOOST_TEST(joined(made.take()) == ".git");
}

BOOST_AUTO_TEST_CASE(a_command_that_makes_it_again_and_again_is_an_error) {
  Sandboxed here;
  set_plan(here, Kind::overlay);
  Keeper keeper(here.profile);
  MadePaths made = made_paths(keeper, here.profile);
  Command command = here.shell(
      "exec python3 -c 'import os\nwhile True:\n try: os.mkdir(\".github\")\n"
      " except FileExistsError: pass'");
  const auto beside = keeper.launcher().start(command);

  const bool refused = wait_until([&] {
    try {
      made.undo();
      return false;
    } catch (const Error& error) {
      return error.code() == ExitCode::integrity;
    }
  });

  BOOST_TEST(refused);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test

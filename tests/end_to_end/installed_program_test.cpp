// `cmake --install`, and a new user who has the installed program and the README: a first result, a
// first task of their own, a pull request by the workflow that `sortie init` made.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/text/text.h"
#include "tests/end_to_end/init_run.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/document_blocks.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// What the README takes for the place where sortie is installed.
constexpr const char* kKey = "sk-test-of-init-0123456789";

/// A prefix with all that is installed.
class Installed {
 public:
  Installed() {
    const ProgramEnd end = run_program({.argv = {"cmake", "--install", SORTIE_BINARY_DIR,
                                                 "--prefix", prefix().string(), "--strip"}});
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.printed());
  }
  const fs::path& prefix() const { return folder_.path(); }
  bool has(const std::string& name) const { return fs::is_regular_file(prefix() / name); }
  std::string text(const std::string& name) const { return read_file(prefix() / name); }
  ProgramEnd run(const Arguments& words) const {
    ProgramStart start{.argv = words, .folder = prefix()};
    start.argv.front() = prefix() / start.argv.front();
    return run_program(start);
  }

 private:
  TemporaryFolder folder_;
};

const Installed& installed() {
  static const Installed once;
  return once;
}

/// Each `part` in the text replaced.
std::string with(std::string text, std::string_view part, const std::string& instead) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += instead.size())
    text.replace(at, part.size(), instead);
  return text;
}

/// The README's block of shell that begins so, with a key.
std::string readme_block(const std::string& beginning) {
  for (const DocumentBlock& block : blocks_of("README.md")) {
    if (block.language != "sh" || !block.text.starts_with(beginning)) continue;
    return with(block.text, "OPENAI_API_KEY=…", std::string("OPENAI_API_KEY=") + kKey);
  }
  BOOST_FAIL("README.md has no block that begins with " << beginning);
  return "";
}

/// Prints how long each step took; none is too long for a test.
class Stopwatch {
 public:
  void lap(const char* step) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> took = now - begin_;
    std::cout << "new user: " << step << ": " << took.count() << " s\n";
    begin_ = now;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Someone with the installed program on the PATH, a project whose test fails, and a model.
class NewUser : public InitRun {
 public:
  NewUser()
      : InitRun({{"pyproject.toml", "[project]\nname = \"calc\"\nversion = \"1\"\n"},
                 {"calc.py", "def add(a, b):\n    return a - b\n"},
                 {"tests/__init__.py", ""},
                 {"tests/test_calc.py",
                  "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n"
                  "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"}}) {
    make_git();
    git(path(""), {"init", "-q", "--bare", path("origin").string()});
    git(workspace(), {"remote", "add", "origin", path("origin").string()});
    write("bin/gh", "#!/bin/sh\nprintf '%s\\n' \"$*\" > '" + path("gh.txt").string() +
                        "'\ncat > /dev/null\n");
    fs::permissions(path("bin/gh"), fs::perms::owner_all);
    fs::create_directory(path("empty"));
  }

  ProgramEnd type(const std::string& commands, const fs::path& folder,
                  std::map<std::string, std::string> more = {}) const {
    ProgramStart start{.argv = {"bash", "-ec", commands}, .folder = folder};
    start.environment = std::move(more);
    start.environment["PATH"] = path("bin").string() + ":" +
                                (installed().prefix() / "bin").string() + ":" + std::getenv("PATH");
    return run_program(start);
  }
};

ModelServer correcting_model() {
  return ModelServer(served(CassetteWriter()
                                .patch("*** Begin Patch\n*** Update File: calc.py\n@@\n"
                                       "-    return a - b\n+    return a + b\n*** End Patch\n")
                                .next()
                                .message("Corrected.")));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(installed_program)

BOOST_AUTO_TEST_CASE(the_program_its_man_page_completions_schemas_and_documents_are_installed) {
  BOOST_TEST(installed().run({"bin/sortie", "--version"}).output == "sortie " SORTIE_VERSION "\n");
  for (const char* name :
       {"share/man/man1/sortie.1", "share/bash-completion/completions/sortie",
        "share/zsh/site-functions/_sortie", "share/fish/vendor_completions.d/sortie.fish",
        "share/doc/sortie/README.md", "share/doc/sortie/LICENSE", "share/doc/sortie/docs/task.md",
        "share/doc/sortie/docs/images/report.png", "share/doc/sortie/samples/answer/task.yaml"})
    BOOST_TEST(installed().has(name), name);
  BOOST_TEST(installed().text("share/man/man1/sortie.1") ==
             installed().run({"bin/sortie", "--man"}).output);
  BOOST_TEST(!fs::exists(installed().prefix() / "share/doc/sortie/docs/site"));
  for (const char* script : {"ci/github/land.sh", "ci/cron/nightly.sh"})
    BOOST_TEST(installed().run({std::string("share/doc/sortie/") + script}).status != 126, script);
}

BOOST_AUTO_TEST_CASE(every_schema_is_installed) {
  // "unknown schema 'x'; expected task, policy, … or approver-answer"
  const std::string said = installed().run({"bin/sortie", "schema", "x"}).errors;
  std::string names = said.substr(said.find("expected ") + 9);
  names = names.substr(0, names.find_first_of(";\n"));
  names.replace(names.find(" or "), 4, ", ");
  int count = 0;
  for (std::size_t at = 0; at < names.size(); ++count) {
    const std::size_t end = std::min(names.find(", ", at), names.size());
    const std::string name = names.substr(at, end - at);
    const std::string file = "share/sortie/schemas/" + name + ".schema.json";
    BOOST_TEST_REQUIRE(installed().has(file), file);
    BOOST_TEST(installed().text(file) == installed().run({"bin/sortie", "schema", name}).output);
    at = end + 2;
  }
  BOOST_TEST(count >= 8, said);
}

BOOST_AUTO_TEST_CASE(a_package_is_staged_below_destdir) {
  const TemporaryFolder stage;
  const ProgramEnd end =
      run_program({.argv = {"cmake", "--install", SORTIE_BINARY_DIR, "--prefix", "/usr"},
                   .environment = {{"DESTDIR", stage.path().string()}}});
  BOOST_TEST(end.status == 0, end.printed());
  for (const char* name : {"usr/bin/sortie", "usr/share/man/man1/sortie.1",
                           "usr/share/sortie/schemas/task.schema.json"})
    BOOST_TEST(fs::is_regular_file(stage.path() / name), name);
}

BOOST_AUTO_TEST_CASE(the_readme_alone_leads_to_a_first_result_an_own_task_and_a_pull_request) {
  const NewUser user;
  Stopwatch watch;

  const ProgramEnd demo = user.type(readme_block("sortie init --demo "), user.path("empty"));
  watch.lap("a first result, by the README's first run");
  BOOST_TEST(demo.status == 0, demo.printed());
  BOOST_TEST(holds(demo.output, "\n+++ b/"), demo.output);

  {
    const ModelServer server = correcting_model();
    const ProgramEnd own = user.type(readme_block("sortie init  "), user.workspace(),
                                     {{"SORTIE_BASE_URL", base_url(server)}});
    watch.lap("a first task of one's own, by `sortie init`");
    BOOST_TEST(own.status == 0, own.printed());
    BOOST_TEST(holds(user.text("calc.py"), "a + b"), own.printed());
  }

  // The next day's failing test is corrected by the workflow.
  git(user.workspace(), {"checkout", "-q", "calc.py"});
  commit_all(user.workspace());
  const ModelServer server = correcting_model();
  const std::map<std::string, std::string> job = {{"OPENAI_API_KEY", kKey},
                                                  {"SORTIE_BASE_URL", base_url(server)},
                                                  {"SORTIE_TASK", ".sortie/task.yaml"},
                                                  {"SORTIE_POLICY", ".sortie/policy.yaml"},
                                                  {"SORTIE_WORKSPACE", "."},
                                                  {"SORTIE_VERSION", SORTIE_VERSION},
                                                  {"SORTIE_OUT", user.out().string()},
                                                  {"SORTIE_BRANCH", "sortie/1"},
                                                  {"GH_TOKEN", "token-of-the-job"}};
  const ProgramEnd worked = user.type(".github/sortie/run.sh", user.workspace(), job);
  const ProgramEnd landed = user.type(".github/sortie/land.sh", user.workspace(), job);
  watch.lap("a pull request, by the scripts of the workflow's two jobs");
  BOOST_TEST(worked.status == 0, worked.printed());
  BOOST_TEST(landed.status == 0, landed.printed());
  BOOST_TEST(holds(git(user.path("origin"), {"show", "sortie/1:calc.py"}), "a + b"));
  BOOST_TEST(holds(read_file(user.path("gh.txt")), "pr create --head sortie/1 "));
}

BOOST_AUTO_TEST_SUITE_END()

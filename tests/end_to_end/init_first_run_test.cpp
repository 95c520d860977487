// What `sortie init` makes is run: in small projects, with a model on loopback, and as the two jobs
// of its workflow.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "core/text/text.h"
#include "tests/end_to_end/init_run.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool is_installed(const std::string& program) {
  return run_program({.argv = {"sh", "-c", "command -v \"$0\"", program}}).status == 0;
}

/// A small project whose test fails, and the patch that corrects it.
struct SmallProject {
  const char* name;
  std::vector<std::string> programs;
  ProjectFiles files;
  const char* source;
  const char* wrong;
  const char* right;
  /// Run by sh at first, for what is no text.
  const char* prepare = "true";

  CassetteWriter answer(const std::string& call = {}) const {
    CassetteWriter writer;
    writer.patch(std::string("*** Begin Patch\n*** Update File: ") + source + "\n@@\n-" + wrong +
                 "\n+" + right + "\n*** End Patch\n");
    writer.next();
    if (!call.empty()) writer.call(call, Json::object()).next();
    writer.message("Corrected.");
    return writer;
  }
};

/// A package that pip installs without a network.
constexpr const char* kMakeWheel = R"(python3 -c '
import zipfile
with zipfile.ZipFile("three-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("three.py", "value = 3\n")
    about = "three-1.0.dist-info/"
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: three\nVersion: 1.0\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(about + "RECORD", "")
')";

/// Debian's rake as a gem of the project, which bundler installs without a network.
constexpr const char* kMakeRake =
    "mkdir -p vendor && cp -RL /usr/share/rubygems-integration/all/gems/rake-13* vendor/rake && "
    "echo 'Gem::Specification.new(\"rake\", \"13.0.6\") { |gem| gem.summary = gem.author = "
    "\"rake\"; gem.files = Dir[\"{lib,exe}/**/*\"]; gem.bindir = \"exe\"; gem.executables = "
    "[\"rake\"] }' > vendor/rake/rake.gemspec";

const std::vector<SmallProject>& small_projects() {
  static const std::vector<SmallProject> all = {
      {"python",
       {"python3"},
       {{"pyproject.toml", "[project]\nname = \"calc\"\nversion = \"1\"\n"},
        {"calc.py", "def add(a, b):\n    return a - b\n"},
        {"tests/__init__.py", ""},
        {"tests/test_calc.py",
         "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n"
         "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"}},
       "calc.py",
       "    return a - b",
       "    return a + b"},
      {"python with packages",
       {"python3"},
       {{"requirements.txt", "./three-1.0-py3-none-any.whl\n"},
        {"calc.py", "def add(a, b):\n    return a - b\n"},
        {"tests/__init__.py", ""},
        {"tests/test_calc.py",
         "import unittest\nimport three\nfrom calc import add\n\n\n"
         "class Calc(unittest.TestCase):\n"
         "    def test_add(self):\n        self.assertEqual(add(1, 2), three.value)\n"}},
       "calc.py",
       "    return a - b",
       "    return a + b",
       kMakeWheel},
      {"poetry without a lock",
       {"poetry"},
       {{"pyproject.toml",
         "[tool.poetry]\nname = \"calc\"\nversion = \"1\"\ndescription = \"\"\nauthors = []\n"
         "packages = [{include = \"calc.py\"}]\n\n[tool.poetry.dependencies]\npython = \"^3.9\"\n"},
        {"calc.py", "def add(a, b):\n    return a - b\n"},
        {"tests/__init__.py", ""},
        {"tests/test_calc.py",
         "import unittest\nfrom calc import add\n\n\nclass Calc(unittest.TestCase):\n"
         "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"}},
       "calc.py",
       "    return a - b",
       "    return a + b"},
      {"node",
       {"node", "npm"},
       {{"package.json", "{\"name\": \"calc\", \"scripts\": {\"test\": \"node --test\"}}\n"},
        {"calc.js", "exports.add = (a, b) => a - b;\n"},
        {"test/calc.test.js",
         "const test = require('node:test');\nconst assert = require('node:assert');\n"
         "test('add', () => assert.strictEqual(require('../calc.js').add(1, 2), 3));\n"}},
       "calc.js",
       "exports.add = (a, b) => a - b;",
       "exports.add = (a, b) => a + b;"},
      {"cmake",
       {"cmake", "ctest", "cc", "make"},
       {{"CMakeLists.txt",
         "cmake_minimum_required(VERSION 3.13)\nproject(calc C)\nenable_testing()\n"
         "add_executable(calc_test calc.c)\nadd_test(NAME calc COMMAND calc_test)\n"},
        {"calc.c",
         "static int add(int a, int b) {\n  return a - b;\n}\n\n"
         "int main(void) { return add(1, 2) == 3 ? 0 : 1; }\n"}},
       "calc.c",
       "  return a - b;",
       "  return a + b;"},
      {"meson",
       {"meson", "ninja", "cc"},
       {{"meson.build", "project('calc', 'c')\ntest('calc', executable('calc', 'calc.c'))\n"},
        {"calc.c",
         "static int add(int a, int b) {\n  return a - b;\n}\n\n"
         "int main(void) { return add(1, 2) == 3 ? 0 : 1; }\n"}},
       "calc.c",
       "  return a - b;",
       "  return a + b;"},
      {"make",
       {"cc", "make"},
       {{"Makefile", "test: calc\n\t./calc\ncalc: calc.c\n\tcc -o calc calc.c\n"},
        {".gitignore", "calc\n"},
        {"calc.c",
         "static int add(int a, int b) {\n  return a - b;\n}\n\n"
         "int main(void) { return add(1, 2) == 3 ? 0 : 1; }\n"}},
       "calc.c",
       "  return a - b;",
       "  return a + b;"},
      {"go",
       {"go"},
       {{"go.mod", "module example.org/calc\n\ngo 1.19\n"},
        {"calc.go", "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n"},
        {"calc_test.go",
         "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n"
         "\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n"}},
       "calc.go",
       "\treturn a - b",
       "\treturn a + b"},
      {"rust",
       {"cargo"},
       {{"Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"},
        {".gitignore", "target\nCargo.lock\n"},
        {"src/lib.rs",
         "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n"
         "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"}},
       "src/lib.rs",
       "    a - b",
       "    a + b"},
      {"ruby by bundler",
       {"bundle", "rake"},
       {{"Gemfile", "source \"https://rubygems.org\"\ngem \"rake\", path: \"vendor/rake\"\n"},
        {"Rakefile", "require \"rake/testtask\"\nRake::TestTask.new\n"},
        {"lib/calc.rb", "def add(a, b)\n  a - b\nend\n"},
        {"test/test_calc.rb", "require \"calc\"\nfail \"wrong\" unless add(1, 2) == 3\n"}},
       "lib/calc.rb",
       "  a - b",
       "  a + b",
       kMakeRake},
      {"ruby by rspec, which keeps the status of each example",
       {"rspec"},
       {{".rspec", "--require spec_helper\n"},
        {"lib/calc.rb", "def add(a, b)\n  a - b\nend\n"},
        {"spec/spec_helper.rb",
         "require \"calc\"\nRSpec.configure do |config|\n"
         "  config.example_status_persistence_file_path = \".rspec_status\"\nend\n"},
        {"spec/calc_spec.rb",
         "RSpec.describe \"add\" do\n  it(\"adds\") { expect(add(1, 2)).to eq 3 }\nend\n"}},
       "lib/calc.rb",
       "  a - b",
       "  a + b"},
      // PHPUnit keeps the times of the tests, and nothing here ignores that file.
      {"php",
       {"composer", "phpunit"},
       {{"composer.json",
         "{\"name\": \"example/calc\", \"autoload\": {\"files\": [\"calc.php\"]}, "
         "\"scripts\": {\"test\": \"phpunit tests\"}}\n"},
        {".gitignore", "vendor\n"},
        {"calc.php", "<?php\nfunction add($a, $b) {\n    return $a - $b;\n}\n"},
        {"tests/CalcTest.php",
         "<?php\nrequire __DIR__ . '/../vendor/autoload.php';\n"
         "final class CalcTest extends PHPUnit\\Framework\\TestCase {\n"
         "    public function testAdd(): void {\n"
         "        $this->assertSame(3, add(1, 2));\n    }\n}\n"}},
       "calc.php",
       "    return $a - $b;",
       "    return $a + $b;"},
  };
  return all;
}

std::string missing_program(const SmallProject& project) {
  for (const std::string& program : project.programs)
    if (!is_installed(program)) return program;
  return "";
}

/// `sortie run` of the task that init made, with a model on loopback.
ProgramEnd run_first_task(const InitRun& run, const ModelServer& server,
                          const Caller& caller = {}) {
  ProgramStart start =
      start_command(run, {"run", ".sortie/task.yaml", "--out", run.out().string(), "--fresh"});
  start.environment["SORTIE_BASE_URL"] = base_url(server);
  start.environment["OPENAI_API_KEY"] = "sk-test-of-init-0123456789";
  return run_program(as_caller(caller, start));
}

/// Those that this machine has the programs for.
std::vector<SmallProject> projects_that_run() {
  std::vector<SmallProject> found;
  for (const SmallProject& project : small_projects())
    if (const std::string missing = missing_program(project); missing.empty())
      found.push_back(project);
    else
      BOOST_TEST_MESSAGE("skipped " << project.name << ": " << missing << " is not installed");
  return found;
}

void make_project(const InitRun& run, const SmallProject& project) {
  const ProgramEnd prepared =
      run_program({.argv = {"sh", "-c", project.prepare}, .folder = run.workspace()});
  BOOST_TEST(prepared.status == 0, prepared.errors);
  run.make_git();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(init_first_run)

BOOST_AUTO_TEST_CASE(the_first_task_corrects_a_small_project_as_it_is_made) {
  for (const SmallProject& project : projects_that_run()) {
    BOOST_TEST_CONTEXT(project.name) {
      const InitRun run(project.files);
      make_project(run, project);

      ProgramStart init = start_command(run, {"init"});
      init.environment["OPENAI_API_KEY"] = "sk-test-of-init-0123456789";
      const ProgramEnd made = run_program(init);
      const ModelServer server(served(project.answer("run_tests")));
      const ProgramEnd end = run_first_task(run, server);

      BOOST_TEST(made.status == 0, made.errors);
      BOOST_TEST(!holds(made.output, "doctor: something is missing"), made.output);
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.result()["verified"].boolean(), end.errors);
      BOOST_TEST(holds(run.artifact("changes.diff"), std::string("\n+") + project.right));
      BOOST_TEST(!holds(run.artifact("changes.diff"), ".sortie"));

      // Once it is corrected, there is nothing to do, and nobody is asked.
      const ProgramEnd applied =
          run_program({.argv = {"git", "apply", (run.out() / "changes.diff").string()},
                       .folder = run.workspace()});
      BOOST_TEST(applied.status == 0, applied.errors);
      const ModelServer silent(std::vector<ServedResponse>{});
      const ProgramEnd again = run_first_task(run, silent);
      BOOST_TEST(again.status == 0, again.errors);
      BOOST_TEST(run.result().string_at("status") == "nothing-to-do");
    }
  }
}

// As in a container engine's default profile: /tmp is the machine's own there, and not to be written.
BOOST_AUTO_TEST_CASE(the_first_task_runs_where_namespaces_are_refused) {
  for (const SmallProject& project : projects_that_run()) {
    BOOST_TEST_CONTEXT(project.name) {
      const InitRun run(project.files);
      make_project(run, project);
      BOOST_TEST(run.init().status == 0);
      const ModelServer server(served(project.answer("run_tests")));

      const ProgramEnd end = run_first_task(run, server, {.namespaces = false});

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.result()["verified"].boolean(), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_agent_that_changes_the_test_instead_has_not_corrected_anything) {
  const struct {
    const char* project;
    const char* test;
    const char* expected;  ///< by the test, and wrong in the agent's version
    const char* instead;
  } rows[] = {
      {"python", "tests/test_calc.py", "(add(1, 2), 3)", "(add(1, 2), -1)"},
      {"node", "test/calc.test.js", ".add(1, 2), 3)", ".add(1, 2), -1)"},
      {"go", "calc_test.go", "Add(1, 2) != 3", "Add(1, 2) != -1"},
  };
  const std::vector<SmallProject> projects = projects_that_run();
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.project) {
      const auto project = std::find_if(projects.begin(), projects.end(), [&](const auto& one) {
        return std::string_view(one.name) == row.project;
      });
      if (project == projects.end()) continue;
      const InitRun run(project->files);
      make_project(run, *project);
      BOOST_TEST(run.init().status == 0);
      const std::string was = run.text(row.test);
      std::string is = was;
      is.replace(is.find(row.expected), std::string(row.expected).size(), row.instead);
      CassetteWriter writer;
      std::string patch = std::string("*** Begin Patch\n*** Delete File: ") + row.test +
                          "\n*** Add File: " + row.test + "\n";
      for (const std::string_view line : split_lines(is)) patch += "+" + std::string(line) + "\n";
      writer.patch(patch + "*** End Patch\n");
      for (int round = 0; round < 6; ++round) writer.next().message("Corrected.");
      const ModelServer server(served(writer));

      const ProgramEnd end = run_first_task(run, server);

      BOOST_TEST(end.status == 1, end.errors);
      BOOST_TEST(!run.result()["verified"].boolean(), end.errors);
      BOOST_TEST(run.text(row.test) == was);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_two_jobs_of_the_workflow_make_a_branch_for_a_project_in_a_folder) {
  const SmallProject& project = small_projects().front();
  ProjectFiles files;
  for (const auto& [name, content] : project.files)
    files.emplace_back("tools/calc/" + name, content);
  const InitRun run(files);
  run.make_git();
  BOOST_TEST(run.init({}, "tools/calc").status == 0);
  commit_all(run.workspace());
  git(run.workspace(), {"init", "-q", "--bare", run.path("origin").string()});
  git(run.workspace(), {"remote", "add", "origin", run.path("origin").string()});
  fs::create_directory(run.path("bin"));
  fs::create_symlink(sortie_binary(), run.path("bin/sortie"));
  run.write("bin/gh", "#!/bin/sh\ncat > '" + run.path("gh.txt").string() + "'\n");
  fs::permissions(run.path("bin/gh"), fs::perms::owner_all);
  const ModelServer server(served(project.answer()));
  const auto step = [&](const std::string& script, std::map<std::string, std::string> more) {
    ProgramStart start;
    start.argv = {run.workspace() / ".github/sortie" / script};
    start.folder = run.workspace();
    start.environment = {{"PATH", run.path("bin").string() + ":" + std::getenv("PATH")},
                         {"OPENAI_API_KEY", "sk-test-of-init-0123456789"},
                         {"SORTIE_BASE_URL", base_url(server)},
                         {"SORTIE_OUT", run.out().string()},
                         {"SORTIE_POLICY", "tools/calc/.sortie/policy.yaml"},
                         {"SORTIE_WORKSPACE", "tools/calc"}};
    for (const auto& [name, value] : more) start.environment[name] = value;
    return run_program(start);
  };

  const ProgramEnd worked = step("run.sh", {{"SORTIE_TASK", "tools/calc/.sortie/task.yaml"},
                                            {"SORTIE_VERSION", SORTIE_VERSION}});
  const ProgramEnd landed =
      step("land.sh", {{"SORTIE_BRANCH", "sortie/1"}, {"GH_TOKEN", "token-of-the-job"}});

  BOOST_TEST(worked.status == 0, worked.errors);
  BOOST_TEST(landed.status == 0, landed.errors);
  BOOST_TEST(
      holds(git(run.path("origin"), {"show", "sortie/1:tools/calc/calc.py"}), project.right));
  BOOST_TEST(git(run.path("origin"), {"diff", "--name-only", "sortie/1~1", "sortie/1"}) ==
             "tools/calc/calc.py\n");
}

BOOST_AUTO_TEST_SUITE_END()

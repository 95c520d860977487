// `sortie init`: the files that it makes, and where it makes them.
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/text/text.h"
#include "tests/end_to_end/init_run.h"
#include "tests/support/immutable_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kGitHubFiles = {
    ".github/sortie/action.yml",    ".github/sortie/land.sh",
    ".github/sortie/run.sh",        ".github/workflows/sortie-change.yml",
    ".github/workflows/sortie.yml", ".gitignore",
    ".sortie/policy.yaml",          ".sortie/task.yaml"};

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list.items())
    all.push_back(one.is_string() ? one.text() : one.string_at("run"));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(init_command)

BOOST_AUTO_TEST_CASE(each_toolchain_gets_files_that_are_valid) {
  const std::string npm = "registry.npmjs.org:443";
  const struct {
    const char* name;
    ProjectFiles files;
    const char* toolchain;
    std::vector<std::string> commands;
    std::vector<std::string> setup;
    std::vector<std::string> hosts;
  } rows[] = {
      {"npm, no package",
       {{"package.json", R"({"scripts": {"test": "node --test"}})"}},
       "node",
       {"npm test"},
       {},
       {}},
      {"npm with a lock",
       {{"package.json", R"({"devDependencies": {"mocha": "1"}, "scripts": {"test": "mocha"}})"},
        {"package-lock.json", "{}"}},
       "node",
       {"npm test"},
       {"npm ci --no-audit --no-fund"},
       {npm}},
      {"npm, its own words for no test",
       {{"package.json",
         R"({"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}})"}},
       "node",
       {"node --test"},
       {},
       {}},
      {"pnpm",
       {{"package.json", R"({"dependencies": {"a": "1"}, "scripts": {"test": "x"}})"},
        {"pnpm-lock.yaml", ""}},
       "node",
       {"pnpm test"},
       {"pnpm install --frozen-lockfile"},
       {npm}},
      {"yarn",
       {{"package.json", R"({"dependencies": {"a": "1"}, "scripts": {"test": "x"}})"},
        {"yarn.lock", ""}},
       "node",
       {"yarn test"},
       {"yarn install --frozen-lockfile"},
       {"registry.yarnpkg.com:443", npm}},
      {"a registry of its own",
       {{"package.json", R"({"dependencies": {"a": "1"}, "scripts": {"test": "x"}})"},
        {".npmrc", "registry=https://npm.example.org/mirror/\n"}},
       "node",
       {"npm test"},
       {"npm install --no-package-lock --no-audit --no-fund"},
       {"npm.example.org:443"}},
      {"a broken package.json", {{"package.json", "{"}}, "node", {"node --test"}, {}, {}},
      {"unittest",
       {{"setup.py", ""}, {"tests/test_a.py", ""}},
       "python",
       {"python3 -m unittest discover -q -s tests"},
       {},
       {}},
      {"a package and its tests",
       {{"a/__init__.py", ""}, {"tests/__init__.py", ""}},
       "python",
       {"python3 -m unittest -q"},
       {},
       {}},
      {"pytest",
       {{"pyproject.toml", "[tool.pytest.ini_options]\n"}, {"src/a.py", ""}},
       "python",
       {"PYTHONPATH=src python3 -m pytest -q"},
       {},
       {}},
      {"pip",
       {{"requirements.txt", "# none\nrequests\npytest\n"}},
       "python",
       {R"("$TMPDIR/venv/bin/python" -m pytest -q)"},
       {R"(python3 -m venv "$TMPDIR/venv")",
        R"("$TMPDIR/venv/bin/pip" install -q --disable-pip-version-check -r requirements.txt )"
        "pytest"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"uv",
       {{"pyproject.toml", "dependencies = [\"pytest\"]\n"}, {"uv.lock", ""}},
       "python",
       {"uv run --frozen python -m pytest -q"},
       {"uv sync --frozen"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"poetry",
       {{"pyproject.toml", "[tool.poetry]\npytest\n"}, {"poetry.lock", ""}},
       "python",
       {"poetry run python -m pytest -q"},
       {"poetry install --no-interaction"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"go", {{"go.mod", "module a\n"}}, "go", {"go test ./..."}, {}, {}},
      {"go with packages",
       {{"go.mod", "module a\n"}, {"go.sum", ""}},
       "go",
       {"go test ./..."},
       {"go mod download"},
       {"proxy.golang.org:443", "sum.golang.org:443"}},
      {"rust",
       {{"Cargo.toml", "[package]\nname = \"a\"\n"}},
       "rust",
       {"cargo test --offline"},
       {},
       {}},
      {"rust with packages",
       {{"Cargo.toml", ""}, {"Cargo.lock", "source = \"registry+https://x\"\n"}},
       "rust",
       {"cargo test --offline"},
       {"cargo fetch --locked"},
       {"index.crates.io:443", "static.crates.io:443"}},
      {"maven",
       {{"pom.xml", ""}},
       "jvm",
       {"mvn -B -q -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 "
        "-Daether.connector.http.useSystemProperties=true test"},
       {},
       {"repo.maven.apache.org:443", "repo1.maven.org:443"}},
      {"gradle with its wrapper",
       {{"build.gradle.kts", ""}, {"gradlew", ""}},
       "jvm",
       {"./gradlew --no-daemon -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=3128 test"},
       {},
       {"repo.maven.apache.org:443", "plugins.gradle.org:443", "plugins-artifacts.gradle.org:443",
        "services.gradle.org:443", "downloads.gradle.org:443"}},
      {"cmake",
       {{"CMakeLists.txt", ""}},
       "cpp",
       {R"(cmake -S . -B "$TMPDIR/build")", R"(cmake --build "$TMPDIR/build" --parallel 2)",
        R"(ctest --test-dir "$TMPDIR/build" --output-on-failure)"},
       {},
       {}},
      {"meson",
       {{"meson.build", ""}},
       "cpp",
       {R"(meson setup "$TMPDIR/build")", R"(meson test -C "$TMPDIR/build")"},
       {},
       {}},
      {"make", {{"Makefile", "all:\n\ttrue\ncheck: all\n\ttrue\n"}}, "cpp", {"make check"}, {}, {}},
      {"bundler",
       {{"Gemfile", "gem 'rspec'\n"}, {"spec/a_spec.rb", ""}},
       "ruby",
       {R"(BUNDLE_PATH="$TMPDIR/bundle" bundle exec rspec)"},
       {R"(BUNDLE_PATH="$TMPDIR/bundle" bundle install --quiet)"},
       {"rubygems.org:443", "index.rubygems.org:443"}},
      {"composer",
       {{"composer.json", R"({"scripts": {"test": "phpunit"}})"}},
       "php",
       {"composer test"},
       {"composer install --no-interaction --no-progress"},
       {"repo.packagist.org:443", "api.github.com:443", "codeload.github.com:443"}},
      {".NET",
       {{"App.sln", ""}},
       "dotnet",
       {"dotnet test --no-restore"},
       {"dotnet restore"},
       {"api.nuget.org:443"}},
      {"nothing known", {{"notes.txt", "teh\n"}}, "plain", {}, {}, {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const InitRun run(row.files);
      run.make_git();

      const ProgramEnd end = run.init();

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(end.output.find(std::string("toolchain ") + row.toolchain + ":") == 0u,
                 end.output);
      BOOST_TEST(run.changed() == kGitHubFiles, boost::test_tools::per_element());
      const Json task = run.task();
      BOOST_TEST(texts(task["verify"]["commands"]) == row.commands,
                 boost::test_tools::per_element());
      BOOST_TEST(texts(task["verify"]["setup"]) == row.setup, boost::test_tools::per_element());
      const ProgramEnd policy = run.sortie({"policy", "check", ".sortie/policy.yaml"});
      BOOST_TEST(policy.status == 0, policy.errors);
      const std::string text = run.text(".sortie/policy.yaml");
      BOOST_TEST(holds(text, "extends: [strict"), text);
      BOOST_TEST(holds(text, "mode: allow-list") == !row.hosts.empty(), text);
      for (const std::string& host : row.hosts) BOOST_TEST(holds(text, host), host << text);
      const ProgramEnd refused =
          run.sortie({"policy", "check", ".sortie/policy.yaml", "--", "curl", "example.org"});
      BOOST_TEST(refused.status == 3, refused.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_that_exist_are_named_and_stay_unless_forced) {
  const InitRun run({{"go.mod", ""},
                     {".sortie/task.yaml", "mine\n"},
                     {".github/workflows/sortie.yml", "mine too\n"},
                     {".gitignore", "*.o"}});
  run.make_git();

  const ProgramEnd refused = run.init();

  BOOST_TEST(refused.status == 2);
  BOOST_TEST(holds(refused.errors, ".sortie/task.yaml, .github/workflows/sortie.yml exist already"),
             refused.errors);
  BOOST_TEST(holds(refused.errors, "--force"), refused.errors);
  BOOST_TEST(run.changed().empty());

  BOOST_TEST(run.init({"--force"}).status == 0);
  BOOST_TEST(run.text(".sortie/task.yaml") != "mine\n");
  BOOST_TEST(run.text(".gitignore") == "*.o\n/sortie-out*/\n");

  const ProgramEnd again = run.init();
  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(holds(again.output, "unchanged .sortie/task.yaml"), again.output);
  BOOST_TEST(!holds(again.output, "wrote"), again.output);
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_the_files_and_writes_none) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.make_git();
  const ProgramEnd end = run.init({"--dry-run"});
  BOOST_TEST(end.status == 0, end.errors);
  for (const std::string& name : kGitHubFiles)
    BOOST_TEST(holds(end.output, "==> " + name + " <=="), name);
  BOOST_TEST(holds(end.output, "    - go test ./..."), end.output);
  BOOST_TEST(run.changed().empty());
}

BOOST_AUTO_TEST_CASE(outside_of_git_there_is_no_workflow_unless_asked_for) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  const ProgramEnd end = run.init();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, "no workflow: the folder is in no git repository"), end.output);
  BOOST_TEST(run.has(".sortie/policy.yaml"));
  BOOST_TEST(!run.has(".github"));
  BOOST_TEST(!run.has(".gitignore"));

  BOOST_TEST(run.init({"--ci", "github"}).status == 0);
  BOOST_TEST(run.has(".github/workflows/sortie.yml"));
}

BOOST_AUTO_TEST_CASE(the_workflow_is_for_the_system_that_the_repository_has) {
  const struct {
    const char* name;
    ProjectFiles files;
    const char* remote;
    Arguments flags;
    const char* made;
    const char* said;
  } rows[] = {
      {"nothing", {}, "", {}, ".github/workflows/sortie.yml", "no files of another system"},
      {".github",
       {{".github/CODEOWNERS", ""}},
       "",
       {},
       ".github/workflows/sortie.yml",
       "has .github"},
      {"GitLab",
       {{".gitlab-ci.yml", "a: {script: [b]}\n"}},
       "",
       {},
       ".gitlab/sortie/sortie.gitlab-ci.yml",
       "include it in .gitlab-ci.yml (include: [{local: /.gitlab/sortie/sortie.gitlab-ci.yml}])"},
      {"GitLab's remote",
       {},
       "git@gitlab.example:a/b.git",
       {},
       ".gitlab-ci.yml",
       "the remote is GitLab"},
      {"Jenkins", {{"Jenkinsfile", ""}}, "", {}, ".sortie/Jenkinsfile", "has Jenkinsfile"},
      {"the flag", {{"Jenkinsfile", ""}}, "", {"--ci", "gitlab"}, ".gitlab/sortie/land.sh", "--ci"},
      {"none",
       {{".github/CODEOWNERS", ""}},
       "",
       {"--ci", "none"},
       ".sortie/task.yaml",
       "no workflow"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProjectFiles files = row.files;
      files.emplace_back("go.mod", "");
      const InitRun run(files);
      run.make_git();
      if (*row.remote != '\0') git(run.workspace(), {"remote", "add", "origin", row.remote});
      const ProgramEnd end = run.init(row.flags);
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.has(row.made));
      BOOST_TEST(holds(end.output, row.said), end.output);
      for (const auto& [name, content] : row.files) BOOST_TEST(run.text(name) == content, name);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_several_toolchains_it_says_which_it_took) {
  const InitRun run({{"pyproject.toml", ""}, {"package.json", "{}"}, {"Makefile", "test:\n"}});
  const ProgramEnd end = run.init({"--dry-run"});
  BOOST_TEST(holds(end.output, "toolchain python: "), end.output);
  BOOST_TEST(holds(end.output, "Node.js with npm, by package.json; to take it: --toolchain node"),
             end.output);
  for (const Arguments& words :
       {Arguments{"node", "--dry-run"}, Arguments{"--toolchain", "node", "--dry-run"}})
    BOOST_TEST(run.init(words).output.find("toolchain node: ") == 0u);

  const InitRun apart({{"services/api/go.mod", ""}, {"web/package.json", "{}"}, {"bin/a.py", ""}});
  const ProgramEnd below = apart.init({"--dry-run"});
  BOOST_TEST(holds(below.output, "toolchain plain: "), below.output);
  BOOST_TEST(holds(below.output, "go in services/api; "), below.output);
  BOOST_TEST(holds(below.output, "node in web; "), below.output);
  BOOST_TEST(!holds(below.output, "in bin; "), below.output);

  const ProgramEnd unknown = run.init({"cobol"});
  BOOST_TEST(unknown.status == 2);
  BOOST_TEST(holds(unknown.errors, "python"), unknown.errors);
}

BOOST_AUTO_TEST_CASE(in_a_folder_of_a_repository_the_workflow_is_at_its_top) {
  const std::string odd = "packages/it's \"#1\"\n: {x}";
  const InitRun run({{"packages/shop/go.mod", ""}, {odd + "/go.mod", ""}});
  run.make_git();

  BOOST_TEST(run.init({}, "packages/shop").status == 0);
  const ProgramEnd second = run.init({}, odd);

  BOOST_TEST(second.status == 0, second.errors);
  BOOST_TEST(run.has("packages/shop/.sortie/task.yaml"));
  BOOST_TEST(run.has("packages/shop/.gitignore"));
  BOOST_TEST(!run.has("packages/shop/.github"));
  BOOST_TEST(holds(run.text(".github/workflows/sortie-packages-shop.yml"),
                   "task: packages/shop/.sortie/task.yaml\n"));
  BOOST_TEST(holds(run.text(".github/workflows/sortie-packages-it-s---1-----x-.yml"),
                   "workspace: \"packages/it's \\\"#1\\\"\\n: {x}\"\n"));
  BOOST_TEST(!run.task(odd).is_null());
}

BOOST_AUTO_TEST_CASE(links_do_not_lead_it_out_of_the_repository) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  run.write("elsewhere/kept.txt", "kept\n");
  run.make_git();
  fs::create_symlink("../elsewhere", run.workspace() / ".github");
  const ProgramEnd led = run.init();
  BOOST_TEST(led.status == 2, led.output);
  BOOST_TEST(fs::exists(run.path("elsewhere/kept.txt")));
  BOOST_TEST(!fs::exists(run.path("elsewhere/workflows")));
  BOOST_TEST(!run.has(".sortie"));

  fs::remove(run.workspace() / ".github");
  fs::create_symlink("../elsewhere/kept.txt", run.workspace() / ".gitignore");
  BOOST_TEST(run.init().status == 2);
  BOOST_TEST(read_file(run.path("elsewhere/kept.txt")) == "kept\n");
  BOOST_TEST(!run.has(".sortie"));
}

BOOST_AUTO_TEST_CASE(a_folder_that_can_t_be_written_to_is_said) {
  const InitRun run(ProjectFiles{{"go.mod", ""}});
  const ImmutableFolder kept(run.workspace());
  if (!kept.works()) {
    BOOST_TEST_MESSAGE("skipped: the file system has no attribute immutable");
    return;
  }
  const ProgramEnd end = run.init();
  BOOST_TEST(end.status == 2, end.output);
  BOOST_TEST(holds(end.errors, "can't write to the folder " + run.workspace().string()),
             end.errors);
  BOOST_TEST(!run.has(".sortie"));
}

BOOST_AUTO_TEST_CASE(a_full_or_read_only_disk_is_said_and_nothing_is_left) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: mounting a small disk needs root");
    return;
  }
  const InitRun run;
  fs::create_directories(run.workspace());
  const std::string disk = run.workspace().string();
  BOOST_REQUIRE(::mount("none", disk.c_str(), "tmpfs", 0, "size=8k") == 0);
  run.write("work/go.mod", "");
  const ProgramEnd full = run.init({"--ci", "github"});
  const bool left = run.has(".sortie") || run.has(".github");
  const bool remounted =
      ::mount("none", disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=8k") == 0;
  const ProgramEnd read_only = run.init();
  ::umount2(disk.c_str(), MNT_DETACH);

  BOOST_TEST(full.status == 7, full.errors);
  BOOST_TEST(holds(full.errors, "No space left"), full.errors);
  BOOST_TEST(!left);
  BOOST_TEST(remounted);
  BOOST_TEST(read_only.status == 2, read_only.errors);
  BOOST_TEST(holds(read_only.errors, "Read-only"), read_only.errors);
}

BOOST_AUTO_TEST_CASE(doctor_tells_what_a_task_lacks) {
  const InitRun run;
  run.write("work/task.yaml",
            "version: 1\nprompt: x\nverify: [cd . && no-such-program --x, [no-such-other], "
            "./own.sh]\n");
  const ProgramEnd end = run.sortie({"doctor", "--task", "task.yaml", "--json"});
  BOOST_TEST(end.status == 7, end.errors);
  const Json report = parse_json(end.output)["task"];
  BOOST_REQUIRE(report["problems"].items().size() == 2u);
  BOOST_TEST(holds(report["problems"].items()[0].text(), "no-such-program"));
  BOOST_TEST(holds(report["problems"].items()[1].text(), "no-such-other"));

  run.write("work/task.yaml", "version: 1\nprompt: x\nverifi: []\n");
  const ProgramEnd wrong = run.sortie({"doctor", "--task", "task.yaml"});
  BOOST_TEST(wrong.status == 2);
  BOOST_TEST(holds(wrong.errors, "task.yaml:3:1: error: unknown key 'verifi'"), wrong.errors);
}

BOOST_AUTO_TEST_SUITE_END()

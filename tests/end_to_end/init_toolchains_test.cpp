// `sortie init` in projects of each toolchain: commands, setup, hosts and tests of the files.
#include <boost/test/unit_test.hpp>

#include "tests/end_to_end/init_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list.items())
    all.push_back(one.is_string() ? one.text() : one.string_at("run"));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(init_toolchains)

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
       {R"(PYTHONPATH=src "$TMPDIR/venv/bin/python" -m pytest -q)"},
       {R"(python3 -m venv --system-site-packages "$TMPDIR/venv")",
        R"("$TMPDIR/venv/bin/pip" install -q --disable-pip-version-check pytest)"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"an extra for tests",
       {{"pyproject.toml",
         "[project]\nname = \"a\"\n[project.optional-dependencies]\ndev = [\"mypy\"]\n"
         "test = [\n  \"pytest\",\n]\n[tool.x]\ntesting = 1\n"},
        {"src/a.py", ""}},
       "python",
       {R"("$TMPDIR/venv/bin/python" -m pytest -q)"},
       {R"(python3 -m venv "$TMPDIR/venv")",
        R"("$TMPDIR/venv/bin/pip" install -q --disable-pip-version-check -e '.[test]' pytest)"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
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
       {R"(UV_PROJECT_ENVIRONMENT="$TMPDIR/venv" uv run --frozen python -m pytest -q)"},
       {R"(UV_PROJECT_ENVIRONMENT="$TMPDIR/venv" uv sync --frozen)"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"poetry",
       {{"pyproject.toml", "[tool.poetry]\npytest\n"}, {"poetry.lock", ""}},
       "python",
       {R"(POETRY_VIRTUALENVS_PATH="$TMPDIR/venvs" poetry run python -m pytest -q)"},
       {R"(POETRY_VIRTUALENVS_PATH="$TMPDIR/venvs" poetry install --no-interaction)"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"poetry without a lock",
       {{"pyproject.toml", "[tool.poetry]\n[tool.poetry.dependencies]\npython = \"^3.11\"\n"}},
       "python",
       {R"(POETRY_VIRTUALENVS_PATH="$TMPDIR/venvs" poetry run python -m unittest -q)"},
       {R"(POETRY_VIRTUALENVS_PATH="$TMPDIR/venvs" poetry install --no-interaction)"},
       {"pypi.org:443", "files.pythonhosted.org:443"}},
      {"pipenv without a lock",
       {{"Pipfile", "[packages]\n"}},
       "python",
       {R"(WORKON_HOME="$TMPDIR/venvs" pipenv run python -m unittest -q)"},
       {R"(WORKON_HOME="$TMPDIR/venvs" pipenv install --dev --skip-lock)"},
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
      {"a workspace of cargo",
       {{"Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"}},
       "rust",
       {"cargo test --offline"},
       {"cargo fetch"},
       {"index.crates.io:443", "static.crates.io:443"}},
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

BOOST_AUTO_TEST_CASE(tests_are_verified_as_they_were_in_every_toolchain_that_has_names_for_them) {
  const struct {
    ProjectFiles files;
    std::vector<std::string> restore;
  } rows[] = {
      {{{"go.mod", ""}}, {"*_test.go", "**/testdata/**"}},
      {{{"Cargo.toml", ""}}, {"**/tests/**"}},
      {{{"pom.xml", ""}}, {"**/src/test/**"}},
      {{{"package.json", R"({"scripts": {"test": "x"}})"}, {"test/a.js", ""}},
       {"test/**", "**/__tests__/**", "*.test.*", "*.spec.*"}},
      {{{"package.json", "{}"}},
       {"**/__tests__/**", "*.test.*", "*.spec.*", "*-test.*js", "*_test.*js", "**/test-*.*js"}},
      {{{"a.py", ""}, {"tests/__init__.py", ""}},
       {"tests/**", "**/test_*.py", "*_test.py", "**/conftest.py"}},
  };
  for (const auto& row : rows) {
    const InitRun run(row.files);
    BOOST_TEST(run.init().status == 0);
    BOOST_TEST(texts(run.task()["verify"]["restore"]) == row.restore,
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()

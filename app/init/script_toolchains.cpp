// Node.js, Python, Ruby and PHP.
#include <algorithm>
#include <string>

#include "app/init/toolchain_readers.h"
#include "core/base/error.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using Words = std::vector<std::string>;

/// A JSON file's value; null if it is none.
Json json_of(const Project& project, const std::string& name) {
  const std::string text = project.text(name);
  if (text.empty()) return {};
  try {
    return parse_json(text);
  } catch (const std::exception&) {
    return {};
  }
}

/// HOST:443 of a registry that the project's .npmrc names; "" if it names none.
std::string registry_of(const Project& project) {
  const std::string text = project.text(".npmrc");
  for (const std::string_view line : split_lines(text)) {
    constexpr std::string_view kBegin = "registry=https://";
    if (!line.starts_with(kBegin)) continue;
    const std::string_view rest = line.substr(kBegin.size());
    const std::string host(rest.substr(0, rest.find_first_of("/ \t\r")));
    if (!host.empty() &&
        host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos)
      return host + ":443";
  }
  return "";
}

std::string node_packager(const Project& project, const Json& package) {
  const std::string named = package.string_at("packageManager");
  if (project.has("pnpm-lock.yaml") || named.starts_with("pnpm@")) return "pnpm";
  if (project.has("yarn.lock") || named.starts_with("yarn@")) return "yarn";
  return "npm";
}

std::string node_setup(const Project& project, const std::string& packager) {
  if (packager == "pnpm")
    return project.has("pnpm-lock.yaml") ? "pnpm install --frozen-lockfile" : "pnpm install";
  if (packager == "yarn") {
    if (!project.has("yarn.lock")) return "yarn install";
    return project.has(".yarnrc.yml") ? "yarn install --immutable"
                                      : "yarn install --frozen-lockfile";
  }
  return project.has("package-lock.json") || project.has("npm-shrinkwrap.json")
             ? "npm ci --no-audit --no-fund"
             : "npm install --no-package-lock --no-audit --no-fund";
}

bool has_node_dependencies(const Json& package) {
  for (const char* key :
       {"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"})
    if (!package[key].members().empty()) return true;
  return package.find("workspaces") != nullptr;
}

/// Whether a requirements file names a package.
bool names_packages(const std::string& text) {
  for (const std::string_view line : split_lines(text))
    if (const auto word = trimmed(line); !word.empty() && !word.starts_with('#')) return true;
  return false;
}

/// Whether pyproject.toml has a list "KEY = […]" that is not empty. By its text: a list that this
/// takes for filled costs a setup that installs nothing.
bool has_filled_list(const std::string& toml, std::string_view key) {
  for (std::size_t at = toml.find(key); at != std::string::npos; at = toml.find(key, at + 1)) {
    const std::size_t equals = toml.find_first_not_of(" \t", at + key.size());
    if (equals == std::string::npos || toml[equals] != '=') continue;
    const std::size_t list = toml.find_first_not_of(" \t", equals + 1);
    if (list == std::string::npos || toml[list] != '[') continue;
    const std::size_t first = toml.find_first_not_of(" \t\r\n", list + 1);
    if (first != std::string::npos && toml[first] != ']') return true;
  }
  return false;
}

/// What runs the tests, without the program of an environment in front.
std::string python_tests(const Project& project) {
  if (project.has("manage.py")) return "python manage.py test";
  const bool pytest =
      !project.first_of({"pytest.ini", "conftest.py", "tests/conftest.py"}).empty() ||
      project.mentions({"pyproject.toml", "setup.cfg", "tox.ini", "Pipfile", "setup.py",
                        "requirements.txt", "requirements-dev.txt", "dev-requirements.txt",
                        "requirements-test.txt", "requirements/test.txt"},
                       "pytest");
  if (pytest) return "python -m pytest -q";
  for (const char* folder : {"tests", "test"})
    if (project.has_folder(folder) && !project.has(std::string(folder) + "/__init__.py"))
      return std::string("python -m unittest discover -q -s ") + folder;
  return "python -m unittest -q";
}

/// The words behind `pip install` for the project's packages; none: it needs no package.
Words pip_packages(const Project& project) {
  Words words;
  for (const char* file : {"requirements.txt", "requirements-dev.txt", "dev-requirements.txt",
                           "requirements-test.txt"})
    if (names_packages(project.text(file))) words.push_back(std::string("-r ") + file);
  const std::string toml = project.text("pyproject.toml");
  if (has_filled_list(toml, "dependencies") ||
      project.mentions({"setup.py", "setup.cfg"}, "install_requires"))
    words.emplace_back("-e .");
  return words;
}

void set_up_pip(const Project& project, Toolchain& python) {
  const std::string tests = python_tests(project);
  Words packages = pip_packages(project);
  if (packages.empty()) {
    const bool in_src = project.has_folder("src");
    python.commands = {(in_src ? "PYTHONPATH=src python3" : "python3") + tests.substr(6)};
    python.hosts.clear();
    return;
  }
  if (tests.find("pytest") != std::string::npos) packages.emplace_back("pytest");
  python.setup = {
      R"(python3 -m venv "$TMPDIR/venv")",
      R"("$TMPDIR/venv/bin/pip" install -q --disable-pip-version-check )" + joined(packages, " ")};
  python.commands = {R"("$TMPDIR/venv/bin/python")" + tests.substr(6)};
}

}  // namespace

Toolchain read_node(const Project& project) {
  const Json package = json_of(project, "package.json");
  const std::string packager = node_packager(project, package);
  Toolchain node{.name = "node",
                 .shown = "Node.js with " + packager,
                 .sign = project.first_of({"package.json"}),
                 .presets = {"node"}};
  const std::string test = package["scripts"].string_at("test");
  const bool own_test = !test.empty() && test.find("no test specified") == std::string::npos;
  node.commands = {own_test ? packager + " test" : "node --test"};
  if (has_node_dependencies(package)) {
    node.setup = {node_setup(project, packager)};
    const std::string named = registry_of(project);
    node.hosts = {!named.empty()       ? named
                  : packager == "yarn" ? "registry.yarnpkg.com:443"
                                       : "registry.npmjs.org:443"};
    if (named.empty() && packager == "yarn") node.hosts.emplace_back("registry.npmjs.org:443");
  }
  node.restore = project.patterns_of({"test", "tests", "__tests__", "spec"});
  return node;
}

Toolchain read_python(const Project& project) {
  Toolchain python{.name = "python",
                   .shown = "Python with pip",
                   .sign = project.first_of({"pyproject.toml", "uv.lock", "setup.py", "setup.cfg",
                                             "requirements.txt", "Pipfile", "tox.ini", "pytest.ini",
                                             "manage.py"}),
                   .presets = {"python"},
                   .hosts = {"pypi.org:443", "files.pythonhosted.org:443"}};
  if (python.sign.empty()) python.sign = project.first_ending(".py");
  for (const char* tests : {"tests", "test"})
    if (python.sign.empty())
      if (const std::string file = Project(project.folder() / tests).first_ending(".py");
          !file.empty())
        python.sign = std::string(tests) + "/" + file;
  python.restore = project.patterns_of({"tests", "test"});
  python.variables = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  const std::string tests = python_tests(project);
  const auto with = [&](const char* shown, const char* setup, const char* run) {
    python.shown = std::string("Python with ") + shown;
    python.setup = {setup};
    python.commands = {run + tests};
  };
  if (project.has("uv.lock"))
    with("uv", "uv sync --frozen", "uv run --frozen ");
  else if (project.has("poetry.lock"))
    with("poetry", "poetry install --no-interaction", "poetry run ");
  else if (project.has("Pipfile.lock"))
    with("pipenv", "pipenv sync --dev", "pipenv run ");
  else if (project.has("pdm.lock"))
    with("pdm", "pdm sync", "pdm run ");
  else
    set_up_pip(project, python);
  return python;
}

Toolchain read_ruby(const Project& project) {
  Toolchain ruby{.name = "ruby",
                 .shown = "Ruby with bundler",
                 .sign = project.first_of({"Gemfile", "Rakefile", ".rspec"})};
  const bool rspec = project.has_folder("spec") || project.has(".rspec");
  const std::string tests = rspec ? "rspec" : "rake test";
  if (project.has("Gemfile")) {
    // In front of each command, since environment.set of a policy takes no other variables.
    const std::string place = R"(BUNDLE_PATH="$TMPDIR/bundle" )";
    ruby.setup = {place + "bundle install --quiet"};
    ruby.commands = {place + "bundle exec " + tests};
    ruby.hosts = {"rubygems.org:443", "index.rubygems.org:443"};
  } else {
    ruby.shown = "Ruby";
    ruby.commands = {tests};
  }
  ruby.restore = project.patterns_of({"spec", "test"});
  return ruby;
}

Toolchain read_php(const Project& project) {
  Toolchain php{
      .name = "php", .shown = "PHP with composer", .sign = project.first_of({"composer.json"})};
  const Json composer = json_of(project, "composer.json");
  php.commands = {composer["scripts"].find("test") != nullptr ? "composer test"
                                                              : "vendor/bin/phpunit"};
  php.setup = {"composer install --no-interaction --no-progress"};
  php.hosts = {"repo.packagist.org:443", "api.github.com:443", "codeload.github.com:443"};
  php.restore = project.patterns_of({"tests", "test"});
  return php;
}

}  // namespace sortie

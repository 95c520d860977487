// Python, by pip, uv, poetry, pipenv or pdm.
#include <algorithm>
#include <string>

#include "app/init/toolchain_readers.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using Words = std::vector<std::string>;

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

/// The extra of pyproject.toml that has what its tests need: "test"; "" for none.
std::string test_extra(const std::string& toml) {
  std::string found;
  bool extras = false;
  for (const std::string_view whole : split_lines(toml)) {
    const std::string_view line = trimmed(whole);
    if (line.starts_with('[')) extras = line == "[project.optional-dependencies]";
    const std::string_view key = trimmed(line.substr(0, line.find('=')));
    if (!extras || !is_one_of(key, {"test", "tests", "testing", "dev"})) continue;
    if (found.empty() || found == "dev") found = std::string(key);
  }
  return found;
}

/// The words behind `pip install` for the project's packages; none: it needs no package.
Words pip_packages(const Project& project) {
  Words words;
  for (const char* file : {"requirements.txt", "requirements-dev.txt", "dev-requirements.txt",
                           "requirements-test.txt"})
    if (names_packages(project.text(file))) words.push_back(std::string("-r ") + file);
  const std::string toml = project.text("pyproject.toml");
  const std::string extra = test_extra(toml);
  if (!extra.empty())
    words.push_back("-e '.[" + extra + "]'");
  else if (has_filled_list(toml, "dependencies") ||
           project.mentions({"setup.py", "setup.cfg"}, "install_requires"))
    words.emplace_back("-e .");
  return words;
}

void set_up_pip(const Project& project, Toolchain& python) {
  const std::string tests = python_tests(project);
  const bool pytest = tests.find("pytest") != std::string::npos;
  Words packages = pip_packages(project);
  const bool installed = std::any_of(packages.begin(), packages.end(), [](const std::string& word) {
    return word.starts_with("-e");
  });
  const std::string path = project.has_folder("src") && !installed ? "PYTHONPATH=src " : "";
  if (packages.empty() && !pytest) {
    python.commands = {path + "python3" + tests.substr(6)};
    python.hosts.clear();
    return;
  }
  // A machine that has pytest and all that the project needs needs no network.
  const char* system = packages.empty() ? "--system-site-packages " : "";
  if (pytest) packages.emplace_back("pytest");
  python.setup = {
      std::string("python3 -m venv ") + system + R"("$TMPDIR/venv")",
      R"("$TMPDIR/venv/bin/pip" install -q --disable-pip-version-check )" + joined(packages, " ")};
  python.commands = {path + R"("$TMPDIR/venv/bin/python")" + tests.substr(6)};
}

/// A program that keeps environments of its own, by a lock or by its table in pyproject.toml.
struct Packager {
  const char* name;
  const char* lock;
  const char* locked;  ///< its setup with the lock
  const char* sign;    ///< another file
  const char* table;   ///< of pyproject.toml
  const char* setup;   ///< without the lock
  const char* run;
  const char* place;  ///< where its environment is, in front of each command
};

constexpr Packager kPackagers[] = {
    {"uv", "uv.lock", "uv sync --frozen", "", "[tool.uv", "uv sync", "uv run ",
     R"(UV_PROJECT_ENVIRONMENT="$TMPDIR/venv" )"},
    {"poetry", "poetry.lock", "poetry install --no-interaction", "", "[tool.poetry",
     "poetry install --no-interaction", "poetry run ",
     R"(POETRY_VIRTUALENVS_PATH="$TMPDIR/venvs" )"},
    {"pipenv", "Pipfile.lock", "pipenv sync --dev", "Pipfile", "",
     "pipenv install --dev --skip-lock", "pipenv run ", R"(WORKON_HOME="$TMPDIR/venvs" )"},
    // Other tables of pdm belong to its build backend, which projects of pip have, too.
    {"pdm", "pdm.lock", "pdm sync", "", "[tool.pdm.dev-dependencies", "pdm install", "pdm run ",
     ""},
};

void set_up_packager(const Project& project, const Packager& one, Toolchain& python) {
  const bool locked = project.has(one.lock);
  const std::string frozen = locked && std::string_view(one.name) == "uv" ? "--frozen " : "";
  python.shown = std::string("Python with ") + one.name;
  python.setup = {std::string(one.place) + (locked ? one.locked : one.setup)};
  python.commands = {std::string(one.place) + one.run + frozen + python_tests(project)};
}

}  // namespace

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
  // The names that test runners look for, in any folder.
  for (const char* pattern : {"**/test_*.py", "*_test.py", "**/conftest.py"})
    python.restore.emplace_back(pattern);
  if (project.has("manage.py")) python.restore.emplace_back("**/tests.py");
  python.variables = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  const std::string toml = project.text("pyproject.toml");
  const auto* packager =
      std::find_if(std::begin(kPackagers), std::end(kPackagers), [&](const Packager& one) {
        return project.has(one.lock) || project.has(one.sign) ||
               (*one.table != '\0' && toml.find(one.table) != std::string::npos);
      });
  if (packager == std::end(kPackagers))
    set_up_pip(project, python);
  else
    set_up_packager(project, *packager, python);
  return python;
}

}  // namespace sortie

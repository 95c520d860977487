// The lines between the folders: docs/architecture.md says what each may use, the #include lines of
// the whole repository are held to it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SORTIE_SOURCE_DIR;

/// A row of the table "Folders": what a folder's own files may include besides one another.
struct Row {
  std::string folder;
  std::string duty;
  std::set<std::string> folders;
  std::set<std::string> libraries;
};

struct Include {
  fs::path file;  ///< relative to the repository
  int line = 0;
  std::string name;
  bool quoted = false;
};

/// Libraries of the table by the first part of their headers' names; others in <…> are C++'s and
/// the system's. Types of those that are wrapped stay out of the headers of all but the wrappers.
struct Library {
  std::string header;
  std::string name;
  std::set<std::string> wrappers{};  ///< folders; empty: it is not wrapped
};
const std::vector<Library> kLibraries = {
    {"rapidjson", "RapidJSON", {"core/json"}},
    {"yaml-cpp", "yaml-cpp", {"core/config"}},
    {"Poco", "Poco", {"core/net"}},
    {"ares.h", "c-ares", {"core/names"}},
    {"re2", "RE2"},
    {"openssl", "OpenSSL"},
    {"git2", "libgit2"},
    {"git2.h", "libgit2"},
    {"seccomp.h", "libseccomp"},
    {"CLI", "CLI11"},
    {"boost", "Boost"},
    {"toml++", "toml++"},
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(trimmed(cell));
  return cells;
}

/// The parts of "a, b"; none for "–".
std::set<std::string> list_of(const std::string& cell) {
  std::set<std::string> names;
  std::istringstream stream(cell);
  for (std::string name; std::getline(stream, name, ',');) {
    name = trimmed(name);
    if (name.size() > 1 && name.front() == '`') name = name.substr(1, name.size() - 2);
    if (name != "–") names.insert(name);
  }
  return names;
}

/// The table of docs/architecture.md, lowest folder first.
std::vector<Row> rows_of_table() {
  std::vector<Row> rows;
  std::ifstream document(kRoot / "docs/architecture.md");
  bool in_table = false;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("## ", 0) == 0) in_table = line == "## Folders";
    if (!in_table || line.rfind("| `", 0) != 0) continue;
    const auto cells = cells_of(line);
    BOOST_REQUIRE_EQUAL(cells.size(), 4U);
    rows.push_back({.folder = *list_of(cells[0]).begin(),
                    .duty = cells[1],
                    .folders = list_of(cells[2]),
                    .libraries = list_of(cells[3])});
  }
  return rows;
}

const Row* row_of(const std::vector<Row>& rows, const std::string& folder) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& each) { return each.folder == folder; });
  return row == rows.end() ? nullptr : &*row;
}

std::string folder_of(const fs::path& file) { return file.parent_path().string(); }

const Library* library_of(const Include& include) {
  const std::string header = include.name.substr(0, include.name.find('/'));
  const auto library = std::find_if(kLibraries.begin(), kLibraries.end(),
                                    [&](const Library& each) { return each.header == header; });
  return include.quoted || library == kLibraries.end() ? nullptr : &*library;
}

/// Why an include line is against the table; "" where it is not.
std::string violation(const std::vector<Row>& rows, const Include& include) {
  const Row* row = row_of(rows, folder_of(include.file));
  if (row == nullptr) return "the folder is in no row of the table";
  if (include.quoted) {
    if (include.name.find("..") != std::string::npos) return "not named from the root";
    const std::string target = folder_of(include.name);
    if (row_of(rows, target) == nullptr) return "not a header of a folder, named from the root";
    const bool allowed = target == row->folder || row->folders.contains(target);
    return allowed ? "" : row->folder + " may not use " + target;
  }
  const Library* library = library_of(include);
  if (library == nullptr) return "";
  if (!row->libraries.contains(library->name)) return row->folder + " may not use " + library->name;
  const bool wrapped = !library->wrappers.empty() && !library->wrappers.contains(row->folder);
  if (wrapped && include.file.extension() == ".h") return library->name + " stays out of headers";
  return "";
}

std::vector<Include> includes_of(const fs::path& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s+(["<])([^">]+)[">].*)");
  std::vector<Include> found;
  std::ifstream stream(kRoot / file);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::smatch match;
    if (line.find("include") == std::string::npos || !std::regex_match(line, match, kInclude))
      continue;
    found.push_back({.file = file, .line = number, .name = match[2], .quoted = match[1] == "\""});
  }
  return found;
}

/// Of all headers and sources of the product.
std::vector<Include> all_includes() {
  std::vector<Include> found;
  for (const char* part : {"core", "policies", "tools", "ci", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / part)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      for (auto& include : includes_of(fs::relative(entry.path(), kRoot)))
        found.push_back(std::move(include));
    }
  }
  return found;
}

std::string module_of(const fs::path& file) { return fs::path(file).replace_extension().string(); }

using Uses = std::map<std::string, std::set<std::string>>;

/// Follows what a module uses; `path` are those on the way to it, `done` those without a circle.
std::string circle_from(const Uses& uses, const std::string& module, std::vector<std::string>& path,
                        std::set<std::string>& done) {
  const auto before = std::find(path.begin(), path.end(), module);
  if (before != path.end()) {
    std::string circle;
    for (auto step = before; step != path.end(); ++step) circle += *step + " → ";
    return circle + module;
  }
  const auto used = uses.find(module);
  if (done.contains(module) || used == uses.end()) return "";
  path.push_back(module);
  for (const auto& next : used->second) {
    const std::string circle = circle_from(uses, next, path, done);
    if (!circle.empty()) return circle;
  }
  path.pop_back();
  done.insert(module);
  return "";
}

/// The first circle, "a → b → a"; "" where there is none.
std::string circle_in(const Uses& uses) {
  std::set<std::string> done;
  for (const auto& [module, used] : uses) {
    std::vector<std::string> path;
    const std::string circle = circle_from(uses, module, path, done);
    if (!circle.empty()) return circle;
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(every_include_follows_the_table) {
  const auto rows = rows_of_table();
  const auto includes = all_includes();
  for (const Include& include : includes) {
    const std::string problem = violation(rows, include);
    BOOST_TEST(problem == "", include.file.string() << ':' << include.line << ": #include "
                                                    << include.name << ": " << problem);
  }
  BOOST_TEST(includes.size() > 1000U);
}

// So there can be no circle.
BOOST_AUTO_TEST_CASE(a_folder_uses_only_folders_that_stand_above_it_in_the_table) {
  std::set<std::string> above;
  for (const Row& row : rows_of_table()) {
    for (const auto& folder : row.folders)
      BOOST_TEST(above.contains(folder), row.folder << " uses " << folder << ", not above it");
    BOOST_TEST(row.duty.size() > 5, row.folder << ": what is it for?");
    BOOST_TEST(above.insert(row.folder).second, row.folder << " has two rows");
  }
  BOOST_TEST(above.size() > 40U);
}

BOOST_AUTO_TEST_CASE(what_the_table_allows_is_used) {
  std::map<std::string, std::set<std::string>> used;
  for (const Include& include : all_includes()) {
    auto& of_folder = used[folder_of(include.file)];
    if (include.quoted) of_folder.insert(folder_of(include.name));
    if (const Library* library = library_of(include)) of_folder.insert(library->name);
  }
  for (const Row& row : rows_of_table()) {
    for (const auto& folder : row.folders)
      BOOST_TEST(used[row.folder].contains(folder), row.folder << " does not use " << folder);
    for (const auto& library : row.libraries)
      BOOST_TEST(used[row.folder].contains(library), row.folder << " does not use " << library);
  }
}

// A module is a header with its source. Where two need each other, what both need is a value: it
// has a header of its own.
BOOST_AUTO_TEST_CASE(no_modules_use_each_other_in_a_circle) {
  std::map<std::string, std::set<std::string>> uses;
  for (const Include& include : all_includes()) {
    const std::string module = module_of(include.file);
    if (include.quoted && module_of(include.name) != module)
      uses[module].insert(module_of(include.name));
  }
  BOOST_TEST(circle_in(uses) == "");
  BOOST_TEST(circle_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {"d", "b"}}}) == "b → c → b");
}

BOOST_AUTO_TEST_CASE(the_test_refuses_what_it_should) {
  const std::vector<Row> rows = {
      {.folder = "core/base", .duty = "", .folders = {}, .libraries = {"OpenSSL"}},
      {.folder = "core/json", .duty = "", .folders = {"core/base"}, .libraries = {"RapidJSON"}},
      {.folder = "app", .duty = "", .folders = {"core/json"}, .libraries = {"RapidJSON"}},
  };
  const struct {
    Include include;
    std::string problem;
  } cases[] = {
      {{.file = "core/json/a.h", .name = "core/base/fd.h", .quoted = true}, ""},
      {{.file = "core/json/a.h", .name = "core/json/b.h", .quoted = true}, ""},
      {{.file = "core/base/a.h", .name = "core/json/b.h", .quoted = true},
       "core/base may not use core/json"},
      {{.file = "app/a.h", .name = "core/base/fd.h", .quoted = true}, "app may not use core/base"},
      {{.file = "core/json/a.h", .name = "../base/fd.h", .quoted = true},
       "not named from the root"},
      {{.file = "core/json/a.h", .name = "b.h", .quoted = true},
       "not a header of a folder, named from the root"},
      {{.file = "core/new/a.h", .name = "vector"}, "the folder is in no row of the table"},
      {{.file = "core/json/a.h", .name = "rapidjson/document.h"}, ""},
      {{.file = "app/a.cpp", .name = "rapidjson/document.h"}, ""},
      {{.file = "app/a.h", .name = "rapidjson/document.h"}, "RapidJSON stays out of headers"},
      {{.file = "core/base/a.cpp", .name = "rapidjson/document.h"},
       "core/base may not use RapidJSON"},
      {{.file = "core/base/a.cpp", .name = "sys/stat.h"}, ""},
  };
  for (const auto& row : cases) BOOST_TEST(violation(rows, row.include) == row.problem);
}

BOOST_AUTO_TEST_SUITE_END()

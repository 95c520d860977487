// The lines between the parts, read from the #include lines of the whole repository.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// What the folder `part` may include besides itself; a name covers all below it.
struct AllowedEdges {
  std::string part;
  std::vector<std::string> parts;
  std::vector<std::string> outside;  ///< the first part of <…>, of libraries beyond C++ and POSIX
};

const std::vector<AllowedEdges> kTable = {
    {"core/base", {}, {"rapidjson", "valijson", "yaml-cpp", "re2", "openssl"}},
    {"core/net", {"core/base"}, {"Poco", "openssl"}},
    {"core/task", {"core/base"}, {}},
    {"core/workspace", {"core/base"}, {"git2", "git2.h"}},
    {"core/model", {"core/base", "core/net"}, {}},
    {"core/agent", {"core/base", "core/task", "core/model"}, {}},
    {"core/record", {"core/base", "core/model", "core/agent"}, {}},
    // Within policies the deciding files use all of it; shell, sandbox and egress stand on the
    // folder's own files and not on each other.
    {"policies", {"core/base", "core/task", "policies/shell"}, {}},
    {"policies/shell", {"core/base", "policies/."}, {}},
    {"policies/sandbox",
     {"core/base", "core/workspace/mount_plan.h", "policies/."},
     {"seccomp.h", "libseccomp"}},
    {"policies/egress", {"core/base", "core/net", "policies/."}, {"Poco"}},
    // patch, search and mcp know nothing of the tools that use them, but for the interface.
    {"tools", {"core", "policies", "tools/patch", "tools/mcp", "tools/search"}, {}},
    {"tools/patch", {"core"}, {}},
    {"tools/search", {"core"}, {}},
    {"tools/mcp", {"core", "policies", "tools/tool.h", "tools/tool_source.h"}, {}},
    {"ci", {"core", "policies"}, {}},
    {"app", {"core", "policies", "tools", "ci", "app/commands/commands.h"}, {"CLI"}},
    {"app/commands", {"core", "policies", "tools", "ci", "app"}, {"CLI"}},
};

/// Types of these stay out of the headers of every part but core/base and core/net.
const std::vector<std::string> kWrapped = {"rapidjson", "valijson", "yaml-cpp", "Poco"};

/// Libraries that the table speaks of; others in <…> are C++'s and the system's.
const std::vector<std::string> kLibraries = {"rapidjson", "valijson", "yaml-cpp",   "re2",
                                             "openssl",   "Poco",     "git2",       "git2.h",
                                             "seccomp.h", "CLI",      "libseccomp", "boost"};

struct Include {
  fs::path file;  ///< relative to the repository
  int line = 0;
  std::string name;
  bool quoted = false;
};

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// The row of the deepest folder of the table that holds the file.
const AllowedEdges* row_of(const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const AllowedEdges& row : kTable) {
      if (row.part == folder.string()) return &row;
    }
  }
  return nullptr;
}

/// Whether an allowed edge covers an include: a header, a folder with all below it, or ("x/.") a
/// folder's own files.
bool covers(const std::string& edge, const std::string& name) {
  if (edge == name) return true;
  if (edge.size() > 2 && edge.substr(edge.size() - 2) == "/.") {
    return fs::path(name).parent_path().string() == edge.substr(0, edge.size() - 2);
  }
  return name.compare(0, edge.size() + 1, edge + '/') == 0;
}

/// Why an include line is against the table; "" where it is not.
std::string violation(const Include& include) {
  const AllowedEdges* row = row_of(include.file);
  if (row == nullptr) return "the folder is in no row of the table";
  if (include.quoted) {
    if (include.name.find("..") != std::string::npos) return "not named from the root";
    const AllowedEdges* target = row_of(include.name);
    if (target == nullptr) return "not a header of a part, named from the root";
    const bool allowed =
        target == row || std::any_of(row->parts.begin(), row->parts.end(),
                                     [&](const auto& edge) { return covers(edge, include.name); });
    return allowed ? "" : row->part + " may not use " + target->part;
  }
  const std::string library = include.name.substr(0, include.name.find('/'));
  if (!contains(kLibraries, library)) return "";
  if (!contains(row->outside, library)) return row->part + " may not use " + library;
  const bool wraps = row->part == "core/base" || row->part == "core/net";
  if (!wraps && include.file.extension() == ".h" && contains(kWrapped, library)) {
    return library + " stays out of headers";
  }
  return "";
}

std::vector<Include> includes_of(const fs::path& root, const fs::path& file) {
  std::vector<Include> found;
  std::ifstream stream(root / file);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::istringstream words(line);
    std::string directive;
    std::string name;
    words >> directive;
    if (directive == "#") {
      std::string rest;
      words >> rest;
      directive += rest;
    }
    if (directive != "#include" || !(words >> name) || name.size() < 3) continue;
    const bool quoted = name.front() == '"';
    found.push_back({.file = file,
                     .line = number,
                     .name = name.substr(1, name.find(quoted ? '"' : '>', 1) - 1),
                     .quoted = quoted});
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(every_include_follows_the_allowed_edges) {
  const fs::path root = SORTIE_SOURCE_DIR;
  int read = 0;
  for (const char* part : {"core", "policies", "tools", "ci", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp") continue;
      for (const Include& include : includes_of(root, fs::relative(entry.path(), root))) {
        const std::string problem = violation(include);
        BOOST_TEST(problem == "", include.file.string() << ':' << include.line << ": #include "
                                                        << include.name << ": " << problem);
        ++read;
      }
    }
  }
  BOOST_TEST(read > 100);
}

BOOST_AUTO_TEST_CASE(the_table_refuses_what_it_should) {
  const struct {
    Include include;
    bool allowed;
  } rows[] = {
      {{.file = "core/base/a.cpp", .name = "core/base/b.h", .quoted = true}, true},
      {{.file = "core/base/a.cpp", .name = "core/net/http.h", .quoted = true}, false},
      {{.file = "core/base/a.h", .name = "yaml-cpp/yaml.h"}, true},
      {{.file = "core/task/a.cpp", .name = "yaml-cpp/yaml.h"}, false},
      {{.file = "core/model/a.cpp", .name = "core/net/sse.h", .quoted = true}, true},
      {{.file = "core/net/a.cpp", .name = "core/model/item.h", .quoted = true}, false},
      {{.file = "core/agent/a.cpp", .name = "core/record/transcript.h", .quoted = true}, false},
      {{.file = "core/agent/a.cpp", .name = "tools/tool.h", .quoted = true}, false},
      {{.file = "policies/a.cpp", .name = "policies/shell/lookup.h", .quoted = true}, true},
      {{.file = "policies/a.cpp", .name = "policies/sandbox/keeper.h", .quoted = true}, false},
      {{.file = "policies/sandbox/a.cpp", .name = "policies/policy.h", .quoted = true}, true},
      {{.file = "policies/sandbox/a.cpp", .name = "policies/shell/lookup.h", .quoted = true},
       false},
      {{.file = "policies/sandbox/a.h", .name = "core/workspace/mount_plan.h", .quoted = true},
       true},
      {{.file = "policies/sandbox/a.h", .name = "core/workspace/diff.h", .quoted = true}, false},
      {{.file = "tools/patch/a.cpp", .name = "tools/shell.h", .quoted = true}, false},
      {{.file = "tools/a.cpp", .name = "ci/result.h", .quoted = true}, false},
      {{.file = "ci/a.cpp", .name = "tools/tool.h", .quoted = true}, false},
      {{.file = "app/a.cpp", .name = "ci/result.h", .quoted = true}, true},
      {{.file = "ci/a.cpp", .name = "../core/base/fd.h", .quoted = true}, false},
      {{.file = "ci/a.cpp", .name = "result.h", .quoted = true}, false},
      {{.file = "core/net/a.h", .name = "Poco/URI.h"}, true},
      {{.file = "policies/egress/a.cpp", .name = "Poco/URI.h"}, true},
      {{.file = "policies/egress/a.h", .name = "Poco/URI.h"}, false},
      {{.file = "policies/sandbox/a.cpp", .name = "seccomp.h"}, true},
      {{.file = "ci/a.cpp", .name = "sys/stat.h"}, true},
      {{.file = "unknown/a.cpp", .name = "vector"}, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.include.file << " includes " << row.include.name) {
      BOOST_TEST((violation(row.include) == "") == row.allowed);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

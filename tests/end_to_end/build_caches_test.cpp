// The user's caches of builds: commands use them, and never change them.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "core/files/files.h"
#include "tests/end_to_end/command_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;
namespace ut = boost::unit_test;

namespace {

struct Tool {
  const char* program;
  const char* cache;  ///< its folder in the user's cache directory
  std::map<std::string, std::string> files;
  const char* fill;
  const char* reuse;       ///< succeeds where the cache has what `fill` made
  bool only_reads = true;  ///< it can use a cache that it can't write to
};

const Tool kGo = {"go",
                  "go-build",
                  {{"go.mod", "module example.com/one\n\ngo 1.18\n"},
                   {"one.go", "package one\n\nfunc One() int { return 1 }\n"},
                   {"one_test.go",
                    "package one\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n"
                    "\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n"}},
                  "go test ./...",
                  "go test ./... | tee told && grep -q '(cached)' told"};

const Tool kCcache = {"ccache",
                      "ccache",
                      {{"one.c", "int one(void) { return 1; }\n"}},
                      "ccache cc -c one.c -o one.o",
                      "ccache -z > /dev/null && ccache cc -c one.c -o one.o && ccache --print-stats"
                      " | tee told && grep -qE '_cache_hit\t[1-9]' told",
                      false};

auto installed(const std::string& program) {
  return ut::precondition([program](ut::test_unit_id) {
    boost::test_tools::assertion_result result(fs::exists("/usr/bin/" + program));
    if (!result) result.message() << "no " << program << " in /usr/bin";
    return result;
  });
}

std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path());
  return files;
}

/// Fills the cache outside; then inside uses it, spoils it, and uses it again.
void try_cache(const Caller& caller, const Tool& tool, const RunFolder& folder,
               const std::string& base, const std::string& variable) {
  const fs::path cache = folder.path(base) / tool.cache;
  for (const auto& [name, text] : tool.files) folder.write("work/" + name, text);
  fs::create_directories(cache);
  const auto run = [&](const Arguments& words) {
    ProgramStart start = start_command(folder, {});
    // Nothing of the test's own environment moves a cache or makes another key for it (ccache's has
    // LANG, which commands get where the caller has none).
    start.argv = {"env", "-i", "HOME=" + folder.path("caller").string(), "PATH=/usr/bin:/bin",
                  "LANG=C.UTF-8"};
    if (!variable.empty()) start.argv.push_back(variable + "=" + folder.path(base).string());
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    return folder.run_as(caller, start);
  };
  const auto sandbox = [&](const std::string& line) {
    return run({sortie_binary(), "sandbox", "--policy", "auto", "--", "sh", "-c", line});
  };
  const ProgramEnd filled = run({"sh", "-c", tool.fill});
  BOOST_REQUIRE_MESSAGE(filled.status == 0, filled.printed());
  const auto before = files_below(cache);
  BOOST_TEST(!before.empty());

  for (int i = 0; i < 2; ++i) {
    const ProgramEnd used = sandbox(tool.reuse);
    BOOST_TEST((used.status == 0) == (caller.namespaces || tool.only_reads), used.printed());
    const ProgramEnd spoilt = sandbox(
        "find " + cache.string() +
        " -type f -exec sh -c 'for f; do chmod u+w $f; echo spoilt > $f; done' _ {} + ; grep -rqx spoilt " +
        cache.string());
    BOOST_TEST((spoilt.status == 0) == caller.namespaces, spoilt.printed());
    BOOST_TEST((files_below(cache) == before));
  }
}

void try_places(const Tool& tool) {
  for (const Caller& caller : all_callers()) {
    const struct {
      const char* base;
      const char* variable;
    } places[] = {{"caller/.cache", ""}, {"moved", "XDG_CACHE_HOME"}};
    for (const auto& place : places) {
      BOOST_TEST_CONTEXT(caller.name << ", " << place.base) {
        try_cache(caller, tool, RunFolder(), place.base, place.variable);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(build_caches)

BOOST_AUTO_TEST_CASE(tests_that_passed_outside_are_cached_for_go_inside, *installed("go")) {
  try_places(kGo);
}

BOOST_AUTO_TEST_CASE(what_was_compiled_outside_is_cached_for_ccache_inside, *installed("ccache")) {
  try_places(kCcache);
}

BOOST_AUTO_TEST_SUITE_END()

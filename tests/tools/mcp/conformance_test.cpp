#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "core/json/json.h"
#include "tests/support/npm_packages.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// The report that the suite left in a folder of its own below this one.
Json report_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "checks.json") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    return parse_json(text.str());
  }
  return {};
}

/// That we came late, on a busy machine: a warning of the suite's, or a failure. Too early would be
/// our fault.
bool is_late(const Json& check) {
  return check.string_at("id") == "client-sse-retry-timing" &&
         check.string_at("errorMessage").find(" late ") != std::string::npos;
}

/// "id: SUCCESS", of all checks that judge something.
std::vector<std::string> verdicts(const Json& report) {
  std::vector<std::string> lines;
  for (const Json& check : report.items()) {
    const std::string id = check.string_at("id");
    std::string status = check.string_at("status");
    if (is_late(check)) status = "SUCCESS";
    if (status != "INFO") lines.push_back(id + ": " + status);
  }
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conformance)

// Left out are the scenarios of what is not spoken: elicitation (nobody is there to be asked), and
// the ones of OAuth; docs/mcp.md says so.
BOOST_AUTO_TEST_CASE(the_official_suite_finds_nothing_wrong,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  const struct {
    const char* scenario;
    std::vector<std::string> verdicts;
  } rows[] = {
      {"initialize", {"mcp-client-initialization: SUCCESS"}},
      {"tools_call", {"tool-add-numbers: SUCCESS"}},
      {"sse-retry",
       {"client-sse-graceful-reconnect: SUCCESS", "client-sse-retry-timing: SUCCESS",
        "client-sse-last-event-id: SUCCESS"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.scenario) {
      const TemporaryFolder folder;
      auto argv = packages.command("@modelcontextprotocol/conformance", "dist/index.js");
      for (const std::string& word :
           {std::string("client"), std::string("--command"),
            std::string(SORTIE_BINARY_DIR "/tests/tools/mcp/conformance_client"),
            std::string("--scenario"), std::string(row.scenario), std::string("--timeout"),
            std::string("110000"), std::string("--output-dir"), folder.path().string()})
        argv.push_back(word);
      const ProgramEnd end = run_program({.argv = argv, .folder = folder.path()});
      BOOST_TEST_CONTEXT(end.output << end.errors) {
        const Json report = report_in(folder.path());
        const auto& checks = report.items();
        const bool late = std::any_of(checks.begin(), checks.end(), is_late);
        BOOST_TEST((end.status == 0 || late));
        BOOST_TEST(verdicts(report) == row.verdicts, boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

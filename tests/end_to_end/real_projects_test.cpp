#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;
namespace ut = boost::unit_test;

const fs::path kFetched = SORTIE_SOURCE_DIR "/build/real-projects";

/// For a case whose project `ci/setup tests` may not have been able to fetch: it counts as skipped.
auto fetched(const std::string& project) {
  return ut::precondition([project](ut::test_unit_id) {
    boost::test_tools::assertion_result result(fs::exists(kFetched / "sources" / project / ".git"));
    if (!result)
      result.message() << "no sources of " << project << " in " << kFetched.string()
                       << " (ci/setup tests fetches them)";
    return result;
  });
}

/// Builds, tests and patches it, bare and by sortie; what differs is a failure.
void try_project(const std::string& project) {
  const TemporaryFolder folder;
  ProgramStart start;
  start.argv = {SORTIE_SOURCE_DIR "/tests/real_projects/run", "--offline", project};
  start.folder = folder.path();
  start.environment = {{"SORTIE", sortie_binary()},
                       {"SORTIE_REAL_PROJECTS", kFetched.string()},
                       {"SORTIE_REAL_PROJECTS_WORK", folder.path().string()},
                       {"PYTHONDONTWRITEBYTECODE", "1"},
                       {"OPENAI_API_KEY", ""}};
  const ProgramEnd end = Program(start).finish(std::chrono::seconds(600));
  BOOST_TEST(end.status == 0, end.printed());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(real_projects)

BOOST_AUTO_TEST_CASE(a_project_in_javascript_is_tested_and_changed_as_without_a_sandbox,
                     *fetched("minimist")) {
  try_project("minimist");
}

BOOST_AUTO_TEST_CASE(a_project_in_rust_is_tested_and_changed_as_without_a_sandbox,
                     *fetched("fnv")) {
  try_project("fnv");
}

BOOST_AUTO_TEST_CASE(a_project_in_perl_is_tested_and_changed_as_without_a_sandbox,
                     *fetched("try-tiny")) {
  try_project("try-tiny");
}

BOOST_AUTO_TEST_SUITE_END()

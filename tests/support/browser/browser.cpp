#include "tests/support/browser/browser.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/npm_packages.h"
#include "tests/support/program.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// "" if there is none.
std::string chromium() {
  if (const char* given = std::getenv("SORTIE_TEST_CHROMIUM")) return given;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "chromium";
    if (::access(program.c_str(), X_OK) == 0) return program.string();
  }
  return {};
}

Json json_of(const PageJob& job) {
  Json checks = Json::array();
  for (const std::string& check : job.checks) checks.push_back(check);
  return Json::object({{"file", job.file.string()}, {"checks", checks}, {"unfold", job.unfold}});
}

}  // namespace

boost::test_tools::assertion_result browser_is_installed(boost::unit_test::test_unit_id id) {
  auto result = npm_is_installed(id);
  if (result && chromium().empty()) {
    result = boost::test_tools::assertion_result(false);
    result.message() << "no chromium in PATH (ci/setup tests installs it)";
  }
  return result;
}

std::string PageFindings::all_problems() const {
  std::string all;
  for (const std::string& problem : problems) all += problem + "\n";
  return all;
}

std::vector<PageFindings> check_pages(const std::vector<PageJob>& jobs) {
  const NpmPackages npm = npm_packages();
  std::string input;
  for (const PageJob& job : jobs) input += write_json(json_of(job)) + "\n";
  const ProgramEnd end =
      Program({.argv = {npm.node, SORTIE_SOURCE_DIR "/tests/support/browser/check_pages.mjs",
                        chromium(), (npm.folder / "node_modules/axe-core/axe.min.js").string()},
               .input = input})
          .finish(std::chrono::seconds(600));
  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  std::vector<PageFindings> all;
  for (const auto line : split_lines(end.output)) {
    const Json json = parse_json(line);
    all.push_back({.title = json.string_at("title"),
                   .heading = json.string_at("heading"),
                   .nodes = json.integer_at("nodes"),
                   .bytes = json.integer_at("bytes"),
                   .problems = json["problems"].texts()});
  }
  BOOST_TEST_REQUIRE(all.size() == jobs.size());
  return all;
}

}  // namespace sortie::test

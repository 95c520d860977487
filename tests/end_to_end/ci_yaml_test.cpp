// The YAML of ci/ and docs/ci.md by the schemas of GitHub and GitLab, and all shell scripts by
// shellcheck.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/end_to_end/ci_schemas.h"
#include "tests/support/document_blocks.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kSource = SORTIE_SOURCE_DIR;

/// With a word of the text in place of another one.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

bool has_shellcheck() {
  return run_program({"sh", "-c", "command -v shellcheck"}, "/").status == 0;
}

boost::test_tools::assertion_result shellcheck_is_installed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(has_shellcheck());
  if (!result) result.message() << "no shellcheck (ci/setup tests installs it)";
  return result;
}

/// The shell scripts of the repository.
std::vector<std::string> shell_scripts() {
  std::vector<std::string> scripts;
  for (const char* part : {"ci", ".ci", "tests", "samples", "bench"}) {
    if (!fs::exists(kSource / part)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(kSource / part)) {
      if (!entry.is_regular_file() || entry.file_size() > 1 << 20) continue;
      const std::string text = read_bytes_file(entry.path(), 1 << 20).text;
      const std::string first = text.substr(0, text.find('\n'));
      if (first.starts_with("#!") && (first.ends_with("sh") || first.find("sh ") != first.npos))
        scripts.push_back(entry.path().string());
    }
  }
  return scripts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_yaml)

BOOST_AUTO_TEST_CASE(actions_and_workflows_are_what_github_publishes_schemas_for,
                     *boost::unit_test::precondition(npm_is_installed)) {
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / "ci/github")) {
    if (entry.path().extension() != ".yml") continue;
    ++files;
    const Said said = check_for_github(entry.path().filename(), read_file(entry.path()));
    BOOST_TEST(said.status == 0, entry.path() << "\n" << said.output);
  }
  BOOST_TEST(files >= 6);
  for (const char* page : {"docs/ci.md", "docs/ci-templates.md", "docs/land.md"})
    for (const DocumentBlock& block : blocks_of(page)) {
      if (!block.file.starts_with(".github/workflows/")) continue;
      ++files;
      const Said said = check_for_github(fs::path(block.file).filename(), block.text);
      BOOST_TEST(said.status == 0, block.place << "\n" << said.output);
    }
  BOOST_TEST(files >= 10);

  const std::string action = read_file(kSource / "ci/github/action.yml");
  const std::string workflow = read_file(kSource / "ci/github/workflows/review.yml");
  BOOST_TEST(check_for_github("action.yml", replaced(action, "shell:", "shel:")).status != 0);
  BOOST_TEST(check_for_github("x.yml", replaced(workflow, "runs-on:", "run-on:")).status != 0);
  BOOST_TEST(check_for_github("x.yml", replaced(workflow, "needs: read", "needs: write")).status !=
             0);
}

BOOST_AUTO_TEST_CASE(the_template_for_gitlab_is_what_its_schema_wants,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const std::string text = read_file(kSource / "ci/gitlab/sortie.gitlab-ci.yml");
  const Said said = check_for_gitlab(text);
  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(said.output.find("sortie-merge-request") != std::string::npos, said.output);
  int blocks = 0;
  for (const DocumentBlock& block : blocks_of("docs/ci.md")) {
    if (block.file != ".gitlab-ci.yml") continue;
    ++blocks;
    const Said of_page = check_for_gitlab(block.text);
    BOOST_TEST(of_page.status == 0, block.place << "\n" << of_page.output);
  }
  BOOST_TEST(blocks >= 1);

  BOOST_TEST(check_for_gitlab(replaced(text, "expire_in:", "expire:")).status != 0);
  BOOST_TEST(check_for_gitlab(replaced(text, "action: access", "action: own")).status != 0);
}

BOOST_AUTO_TEST_CASE(no_job_has_both_the_key_and_the_right_to_write) {
  int keys = 0;
  int rights = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "ci/github/workflows")) {
    const std::string whole = read_file(entry.path());
    const std::string text = whole.substr(whole.find("\njobs:"));
    // Jobs are the keys at two blanks behind "jobs:".
    std::string job;
    const auto judge = [&] {
      const bool key = job.find("secrets.OPENAI_API_KEY }}") != std::string::npos &&
                       job.find("    uses: ./.github/workflows/") == std::string::npos;
      const bool writes = job.find(": write") != std::string::npos &&
                          job.find("    uses: ./.github/workflows/") == std::string::npos;
      BOOST_TEST(!(key && writes), entry.path() << "\n" << job);
      BOOST_TEST(job.find("actions/cache") == std::string::npos, entry.path());
      keys += key ? 1 : 0;
      rights += writes ? 1 : 0;
      job.clear();
    };
    for (const auto line : split_lines(text)) {
      if (line.starts_with("  ") && !line.starts_with("   ")) judge();
      job += std::string(line) + "\n";
    }
    judge();
  }
  BOOST_TEST(keys == 4);
  BOOST_TEST(rights == 3);
}

BOOST_AUTO_TEST_CASE(shellcheck_finds_nothing_in_any_script,
                     *boost::unit_test::precondition(shellcheck_is_installed)) {
  // The files that scripts source are read too; they name them from the project's folder.
  std::vector<std::string> argv = {"shellcheck", "--norc", "--external-sources"};
  const auto scripts = shell_scripts();
  BOOST_TEST(scripts.size() >= 15u);
  argv.insert(argv.end(), scripts.begin(), scripts.end());

  const Said said = run_program(argv, kSource);

  BOOST_TEST(said.status == 0, said.output);
  const TemporaryFolder folder;
  write_file(folder / "bad.sh", "#!/bin/bash\nrm -rf $1/*\n");
  BOOST_TEST(run_program({"shellcheck", "bad.sh"}, folder.path()).status == 1);
}

BOOST_AUTO_TEST_CASE(shellcheck_finds_nothing_in_the_recipes,
                     *boost::unit_test::precondition(shellcheck_is_installed)) {
  int scripts = 0;
  for (const DocumentBlock& block : blocks_of("docs/ci.md")) {
    if (block.marker.find("run") == std::string::npos) continue;
    for (const std::string& script : scripts_of(block)) {
      ++scripts;
      const TemporaryFolder folder;
      write_file(folder / "script", script);
      // Systems run it with -e, and set the variables; a page goes there and back for its reader.
      const Said said = run_program(
          {"shellcheck", "--norc", "--shell=bash", "--exclude=SC2154,SC2164,SC2103", "script"},
          folder.path());
      BOOST_TEST(said.status == 0, block.place << "\n" << said.output);
    }
  }
  BOOST_TEST(scripts >= 10);
}

BOOST_AUTO_TEST_SUITE_END()

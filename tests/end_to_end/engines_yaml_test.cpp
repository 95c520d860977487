// The YAML of ci/kubernetes, of a batch in GitHub's matrix and in GitLab's parallel jobs, by published
// schemas, and what it has to say besides.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/files/files.h"
#include "tests/end_to_end/ci_schemas.h"
#include "tests/support/document_blocks.h"
#include "tests/support/npm_packages.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const fs::path kSource = SORTIE_SOURCE_DIR;

/// What tests/support/npm/kubernetes_check.mjs says of a file's text.
Said check_for_kubernetes(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "file.yaml", text);
  const NpmPackages packages = npm_packages();
  return run_program({packages.node, (kSource / "tests/support/npm/kubernetes_check.mjs").string(),
                      packages.folder.string(), "file.yaml"},
                     folder.path());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

/// The exit codes in a rule of podFailurePolicy.
std::set<int> codes_of(const std::string& text, const std::string& action) {
  const std::regex rule("action: " + action +
                        "[^\\n]*\\n *onExitCodes: [^\\n]*values: \\[([0-9, ]+)\\]");
  std::smatch found;
  std::set<int> codes;
  if (!std::regex_search(text, found, rule)) return codes;
  const std::string list = found[1];
  const std::regex number("[0-9]+");
  for (auto it = std::sregex_iterator(list.begin(), list.end(), number);
       it != std::sregex_iterator(); ++it)
    codes.insert(std::stoi(it->str()));
  return codes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(engines_yaml)

BOOST_AUTO_TEST_CASE(jobs_are_what_kubernetes_publishes_schemas_for,
                     *boost::unit_test::precondition(npm_is_installed)) {
  for (const char* name : {"batch.yaml", "merge.yaml"}) {
    const Said said = check_for_kubernetes(read_file(kSource / "ci/kubernetes" / name));
    BOOST_TEST(said.status == 0, name << "\n" << said.output);
  }
  int blocks = 0;
  for (const DocumentBlock& block : blocks_of("docs/ci.md")) {
    if (block.file != "job.yaml") continue;
    ++blocks;
    const Said said = check_for_kubernetes(block.text);
    BOOST_TEST(said.status == 0, block.place << "\n" << said.output);
  }
  BOOST_TEST(blocks == 1);
}

BOOST_AUTO_TEST_CASE(the_check_of_kubernetes_yaml_finds_what_is_wrong,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const std::string batch = read_file(kSource / "ci/kubernetes/batch.yaml");
  const struct {
    const char* from;
    const char* to;
    const char* finding;
  } rows[] = {
      {"completions: 8", "completions: eight", "spec/completions must be integer"},
      {"claimName:", "claim:", "must have required property claimName"},
      {"backoffLimitPerIndex:", "backofLimitPerIndex:", ".spec.backofLimitPerIndex: unknown field"},
      {"terminationMessagePath", "terminationPath", "terminationPath: unknown field"},
      {"values: [1, 3", "values: [3, 1", "sorted, each once"},
      {"containerName: sortie", "containerName: other", "no such container"},
      {"kind: Job", "kind: Jobb", "unknown kind batch/v1/Jobb"},
      {"name: out, mountPath", "name: oit, mountPath", "no volume oit"},
      {"restartPolicy: Never", "restartPolicy: OnFailure", "needs the restart policy Never"},
  };
  for (const auto& row : rows) {
    const Said said = check_for_kubernetes(replaced(batch, row.from, row.to));
    BOOST_TEST(said.status == 1, row.to);
    BOOST_TEST(said.output.find(row.finding) != std::string::npos, row.to << "\n" << said.output);
  }
}

BOOST_AUTO_TEST_CASE(a_pod_is_retried_for_the_codes_that_a_retry_helps) {
  const std::string text = read_file(kSource / "ci/kubernetes/batch.yaml");
  std::set<int> ends = codes_of(text, "FailJob");
  ends.merge(codes_of(text, "FailIndex"));

  for (const ExitCodeRow& row : exit_code_table()) {
    // Another node may have what this one lacks.
    const bool may_help = is_retryable(row.code) || row.code == ExitCode::environment ||
                          row.code == ExitCode::success;
    BOOST_TEST(ends.contains(static_cast<int>(row.code)) == !may_help, static_cast<int>(row.code));
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_shards_is_the_same_wherever_it_stands) {
  const std::string text = read_file(kSource / "ci/kubernetes/batch.yaml");
  for (const char* place : {"completions: 8 ", "parallelism: 8 ", "maxFailedIndexes: 8 ",
                            "SORTIE_SHARDS, value: \"8\""})
    BOOST_TEST(text.find(place) != std::string::npos, place);
}

BOOST_AUTO_TEST_CASE(pods_have_no_rights) {
  for (const char* name : {"batch.yaml", "merge.yaml"}) {
    const std::string text = read_file(kSource / "ci/kubernetes" / name);
    for (const char* line :
         {"runAsNonRoot: true", "seccompProfile: {type: RuntimeDefault}",
          "automountServiceAccountToken: false", "allowPrivilegeEscalation: false",
          "readOnlyRootFilesystem: true", "capabilities: {drop: [ALL]}", "resources:"})
      BOOST_TEST(text.find(line) != std::string::npos, name << ": " << line);
  }
}

BOOST_AUTO_TEST_CASE(a_batch_in_parallel_jobs_is_what_gitlabs_schema_wants,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const std::string text = read_file(kSource / "ci/gitlab/batch.gitlab-ci.yml");
  const Said said = check_for_gitlab(text);

  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(said.output.find("sortie-batch-report") != std::string::npos, said.output);
  BOOST_TEST(check_for_gitlab(replaced(text, "parallel: 8", "parallel: many")).status != 0);
}

BOOST_AUTO_TEST_SUITE_END()

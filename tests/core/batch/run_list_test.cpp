#include "core/batch/run_list.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/batch/manifest_loader.h"
#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// The names of the runs that a manifest makes, or the error.
std::string names_of(const std::string& manifest, const std::string& instances = {}) {
  const TemporaryFolder folder;
  write_file(folder / "batch.yaml", "version: 1\n" + manifest);
  if (!instances.empty()) write_file(folder / "instances.jsonl", instances);
  try {
    ManifestFile file = load_manifest((folder / "batch.yaml").string());
    std::vector<BatchInstance> read;
    if (!file.manifest.instances.empty()) read = read_instances(file.manifest.instances);
    std::vector<std::string> names;
    for (const BatchRun& run : make_run_list(file, read)) names.push_back(run.name);
    return joined(names, " ");
  } catch (const InputError& error) {
    return error.what();
  }
}

BatchRun only_run(const std::string& manifest) {
  const TemporaryFolder folder;
  write_file(folder / "batch.yaml", "version: 1\n" + manifest);
  ManifestFile file = load_manifest((folder / "batch.yaml").string());
  const std::vector<BatchRun> runs = make_run_list(file, {});
  BOOST_REQUIRE(runs.size() == 1u);
  return runs.front();
}

const std::string kGrid =
    "tasks: [fix.yaml, add.yaml]\nworkspaces: [auth, pay]\nvars: [{lang: en}, {lang: de}]\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_run_list)

BOOST_AUTO_TEST_CASE(include_and_exclude_choose_combinations) {
  const struct {
    const char* filters;
    const char* said;  ///< the names, or a part of the error
    bool error = false;
  } rows[] = {
      {"",
       "fix.auth.en fix.auth.de fix.pay.en fix.pay.de add.auth.en add.auth.de add.pay.en "
       "add.pay.de"},
      {"include: [{task: fix}]\n", "fix.auth.en fix.auth.de fix.pay.en fix.pay.de"},
      {"include: [{task: fix, lang: de}, {task: add, workspace: 'p*'}]\n",
       "fix.auth.de fix.pay.de add.pay.en add.pay.de"},
      {"exclude: [{workspace: auth}, {lang: de}]\n", "fix.pay.en add.pay.en"},
      {"include: [{name: '*.en'}]\nexclude: [{task: add, workspace: pay}]\n",
       "fix.auth.en fix.pay.en add.auth.en"},
      {"include: [{task: mend}]\n", "leave no run", true},
      {"exclude: [{lnag: en}]\n", "no run has a 'lnag'", true},
      {"exclude: [{}]\n", "a combination without a key means all runs", true},
      {"exclude: {task: add}\n", "expected a list of combinations", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.filters) {
      const std::string said = names_of(kGrid + row.filters);
      if (row.error)
        BOOST_TEST(said.find(row.said) != std::string::npos, said);
      else
        BOOST_TEST(said == row.said);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_instance_is_chosen_by_its_id_and_its_texts) {
  const std::string instances =
      "{\"instance_id\":\"a-1\",\"repo\":\"x/one\"}\n{\"instance_id\":\"b-2\",\"repo\":\"y/two\"}\n";
  const std::string manifest = "tasks: [solve.yaml]\ninstances: instances.jsonl\n";
  BOOST_TEST(names_of(manifest, instances) == "a-1 b-2");
  BOOST_TEST(names_of(manifest + "include: [{instance: 'a-*'}]\n", instances) == "a-1");
  BOOST_TEST(names_of(manifest + "exclude: [{repo: 'x/*'}]\n", instances) == "b-2");
}

BOOST_AUTO_TEST_CASE(commit_and_depth_belong_to_a_repository) {
  const BatchRun run =
      only_run("tasks: [t.yaml]\nworkspaces: [{git: repo, commit: v1, depth: 3}]\n");
  BOOST_TEST(run.git.filename() == "repo");
  BOOST_TEST(run.commit == "v1");
  BOOST_TEST(run.depth.value_or(0) == 3);
  const BatchRun head = only_run("tasks: [t.yaml]\nworkspaces: [{git: repo}]\n");
  BOOST_TEST(head.commit == "HEAD");
  BOOST_TEST(!head.depth);

  const struct {
    const char* workspace;
    const char* error;
  } rows[] = {
      {"{path: a, depth: 3}", "'depth' belongs to a workspace with 'git'"},
      {"{path: a, commit: v1}", "'commit' belongs to a workspace with 'git'"},
      {"{git: a, path: b}", "a workspace has either 'path' or 'git'"},
      {"{git: a, depth: 0}", "depth"},
      {"{git: 'https://example.com/a'}", "git clone --mirror"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.workspace) {
      const std::string said =
          names_of("tasks: [t.yaml]\nworkspaces: [" + std::string(row.workspace) + "]\n");
      BOOST_TEST(said.find(row.error) != std::string::npos, said);
    }
  }
}

BOOST_AUTO_TEST_CASE(rate_limits_are_read_as_in_a_file_of_their_own) {
  const struct {
    const char* limits;
    const char* said;
  } rows[] = {
      {"{openai: {requests: 60, tokens: 100000}}", "t"},
      {"{'https://gpu.example:8443': {requests: 600, window: 10s}}", "t"},
      {"limits.yaml", "t"},
      {"{opnai: {requests: 60}}", "did you mean 'openai'?"},
      {"{openai: {}}", "needs 'requests', 'tokens' or both"},
      {"{openai: {request: 60}}", "did you mean 'requests'?"},
      {"{openai: {requests: 1, window: 10s}}", "has room for less than one"},
      {"[openai]", "expected"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.limits) {
      const std::string said =
          names_of("tasks: [t.yaml]\nrate_limits: " + std::string(row.limits) + "\n");
      BOOST_TEST(said.find(row.said) != std::string::npos, said);
      if (std::string(row.said) == "t") BOOST_TEST(said == "t");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

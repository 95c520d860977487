// ci/slurm on a real Slurm of this machine: slurmctld, two nodes, munge (tests/end_to_end/slurm).
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/end_to_end/command_run.h"
#include "tests/end_to_end/made_batch.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result has_slurm(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(
      ::geteuid() == 0 && run_program({.argv = {"sh", "-c",
                                                "command -v slurmctld && command -v slurmd && "
                                                "command -v sbatch && command -v munged"}})
                                  .status == 0);
  if (!result) result.message() << "not root, or no Slurm (ci/setup tests installs it)";
  return result;
}

constexpr int kShards = 4;

/// Of which one in ten is killed by itself, besides those of a node.
int wanted_runs() {
  const char* const wanted = std::getenv("SORTIE_TEST_BATCH");
  return wanted != nullptr ? std::max(std::atoi(wanted), 12) : 12;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(slurm)

BOOST_AUTO_TEST_CASE(a_batch_whose_node_was_killed_is_whole_and_was_paid_once,
                     *boost::unit_test::precondition(has_slurm)) {
  const TemporaryFolder folder;
  const int runs = wanted_runs();
  // Slurm's daemons end with it, whatever happens.
  Program started(
      {.argv = {"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "python3",
                "-B", SORTIE_SOURCE_DIR "/tests/end_to_end/slurm/kill_a_node.py",
                folder.path().string(), std::to_string(runs), std::to_string(kShards),
                std::to_string(runs / 10 + 1)},
       .environment = {{"PATH", fs::path(sortie_binary()).parent_path().string() + ":" +
                                    std::getenv("PATH")}}});

  const ProgramEnd end = started.finish(std::chrono::minutes(10));

  BOOST_TEST_REQUIRE(end.status == 0, end.printed());
  const Json said = parse_json(end.output);
  BOOST_TEST(holds(said.string_at("merge"), "JobState=COMPLETED"), said.string_at("merge"));
  BOOST_TEST(!said["key_at_slurm"].boolean(true));
  // Two shards were on the node, and one was told that its time is over.
  std::string logs;
  for (const auto& [name, text] : said["logs"].members()) logs += name + ":\n" + text.text();
  int restarts = 0;
  for (std::size_t at = 0; (at = logs.find(", start 1\n", at)) != std::string::npos; ++at)
    ++restarts;
  BOOST_TEST(restarts == 3, logs);
  BOOST_TEST(holds(logs, "code 143: back into the queue"), logs);
  // The merged result has all runs.
  int rows = 0;
  const std::string results = read_file(folder / "out/results.jsonl");
  for (const auto line : split_lines(results)) {
    const Json row = parse_json(line);
    BOOST_TEST(row.string_at("status") == "success", line);
    ++rows;
  }
  BOOST_TEST(rows == runs, logs);
  BOOST_TEST(fs::exists(folder / "out/report.html"));
  BOOST_TEST(said["killed"].items().size() > 0u);
  // Each run has four responses, and one that was recorded was not sent again. A run that is killed at
  // any moment may have been sent an answer that it could not record any more.
  const auto sent = sent_responses(read_file(folder / "log.jsonl"));
  BOOST_TEST(sent.size() == 4u * static_cast<std::size_t>(runs));
  int twice = 0;
  for (const auto& [response, times] : sent) {
    twice += times - 1;
    const Json& lost = said["unrecorded"][response.substr(0, response.find(' '))];
    BOOST_TEST(times <= 1 + static_cast<int>(lost.items().size()), response);
  }
  BOOST_TEST_MESSAGE(runs << " runs, " << said["killed"].items().size() << " killed by themselves, "
                          << said["unrecorded"].members().size() << " requests cut off, " << twice
                          << " of them answered to a process that was killed before it could "
                             "record that");
}

BOOST_AUTO_TEST_CASE(what_is_handed_in_wrong_is_said_before_slurm_is_asked) {
  const TemporaryFolder folder;
  write_file(folder / "batch.yaml", "");
  const std::string submit = SORTIE_SOURCE_DIR "/ci/slurm/submit.sh";
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"batch.yaml", "out"},
                                                {"batch.yaml", "out", "0"},
                                                {"batch.yaml", "out", "many"}}) {
    ProgramStart start{.argv = {submit}, .folder = folder.path()};
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 2);
    BOOST_TEST(holds(end.errors, "SHARDS is a number from 1 on"), end.errors);
  }
  const ProgramEnd none =
      run_program({.argv = {submit, "none.yaml", "out", "2"}, .folder = folder.path()});
  BOOST_TEST(none.status != 0);
  BOOST_TEST(holds(none.errors, "none.yaml"), none.errors);
  BOOST_TEST(!fs::exists(folder / "out.log"));
}

BOOST_AUTO_TEST_SUITE_END()

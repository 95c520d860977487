#include "core/batch/shard.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/batch/pace.h"
#include "core/batch/run_name.h"

using namespace sortie;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(batch_parts)

BOOST_AUTO_TEST_CASE(a_shard_is_read_from_its_flag_or_from_the_engines_variables) {
  using Variables = std::map<std::string, std::string>;
  const struct {
    const char* flag;
    Variables variables;
    const char* shard;  ///< or a part of the error
  } rows[] = {
      {"2/4", {}, "2/4"},
      {"0/4", {}, "counted from 1"},
      {"5/4", {}, "there are 4 shards"},
      {"1", {}, "expected i/n"},
      {"auto/0", {}, "expected i/n"},
      {"auto", {}, "none of these variables is set"},
      {"auto", {{"CI_NODE_INDEX", "3"}, {"CI_NODE_TOTAL", "5"}}, "3/5"},
      {"auto", {{"CI_NODE_INDEX", "3"}}, "CI_NODE_TOTAL is missing"},
      {"auto", {{"CI_NODE_INDEX", "6"}, {"CI_NODE_TOTAL", "5"}}, "CI_NODE_INDEX is 6"},
      {"auto", {{"CI_NODE_INDEX", "x"}, {"CI_NODE_TOTAL", "5"}}, "CI_NODE_INDEX is 'x'"},
      {"auto/3", {{"JOB_COMPLETION_INDEX", "0"}}, "1/3"},
      {"auto", {{"JOB_COMPLETION_INDEX", "2"}, {"SORTIE_SHARDS", "3"}}, "3/3"},
      {"auto", {{"JOB_COMPLETION_INDEX", "2"}}, "SORTIE_SHARDS"},
      {"auto/2", {{"JOB_COMPLETION_INDEX", "2"}}, "out of range for 2"},
      {"auto", {{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "5"}}, "CI_NODE_INDEX is 0"},
      {"auto", {{"CI_NODE_INDEX", "5"}, {"CI_NODE_TOTAL", "5"}}, "5/5"},
      {"auto", {{"JOB_COMPLETION_INDEX", "0"}, {"SORTIE_SHARDS", "0"}}, "out of range for 0"},
      {"auto", {{"JOB_COMPLETION_INDEX", "0"}, {"SORTIE_SHARDS", "x"}}, "SORTIE_SHARDS is 'x'"},
      {"auto/4", {{"JOB_COMPLETION_INDEX", "2"}, {"SORTIE_SHARDS", "3"}}, "3/4"},
      {"auto", {{"BUILDKITE_PARALLEL_JOB", "0"}, {"BUILDKITE_PARALLEL_JOB_COUNT", "2"}}, "1/2"},
      {"auto", {{"BUILDKITE_PARALLEL_JOB", "1"}, {"BUILDKITE_PARALLEL_JOB_COUNT", "2"}}, "2/2"},
      {"auto",
       {{"BUILDKITE_PARALLEL_JOB", "2"}, {"BUILDKITE_PARALLEL_JOB_COUNT", "2"}},
       "BUILDKITE_PARALLEL_JOB is 2"},
      {"auto", {{"CIRCLE_NODE_INDEX", "0"}, {"CIRCLE_NODE_TOTAL", "3"}}, "1/3"},
      {"auto", {{"CIRCLE_NODE_INDEX", "2"}, {"CIRCLE_NODE_TOTAL", "3"}}, "3/3"},
      {"auto", {{"CIRCLE_NODE_INDEX", "2"}}, "CIRCLE_NODE_TOTAL is missing"},
      {"auto", {{"SYSTEM_JOBPOSITIONINPHASE", "1"}, {"SYSTEM_TOTALJOBSINPHASE", "3"}}, "1/3"},
      {"auto", {{"SYSTEM_JOBPOSITIONINPHASE", "3"}, {"SYSTEM_TOTALJOBSINPHASE", "3"}}, "3/3"},
      {"auto",
       {{"SYSTEM_JOBPOSITIONINPHASE", "0"}, {"SYSTEM_TOTALJOBSINPHASE", "3"}},
       "SYSTEM_JOBPOSITIONINPHASE is 0"},
      {"auto", {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "4"}}, "1/4"},
      {"auto", {{"AWS_BATCH_JOB_ARRAY_INDEX", "3"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "4"}}, "4/4"},
      {"auto", {{"AWS_BATCH_JOB_ARRAY_INDEX", "3"}, {"SORTIE_SHARDS", "4"}}, "4/4"},
      {"auto",
       {{"SLURM_ARRAY_TASK_ID", "0"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_COUNT", "8"}},
       "1/8"},
      {"auto",
       {{"SLURM_ARRAY_TASK_ID", "8"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "8"},
        {"SLURM_ARRAY_TASK_COUNT", "8"}},
       "8/8"},
      {"auto",
       {{"SLURM_ARRAY_TASK_ID", "4"},
        {"SLURM_ARRAY_TASK_MIN", "0"},
        {"SLURM_ARRAY_TASK_MAX", "6"},
        {"SLURM_ARRAY_TASK_STEP", "2"},
        {"SLURM_ARRAY_TASK_COUNT", "4"}},
       "3/4"},
      {"auto",
       {{"SLURM_ARRAY_TASK_ID", "7"},
        {"SLURM_ARRAY_TASK_MIN", "1"},
        {"SLURM_ARRAY_TASK_MAX", "7"},
        {"SLURM_ARRAY_TASK_COUNT", "3"}},
       "the array is no range"},
      {"auto",
       {{"SLURM_ARRAY_TASK_ID", "5"},
        {"SLURM_ARRAY_TASK_MIN", "5"},
        {"SLURM_ARRAY_TASK_MAX", "5"},
        {"SLURM_ARRAY_TASK_COUNT", "1"}},
       "write --shard auto/N"},
      {"auto/8", {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_MIN", "5"}}, "5/8"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.flag << " expects " << row.shard) {
      std::string said;
      try {
        said = read_shard(row.flag, [&](const char* name) {
                 const auto found = row.variables.find(name);
                 return found == row.variables.end() ? std::string() : found->second;
               }).text();
      } catch (const InputError& error) {
        said = error.what();
      }
      BOOST_TEST(said.find(row.shard) != std::string::npos, said);
    }
  }
}

BOOST_AUTO_TEST_CASE(shards_have_each_run_once) {
  for (std::size_t run = 0; run < 20; ++run) {
    int times = 0;
    for (int index = 1; index <= 3; ++index)
      times += Shard{.index = index, .count = 3, .given = true}.has(run) ? 1 : 0;
    BOOST_TEST(times == 1);
  }
}

BOOST_AUTO_TEST_CASE(a_name_is_one_of_a_folder) {
  BOOST_TEST(run_name_of("django__django-11099") == "django__django-11099");
  BOOST_TEST(run_name_of("../Fix It!") == "fix-it");
  BOOST_TEST(run_name_of(".") == "run-" + short_digest("."));
  BOOST_TEST(run_name_of("a.prev") == "a.prev_");
  BOOST_TEST(run_name_of(std::string(500, 'a')).size() == 120u);
  BOOST_TEST(run_name_of(std::string(500, 'a')) != run_name_of(std::string(501, 'a')));
}

BOOST_AUTO_TEST_CASE(failures_in_a_row_double_the_pause_and_halve_the_width) {
  Pace pace({.wait = 10s, .max_wait = 30s}, 8);
  const Pace::Time now{};
  pace.limited(now, now, std::nullopt, 1.0);
  BOOST_TEST((pace.next_start() == now + 10s));
  BOOST_TEST(pace.width() == 4);
  // Was at work as the first one failed: it tells nothing new, but what its provider asks for.
  pace.limited(now + 1s, now - 5s, 40s, 1.0);
  BOOST_TEST((pace.next_start() == now + 41s));
  BOOST_TEST(pace.width() == 4);
  pace.limited(now + 50s, now + 41s, std::nullopt, 1.0);
  BOOST_TEST((pace.next_start() == now + 70s));
  pace.limited(now + 80s, now + 70s, std::nullopt, 1.0);
  BOOST_TEST((pace.next_start() == now + 110s));
  BOOST_TEST(pace.width() == 1);
  pace.served();
  BOOST_TEST(pace.width() == 2);
  pace.limited(now + 200s, now + 190s, std::nullopt, 0.0);
  BOOST_TEST((pace.next_start() == now + 205s));
}

BOOST_AUTO_TEST_SUITE_END()

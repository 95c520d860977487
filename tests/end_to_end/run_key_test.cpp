#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/images.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A run that reads something from every source, and what it is started with.
struct KeyedRun : RunFolder {
  std::string model = "provider: replay, cassette: cassette.jsonl";
  std::string more = "budget: {turns: 5}\n";
  std::vector<std::string> flags = {"--var", "who=us"};
  std::string input = "from stdin";
  std::string environment = "from the environment";

  KeyedRun() {
    CassetteWriter().message("{}").save(path("cassette.jsonl"));
    write("work/a.txt", "a\n");
    write("work/notes.txt", "notes\n");
    commit_workspace();
    write("prompt.md",
          "On {{date}} in {{run_id}}: {{who}} {{ci}} {{stdin}} {{file:notes.txt}} {{git.branch}}");
    write("schema.json", R"({"type":"object"})");
    write("shot.png", images::kPng);
    write("policy.yaml",
          "version: 1\nextends: auto\npaths: {read: ['.']}\nbounds: {vars_env: [RUN_TEST_REF]}\n");
  }
  /// The run's key; each run has an output folder of its own.
  std::string key() {
    write("task.yaml",
          "version: 1\nprompt_file: prompt.md\nworkspace: {path: work}\npolicy: policy.yaml\n"
          "expect: {changes: any}\nimages: [shot.png]\noutput: {schema: schema.json}\n"
          "vars: {who: {default: me}, ci: {env: RUN_TEST_REF}}\nmodel: {" +
              model + "}\n" + more);
    ProgramStart start = RunFolder::start(flags);
    start.input = input;
    start.environment["RUN_TEST_REF"] = environment;
    const ProgramEnd end = run_program(start);
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    return result().string_at("run_key");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(run_key)

BOOST_AUTO_TEST_CASE(the_key_is_that_of_all_that_a_run_is_made_of) {
  const struct {
    const char* what;
    std::function<void(KeyedRun&)> change;
    bool other;  ///< another key
  } rows[] = {
      {"nothing", [](KeyedRun&) {}, false},
      {"the budget", [](KeyedRun& run) { run.more = "budget: {turns: 6, time: 5m}\n"; }, false},
      {"a budget by flag",
       [](KeyedRun& run) {
         run.flags.insert(run.flags.end(), {"--max-turns", "7"});
       },
       false},
      {"the prompt file",
       [](KeyedRun& run) { run.write("prompt.md", "{{who}} {{ci}} {{stdin}} and more"); }, true},
      {"an image's content", [](KeyedRun& run) { run.write("shot.png", images::kGif); }, true},
      {"the schema",
       [](KeyedRun& run) { run.write("schema.json", R"({"type":"object","title":"t"})"); }, true},
      {"the policy",
       [](KeyedRun& run) {
         run.write("policy.yaml",
                   "version: 1\nextends: auto\npaths: {read: ['.']}\nmax_denials: 7\n"
                   "bounds: {vars_env: [RUN_TEST_REF]}\n");
       },
       true},
      {"a variable by flag", [](KeyedRun& run) { run.flags.back() = "who=them"; }, true},
      {"a variable of the environment", [](KeyedRun& run) { run.environment = "another"; }, true},
      {"stdin", [](KeyedRun& run) { run.input = "another"; }, true},
      {"the model", [](KeyedRun& run) { run.model += ", name: another"; }, true},
      {"the effort", [](KeyedRun& run) { run.model += ", effort: high"; }, true},
      {"a fallback", [](KeyedRun& run) { run.model += ", fallback: [{name: another}]"; }, true},
      {"a commit",
       [](KeyedRun& run) {
         run.write("work/a.txt", "b\n");
         run.commit_workspace();
       },
       true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      KeyedRun run;
      const std::string before = run.key();

      row.change(run);

      BOOST_TEST(before.starts_with("sha256:"));
      BOOST_TEST((run.key() != before) == row.other);
    }
  }
}

// A pipeline names the task and the policy that somebody has read.
BOOST_AUTO_TEST_CASE(a_run_refuses_a_task_or_a_policy_of_another_digest) {
  KeyedRun run;
  run.key();
  const auto checked = [&](std::vector<std::string> words) {
    ProgramStart start = run.RunFolder::start(run.flags);
    start.argv = {sortie_binary()};
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    start.input = run.input;
    const ProgramEnd end = run_program(start);
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    return end.output;
  };
  std::string task = checked(
      {"task", "check", run.path("task.yaml").string(), "--var", "who=us", "--digest"});
  BOOST_REQUIRE(task.ends_with('\n'));
  task.pop_back();
  std::string policy = checked({"policy", "check", run.path("policy.yaml").string()});
  policy = policy.substr(policy.find("sha256:"), 71);
  const std::string in_effect = run.result()["digests"].string_at("task");
  const std::string other = "sha256:" + std::string(64, '0');
  const std::string names_both = "has the digest " + task + ", expected " + other;
  const struct {
    std::vector<std::string> flags;
    int status;
    std::string says;
  } rows[] = {
      {{"--expect-task", task, "--expect-policy", policy}, 0, ""},
      {{"--expect-task", in_effect}, 0, ""},
      {{"--expect-task", task, "--max-turns", "3", "--model", "another"}, 0, ""},
      {{"--expect-task", other}, 2, "--expect-task: the task " + names_both},
      {{"--expect-policy", other}, 2, "--expect-policy: the policy has the digest " + policy},
      {{"--expect-task", "sha256:12"}, 2, "expected sha256: and 64 hexadecimal digits"},
      {{"--expect-policy", ""}, 2, "expect-policy"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.says) {
      ProgramStart start = run.RunFolder::start(run.flags);
      start.argv.insert(start.argv.end(), row.flags.begin(), row.flags.end());
      start.argv.push_back("--fresh");
      start.input = run.input;
      start.environment["RUN_TEST_REF"] = run.environment;
      const ProgramEnd end = run_program(start);
      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(end.errors.find(row.says) != std::string::npos, end.errors);
    }
  }
  run.write("prompt.md", "Another prompt. {{who}} {{ci}} {{stdin}}");
  ProgramStart start = run.RunFolder::start(run.flags);
  start.argv.insert(start.argv.end(), {"--expect-task", task});
  start.input = run.input;
  const ProgramEnd changed = run_program(start);
  BOOST_TEST(changed.status == 2, changed.errors);
}

BOOST_AUTO_TEST_SUITE_END()

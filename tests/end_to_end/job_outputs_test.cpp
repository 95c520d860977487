// What a job gets of a run beside its log: the outputs and the summary of a step, a status file, an
// exit code of its own.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// A step of GitHub Actions: its two files, and the variables that name them.
ProgramStart as_step(const RunFolder& folder, ProgramStart start) {
  folder.write("step-outputs", "before=1\n");
  folder.write("step-summary", "");
  start.environment["GITHUB_ACTIONS"] = "true";
  start.environment["GITHUB_OUTPUT"] = folder.path("step-outputs").string();
  start.environment["GITHUB_STEP_SUMMARY"] = folder.path("step-summary").string();
  return start;
}

/// The outputs as the runner reads them: NAME=VALUE, or NAME<<DELIMITER, lines, DELIMITER.
std::map<std::string, std::string> outputs_of(const RunFolder& folder) {
  std::map<std::string, std::string> outputs;
  const std::string text = read_file(folder.path("step-outputs"));
  std::string name;
  std::string delimiter;
  for (const auto line : split_lines(text)) {
    if (!delimiter.empty() && line == delimiter) {
      delimiter.clear();
      if (!outputs[name].empty()) outputs[name].pop_back();
    } else if (!delimiter.empty()) {
      outputs[name] += std::string(line) + "\n";
    } else if (const std::size_t at = line.find("<<"); at != std::string_view::npos) {
      name = line.substr(0, at);
      delimiter = line.substr(at + 2);
      BOOST_TEST(delimiter.size() > 32u);
    } else {
      outputs[std::string(line.substr(0, line.find('=')))] = line.substr(line.find('=') + 1);
    }
  }
  BOOST_TEST(delimiter.empty());
  return outputs;
}

Json status_of(const RunFolder& folder) {
  const std::string text = read_file(folder.path("status"));
  BOOST_TEST(text.size() <= 4096u);
  BOOST_TEST(text.find('\n') == text.size() - 1);
  return parse_json(text);
}

const std::string kForged =
    "done\nsortie_0\nstatus=failed\nstatus<<sortie_0\nevil\nsortie_0\n::set-output name=status::x";

}  // namespace

BOOST_AUTO_TEST_SUITE(job_outputs)

BOOST_AUTO_TEST_CASE(a_step_gets_the_summary_of_its_run) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter().shell({"rm", "-rf", "/etc"}).next().message("done"),
                    "policy: strict\nexpect: {changes: any}\n");
  const auto step = [&](const std::string& held) {
    ProgramStart start = as_step(folder, folder.start({"--reuse", "none"}));
    folder.write("step-summary", held);
    BOOST_TEST(run_program(start).status == 0);
    return read_file(folder.path("step-summary"));
  };

  const std::string summary = step("# before\n");
  const std::string own = folder.artifact("summary.md");
  const std::string nearly_full = step(std::string((1u << 20) - own.size() + 200, 'x') + "\n");
  const std::string full = step(std::string((1u << 20) - 20, 'x'));

  BOOST_TEST(summary == "# before\n" + own);
  BOOST_TEST(nearly_full.size() <= std::size_t{1} << 20);
  BOOST_TEST(nearly_full.find("\n# sortie: success (0)\n") != std::string::npos);
  BOOST_TEST(nearly_full.ends_with("**The rest is left out here: summary.md has all of it.**\n"));
  BOOST_TEST(full.size() == (1u << 20) - 20);
}

BOOST_AUTO_TEST_CASE(a_step_gets_the_outputs_of_a_success_and_no_message_forges_one) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter().shell({"touch", "b.txt"}).next().message(kForged),
                    "policy: auto\nexpect: {changes: any}\n");

  const ProgramEnd end = run_program(as_step(folder, folder.plain_start()));

  BOOST_TEST(end.status == 0, end.errors);
  const auto outputs = outputs_of(folder);
  BOOST_TEST(outputs.size() == 8u);
  BOOST_TEST(outputs.at("before") == "1");
  BOOST_TEST(outputs.at("status") == "success");
  BOOST_TEST(outputs.at("exit-code") == "0");
  BOOST_TEST(outputs.at("diff-path") == (folder.out() / "changes.diff").string());
  BOOST_TEST(outputs.at("transcript-path") == (folder.out() / "transcript.jsonl").string());
  BOOST_TEST(outputs.at("final-message") == kForged);
  BOOST_TEST(outputs.contains("cost-usd"));
  const Json total = folder.result()["usage"]["total"];
  BOOST_TEST(outputs.at("tokens") ==
             std::to_string(total.integer_at("input_tokens") + total.integer_at("output_tokens")));
}

BOOST_AUTO_TEST_CASE(a_failed_run_and_one_that_did_not_start_name_no_diff) {
  const RunFolder folder;
  folder.commit_workspace();
  folder.write_task(CassetteWriter().message("Nothing."),
                    "policy: strict\nverify: {commands: ['false'], rounds: 0}\n");

  const ProgramEnd failed =
      run_program(as_step(folder, folder.plain_start({"--status-file", "status"})));
  const auto outputs = outputs_of(folder);
  const Json status = status_of(folder);
  const ProgramEnd refused = run_program(
      as_step(folder, folder.plain_start({"--policy", "no-such", "--status-file", "status"})));
  const auto unstarted = outputs_of(folder);
  const Json refusal = status_of(folder);

  BOOST_TEST(failed.status == 1, failed.errors);
  BOOST_TEST(outputs.at("status") == "task-failed");
  BOOST_TEST(outputs.at("diff-path") == "");
  BOOST_TEST(fs::exists(outputs.at("transcript-path")));
  BOOST_TEST(status.string_at("status") == "task-failed");
  BOOST_TEST(status.integer_at("exit_code") == 1);
  BOOST_TEST((status["reason"] == folder.result()["reason"]));
  BOOST_TEST((status["run_id"] == folder.result()["run_id"]));
  BOOST_TEST(refused.status == 2);
  BOOST_TEST(unstarted.at("status") == "usage");
  BOOST_TEST(unstarted.at("exit-code") == "2");
  BOOST_TEST(unstarted.at("transcript-path") == "");
  BOOST_TEST(refusal.string_at("status") == "usage");
  BOOST_TEST(refusal.string_at("reason").find("no-such") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(outputs_are_written_in_a_step_alone_and_a_lost_file_is_a_warning) {
  const RunFolder folder;
  folder.commit_workspace();
  folder.write_task(CassetteWriter().message("Done."), "policy: strict\nexpect: {changes: any}\n");
  ProgramStart elsewhere = as_step(folder, folder.plain_start());
  elsewhere.environment["GITHUB_ACTIONS"] = "";
  ProgramStart lost = as_step(folder, folder.plain_start());
  lost.environment["GITHUB_OUTPUT"] = folder.path("no-such").string();

  const ProgramEnd outside = run_program(elsewhere);
  const ProgramEnd warned = run_program(lost);

  BOOST_TEST(outside.status == 0, outside.errors);
  BOOST_TEST(read_file(folder.path("step-outputs")) == "before=1\n");
  BOOST_TEST(warned.status == 0, warned.errors);
  BOOST_TEST(warned.errors.starts_with("sortie: warning: GITHUB_OUTPUT: "), warned.errors);
}

BOOST_AUTO_TEST_CASE(a_status_is_one_line_of_at_most_4_KiB_whatever_the_run_says) {
  const RunFolder folder;
  folder.commit_workspace();
  std::string long_word;
  for (int i = 0; i < 3000; ++i) long_word += "\"\\\xc3\xa4";
  folder.write("status", "");  // as a container engine makes it
  folder.write("policy.yaml",
               "version: 1\nextends: strict\ncommands:\n  - deny: [foo]\n    why: x\n");
  folder.write_task(
      CassetteWriter().shell({"foo", long_word}).next().message(long_word),
      "policy: strict\nexpect: {changes: required}\nverify: {rounds: 0, commands: ['true']}\n");

  const ProgramEnd end = run_program(folder.plain_start({"--status-file", "status"}));

  BOOST_TEST(end.status == 1);
  BOOST_TEST(status_of(folder).string_at("status") == "task-failed");
}

BOOST_AUTO_TEST_CASE(a_status_file_replaces_no_other_file) {
  const RunFolder folder;
  folder.commit_workspace();
  folder.write_task(CassetteWriter().message("Done."), "policy: strict\nexpect: {changes: any}\n");
  folder.write("notes.txt", "mine\n");
  folder.write("named-twice", "");
  fs::create_hard_link(folder.path("named-twice"), folder.path("second"));
  fs::create_symlink(folder.path("notes.txt"), folder.path("link"));
  const std::map<std::string, std::string> rows = {
      {"notes.txt", "holds something else than a status"},
      {"task.yaml", "holds something else than a status"},
      {"link", "is a link"},
      {"second", "has a second name"},
      {".", "Is a directory"},
      {"/dev/null", "is not a regular file"},
      {"no-such/status", "No such file"},
      {"out/status", "lies in --out"}};
  const std::string task = read_file(folder.task());
  for (const auto& [file, problem] : rows) {
    BOOST_TEST_CONTEXT(file) {
      const ProgramEnd end = run_program(folder.plain_start({"--status-file", file}));

      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(end.errors.find(problem) != std::string::npos, end.errors);
    }
  }
  BOOST_TEST(read_file(folder.path("notes.txt")) == "mine\n");
  BOOST_TEST(read_file(folder.task()) == task);
  BOOST_TEST(!fs::exists(folder.out()));
}

BOOST_AUTO_TEST_CASE(a_killed_run_has_left_the_status_running_and_a_stopped_one_its_end) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    const RunFolder folder;
    folder.write_task(CassetteWriter().shell({"sleep", "600"}).next().message("done"),
                      "policy: auto\nexpect: {changes: any}\n");
    folder.commit_workspace();
    Program program(folder.plain_start({"--status-file", "status", "--exit-map", "retryable=75"}));
    BOOST_TEST(wait_until([&] { return fs::exists(folder.out() / "transcript.jsonl"); }));
    program.signal(signal);

    const ProgramEnd end = program.finish();

    BOOST_TEST(status_of(folder).string_at("status") ==
               (signal == SIGKILL ? "running" : "interrupted"));
    BOOST_TEST(end.status == (signal == SIGKILL ? 128 + SIGKILL : 75), end.errors);
    if (signal == SIGTERM) BOOST_TEST(status_of(folder).integer_at("exit_code") == 143);
  }
}

BOOST_AUTO_TEST_CASE(an_exit_map_changes_retryable_codes_alone) {
  const RunFolder folder;
  folder.commit_workspace();
  folder.write_task(CassetteWriter().message("Nothing."),
                    "policy: strict\nverify: {commands: ['false'], rounds: 0}\n");

  const ProgramEnd failed = run_program(folder.plain_start({"--exit-map", "retryable=75"}));

  BOOST_TEST(failed.status == 1, failed.errors);
  for (const char* word : {"retryable", "retryable=", "retryable=0", "retryable=256",
                           "retryable=7x", "busy=3", "75", ""}) {
    BOOST_TEST_CONTEXT(word) {
      BOOST_TEST(run_program(folder.plain_start({"--exit-map", word})).status == 2);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

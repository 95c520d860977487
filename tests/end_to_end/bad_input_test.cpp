#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramEnd sortie_run(const std::vector<std::string>& arguments,
                      const std::filesystem::path& folder = {}) {
  ProgramStart start;
  start.argv = {sortie_binary()};
  start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
  start.folder = folder;
  start.environment = {{"OPENAI_API_KEY", ""}};
  return run_program(start);
}

/// A task that would succeed.
void write_good_task(const RunFolder& folder) {
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_input)

BOOST_AUTO_TEST_CASE(a_wrong_command_line_is_usage_and_names_the_nearest) {
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } rows[] = {
      {{"rum", "task.yaml"}, "did you mean 'run'"},
      {{"run", "task.yaml", "--polcy", "strict"}, "did you mean '--policy'"},
      {{"run", "task.yaml", "--max-turns", "many"}, "--max-turns"},
      {{"run", "task.yaml", "--best-of", "17"}, "a whole number from 1 to 16, got '17'"},
      {{"run", "fix", "the", "tests"},
       "too many: 'the'; a prompt of several words stands in quotes: 'sortie run -p \"PROMPT\"'"},
      {{"run", "-p", "fix", "the", "tests"}, "too many: 'tests'; a prompt of several words stands"},
      {{"fix", "the", "tests"},
       "unknown command 'fix'; a prompt of several words stands in quotes"},
      {{"run", "task.yaml", "more"}, "too many: 'more'; next: "},
      {{"report", "a", "b"}, "too many: 'b'; next: "},
      {{"mend the test"}, "write instead: 'sortie run -p PROMPT', or a task file"},
      {{"run", "mend the test"}, "a task is a YAML file, and the prompt is its 'prompt:'"},
      {{"run", "task.yaml", "--out", "a", "--out", "b"}, "--out is given more than once; next:"},
      {{"run"}, "TASK"},
      {{"run", "no-such-task.yaml"}, "no-such-task.yaml"},
      {{"schema", "tsk"}, "did you mean 'task'"},
      {{"task", "check", "task.yaml", "--auth-file", "x"}, "see 'sortie task check --help'"},
      {{"policy", "check", "stric"}, "strict"},
      {{"sandbox", "--plicy", "x", "--", "true"}, "did you mean '--policy'"},
      {{"run", "task.yaml", "--yolo"}, "write instead: --policy auto"},
      {{"-p", "hello", "--output-format", "json"}, "write instead: 'sortie run -p PROMPT'"},
      {{"run", "--print", "hello"}, "write instead: 'sortie run -p PROMPT'"},
      {{"--max-turns", "3", "hello"}, "write instead: 'sortie run --max-turns N'"},
      {{"run", "-p", "hello", "task.yaml"}, "TASK 'task.yaml' and --prompt: give one of them"},
      {{"run", "-p", ""}, "--prompt"},
      {{"run", "-p", " "}, "prompt"},
      {{"run", "-p", "no \xff text"}, "--prompt: not UTF-8"},
      {{"run", "-p", "Mend {{that}}."}, "<prompt>:2:"},
      {{"run", "-p", "-"}, "--prompt is '-', and stdin has no prompt"},
      {{"doctor", "--output-format", "json"}, "--json, with other events"},
      {{"run", "task.yaml", "--allowedTools=Bash"}, "rules of the policy"},
      {{}, "a command is missing: expected run, exec, batch, init,"},
      {{"policy"}, "a command is missing: expected check, learn, backtest or test"},
      {{"run", "-p", "x", "--max-cost", "abc"}, "--max-cost: expected a number, got 'abc'"},
      {{"report", "x", "--format", "sarf"},
       "--format: expected html, summary, junit, sarif or review, got 'sarf'; did you mean 'sarif'?"},
      {{"completion", "tcsh"}, "SHELL: expected bash, zsh or fish, got 'tcsh'"},
      {{"report"}, "RUN is required: a run's output folder, or its transcript"},
      {{"report", "nowhere"}, "nowhere: no such file or folder; expected the folder of a run's"},
      {{"verify", "."}, ".: not a run's folder: it has no transcript.jsonl"},
      {{"run", "task.yaml", "--max-tokens", "99999999999999999999"}, "a whole number from 1 to"},
      {{"run", "task.yaml", "--max-turns", "1e3"}, "a whole number from 1 to 1000000, got '1e3'"},
      {{"run", "task.yaml", "--max-turns", std::string(100'000, '9')}, "9…'"},
      {{"verify", "out", "--color", "blue"}, "--color"},
  };
  for (const auto& row : rows) {
    const ProgramEnd end = sortie_run(row.arguments);
    BOOST_TEST(end.status == 2, row.says << ": " << end.errors);
    BOOST_TEST(holds(end.errors, row.says), row.says << ": " << end.errors);
    BOOST_TEST(end.errors.size() < 1000);
    BOOST_TEST(end.output.empty());
  }
}

BOOST_AUTO_TEST_CASE(every_command_takes_the_flags_of_the_log) {
  const RunFolder folder;
  write_good_task(folder);
  const std::vector<std::vector<std::string>> commands = {{"run", "task.yaml", "--out", "out"},
                                                          {"verify", "out"},
                                                          {"policy", "check", "strict"},
                                                          {"policy", "test", "strict"},
                                                          {"task", "check", "task.yaml"},
                                                          {"sandbox", "--", "true"},
                                                          {"schema", "task"},
                                                          {"doctor"}};
  for (std::vector<std::string> arguments : commands) {
    const std::string name = arguments.front();
    arguments.insert(arguments.begin() + (name == "policy" || name == "task" ? 2 : 1),
                     {"-q", "--verbose", "--color", "never"});
    const ProgramEnd end = sortie_run(arguments, folder.path(""));
    BOOST_TEST(end.status == 0, name << ": " << end.errors);
    BOOST_TEST(end.errors == "", name);
  }
}

BOOST_AUTO_TEST_CASE(a_policy_whose_name_is_that_of_a_file_is_told_how_to_write_it) {
  const RunFolder folder;
  write_good_task(folder);
  folder.write("mypolicy", "version: 1\nextends: auto\n");

  const ProgramEnd bare = sortie_run({"run", "task.yaml", "--policy", "mypolicy"}, folder.path(""));
  const ProgramEnd path =
      sortie_run({"run", "task.yaml", "--policy", "./mypolicy"}, folder.path(""));

  BOOST_TEST(bare.status == 2);
  BOOST_TEST(holds(bare.errors, "for the file of that name write './mypolicy'"), bare.errors);
  BOOST_TEST(path.status == 0, path.errors);
}

BOOST_AUTO_TEST_CASE(a_file_of_variables_may_come_from_other_systems) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: 'a{{one}}b{{two}}c'\nworkspace: {path: work}\n"
               "vars: {one: {default: x}, two: {default: x}}\n");
  folder.write("vars", "\xEF\xBB\xBFone=1\r\n# no\r\n\r\ntwo=2\r\n");

  const ProgramEnd end =
      sortie_run({"task", "check", "task.yaml", "--var-file", "vars"}, folder.path(""));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, ">1</untrusted>b<"), end.output);
  BOOST_TEST(holds(end.output, ">2</untrusted>c"), end.output);
}

BOOST_AUTO_TEST_CASE(artifacts_keep_to_the_umask) {
  const RunFolder folder;
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "echo b > b; seq 1 200000"}).next().message("done"),
      "policy: auto\n");
  for (const char* mask : {"077", "027", "022"}) {
    const ProgramEnd end =
        run_program({.argv = {"sh", "-c",
                              std::string("umask ") + mask + " && '" + sortie_binary() +
                                  "' run task.yaml --fresh --out out --diff d.diff -o m.txt"},
                     .folder = folder.path("")});
    BOOST_TEST(end.status == 0, end.errors);
    const auto taken = static_cast<std::filesystem::perms>(std::stoul(mask, nullptr, 8));
    const auto check = [&](const std::filesystem::path& file) {
      const auto mode = std::filesystem::status(file).permissions();
      BOOST_TEST(((mode & taken) == std::filesystem::perms::none), mask << " " << file);
    };
    check(folder.path("d.diff"));
    check(folder.path("m.txt"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.out()))
      if (entry.path().filename() != ".lock") check(entry.path());
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_others_may_read_is_warned_of) {
  const RunFolder folder;
  write_good_task(folder);
  folder.write("key", "sk-test-0123456789abcdef\n");
  for (const bool open : {true, false}) {
    std::filesystem::permissions(folder.path("key"),
                                 static_cast<std::filesystem::perms>(open ? 0644 : 0600));
    folder.write("task.yaml",
                 "version: 1\nprompt: x\nworkspace: {path: work}\npolicy: auto\n"
                 "model: {provider: openai, name: gpt-5-codex, retries: 0}\n");
    const ProgramEnd end = sortie_run({"run", "task.yaml", "--fresh", "--out", "out", "--base-url",
                                       "http://127.0.0.1:9/v1", "--api-key-file", "key"},
                                      folder.path(""));
    BOOST_TEST(end.status == 10, end.errors);
    BOOST_TEST(holds(end.errors, "may read it (mode 644); chmod 600") == open, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(ones_own_server_has_no_price_to_warn_of) {
  for (const char* provider : {"local", "openai"}) {
    const RunFolder folder;
    folder.write("task.yaml", std::string("version: 1\nprompt: x\nworkspace: {path: work}\n"
                                          "policy: auto\nmodel: {name: qwen, context_window: "
                                          "32000, retries: 0, provider: ") +
                                  provider + ", base_url: 'http://127.0.0.1:9/v1'}\n");
    const ProgramEnd end = sortie_run({"run", "task.yaml", "--out", "out"}, folder.path(""));
    BOOST_TEST(end.status == 10, end.errors);
    BOOST_TEST(holds(end.errors, "its price is not known") == (provider[0] == 'o'), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(ten_errors_in_a_task_are_shown_all_at_once) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 2\n"
               "nmae: x\n"
               "prompt: [a]\n"
               "workspace: {isolaton: copy}\n"
               "model: {retries: many, name: x, name: y}\n"
               "verify: {rounds: -1}\n"
               "budget: {time: soon, turns: 0}\n"
               "expect: {changes: maybe}\n"
               "stages: []\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 2);
  std::size_t errors = 0;
  for (std::size_t at = 0; (at = end.errors.find(": error: ", at)) != std::string::npos; ++at)
    ++errors;
  BOOST_TEST(errors >= 10, end.errors);
  BOOST_TEST(holds(end.errors, "task.yaml:2:1: error: unknown key 'nmae'"), end.errors);
  BOOST_TEST(holds(end.errors, "did you mean 'name'?"), end.errors);
  BOOST_TEST(!std::filesystem::exists(folder.out()));
}

BOOST_AUTO_TEST_CASE(an_empty_task_and_missing_files_are_named) {
  const struct {
    const char* task;
    const char* says;
  } rows[] = {
      {"", "task.yaml"},
      {"# nothing\n", "task.yaml"},
      {"version: 1\n", "prompt"},
      {"version: 1\nprompt_file: missing.md\n", "missing.md"},
      {"version: 1\nprompt: x\npolicy: missing.yaml\n", "missing.yaml"},
      {"version: 1\nprompt: x\nworkspace: {path: missing}\n", "missing"},
      {"version: 1\nprompt: use {{nmae}}\nvars: {name: {default: x}}\n", "did you mean 'name'"},
      {"version: 1\nprompt: x\nmodel: {provider: replay, cassette: missing.jsonl}\n",
       "missing.jsonl"},
  };
  for (const auto& row : rows) {
    const RunFolder folder;
    folder.write("task.yaml", row.task);
    const ProgramEnd end = folder.run();
    BOOST_TEST(end.status == 2, row.task << end.errors);
    BOOST_TEST(holds(end.errors, row.says), row.task << end.errors);
  }
}

BOOST_AUTO_TEST_CASE(no_key_is_a_matter_of_credentials) {
  const RunFolder folder;
  folder.write("task.yaml", "version: 1\nprompt: x\nworkspace: {path: work}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 6, end.errors);
  BOOST_TEST(holds(end.errors, "OPENAI_API_KEY"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_key_goes_to_no_host_that_the_policy_does_not_name) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: x\nworkspace: {path: work}\n"
               "model: {base_url: 'https://evil.example/v1'}\n");
  ProgramStart start = folder.start();
  start.environment["OPENAI_API_KEY"] = "sk-test-of-the-host-rule";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, "evil.example"), end.errors);
  BOOST_TEST(!holds(end.errors, "sk-test-of-the-host-rule"));
}

BOOST_AUTO_TEST_CASE(an_out_that_is_a_file_or_holds_other_things_is_refused) {
  const RunFolder folder;
  write_good_task(folder);
  folder.write("file", "");
  folder.write("full/precious.txt", "mine");

  BOOST_TEST(folder.run({"--out", folder.path("file").string()}).status == 2);
  const ProgramEnd end = folder.run({"--out", folder.path("full").string(), "--fresh"});

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(std::filesystem::exists(folder.path("full/precious.txt")));
}

BOOST_AUTO_TEST_CASE(a_full_or_read_only_disk_under_out_is_said_and_leaves_no_success) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: mounting a small disk needs root");
    return;
  }
  const RunFolder folder;
  write_good_task(folder);
  std::filesystem::create_directories(folder.path("disk"));
  const std::string disk = folder.path("disk").string();
  BOOST_REQUIRE(::mount("none", disk.c_str(), "tmpfs", 0, "size=16k") == 0);
  const ProgramEnd full = folder.run({"--out", disk + "/out", "--isolation", "copy"});
  // Busy as long as the kernel has not taken down the run's mount namespace.
  BOOST_TEST(wait_until([&] {
    return ::mount("none", disk.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, "size=16k") == 0;
  }));
  const ProgramEnd read_only = folder.run({"--out", disk + "/other"});
  const bool diff_left = std::filesystem::exists(disk + "/out/changes.diff");
  ::umount2(disk.c_str(), MNT_DETACH);

  BOOST_TEST(full.status != 0);
  BOOST_TEST(holds(full.errors, "No space left"), full.errors);
  BOOST_TEST(!diff_left);
  BOOST_TEST(read_only.status == 2, read_only.errors);
  BOOST_TEST(holds(read_only.errors, "Read-only"), read_only.errors);
}

BOOST_AUTO_TEST_CASE(a_closed_stdout_does_not_end_the_run) {
  const RunFolder folder;
  write_good_task(folder);
  ProgramStart start = folder.plain_start();
  start.close_output = true;

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "stdout: "), end.errors);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+b"));
}

BOOST_AUTO_TEST_CASE(a_stdin_that_never_ends_is_not_waited_for) {
  const RunFolder folder;
  write_good_task(folder);
  Pipe never = make_pipe();
  ProgramStart start = folder.start();
  start.argv = {"sh",
                "-c",
                "exec \"$0\" \"$@\" <&" + std::to_string(never.read.get()),
                sortie_binary(),
                "run",
                folder.task().string(),
                "--out",
                folder.out().string()};
  ::fcntl(never.read.get(), F_SETFD, 0);

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(a_finished_run_is_set_aside_and_a_second_one_begins) {
  const RunFolder folder;
  write_good_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  const std::string first = folder.result().string_at("run_id");

  BOOST_TEST(folder.run().status == 0);

  BOOST_TEST(folder.result().string_at("run_id") != first);
  BOOST_TEST(holds(read_file(folder.out().string() + ".prev/result.json"), first));
}

BOOST_AUTO_TEST_CASE(stale_files_of_flags_never_survive_a_failure) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "policy: auto\nverify: ['false']\n");
  folder.write("old.diff", "stale");
  folder.write("old.txt", "stale");

  const ProgramEnd end = folder.run(
      {"--diff", folder.path("old.diff").string(), "-o", folder.path("old.txt").string()});

  BOOST_TEST(end.status != 0);
  BOOST_TEST(!std::filesystem::exists(folder.path("old.diff")));
  BOOST_TEST(!std::filesystem::exists(folder.path("old.txt")));
}

BOOST_AUTO_TEST_CASE(a_diff_that_could_not_be_written_to_stdout_is_no_success) {
  const RunFolder folder;
  write_good_task(folder);
  ProgramStart start = folder.plain_start({"--diff", "-"});
  start.argv.insert(start.argv.begin(), {"sh", "-c", "exec \"$0\" \"$@\" > /dev/full"});

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "No space left"), end.errors);
  BOOST_TEST(folder.result().string_at("status") == "environment");
  BOOST_TEST(!std::filesystem::exists(folder.out() / "changes.diff"));
}

BOOST_AUTO_TEST_CASE(an_out_that_is_a_link_is_refused) {
  const RunFolder folder;
  write_good_task(folder);
  std::filesystem::create_directories(folder.path("elsewhere"));
  std::filesystem::create_directory_symlink(folder.path("elsewhere"), folder.path("out"));

  BOOST_TEST(folder.run().status == 2);
  BOOST_TEST(std::filesystem::is_empty(folder.path("elsewhere")));
}

BOOST_AUTO_TEST_CASE(the_diff_goes_to_stdout_alone_when_asked_for) {
  const RunFolder folder;
  write_good_task(folder);

  const ProgramEnd end = run_program(folder.plain_start({"--diff", "-"}));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == folder.artifact("changes.diff"));
}

BOOST_AUTO_TEST_CASE(an_out_inside_the_workspace_is_neither_seen_nor_part_of_the_diff) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "ls sortie-out; echo x > sortie-out/x; echo b > b"})
                        .next()
                        .message("done"),
                    "policy: auto\n");

  const ProgramEnd end = folder.run({"--out", folder.path("work/sortie-out").string()});

  BOOST_TEST(end.status == 0, end.errors);
  const std::string diff = read_file(folder.path("work/sortie-out/changes.diff"));
  BOOST_TEST(holds(diff, "+++ b/b\n"));
  BOOST_TEST(!holds(diff, "sortie-out"), diff);
  BOOST_TEST(!std::filesystem::exists(folder.path("work/sortie-out/x")));
}

BOOST_AUTO_TEST_CASE(every_command_has_help_with_an_example) {
  for (const char* command : {"run", "verify", "sandbox", "apply-patch", "schema", "doctor"}) {
    const ProgramEnd end = sortie_run({command, "--help"});
    BOOST_TEST(end.status == 0);
    BOOST_TEST(holds(end.output, "Example:\n  sortie "), command << end.output);
    BOOST_TEST(holds(end.output, std::string("Usage: sortie ") + command), end.output);
  }
  const std::string manual = sortie_run({"--man"}).output;
  BOOST_TEST(holds(manual, ".TH SORTIE 1"));
  BOOST_TEST(holds(manual, ".nf\nExample:\n  sortie verify sortie\\-out\n.fi"), manual);
  BOOST_TEST(sortie_run({"--version"}).output == "sortie " SORTIE_VERSION "\n");
}

BOOST_AUTO_TEST_SUITE_END()

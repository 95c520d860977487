#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run with one command of two lines of output, and one that is denied.
void prepare_talking_run(const RunFolder& folder) {
  folder.write("work/a.txt", "first line of a.txt\nsecond line of a.txt\n");
  folder.commit_workspace();
  folder.write_task(
      CassetteWriter().shell({"cat", "a.txt"}).shell({"rm", "a.txt"}).next().message("all said"),
      "policy: strict\nexpect: {changes: any}\n");
}

ProgramEnd sortie_run(std::vector<std::string> argv) {
  argv.insert(argv.begin(), sortie_binary());
  return run_program({.argv = std::move(argv)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(console)

BOOST_AUTO_TEST_CASE(a_call_is_one_line_and_verbose_adds_its_output) {
  const RunFolder folder;
  prepare_talking_run(folder);

  const ProgramEnd plain = folder.run();
  const ProgramEnd verbose = folder.run({"--verbose"});

  BOOST_TEST(plain.status == 0, plain.errors);
  BOOST_TEST(holds(plain.errors, "\n[1] $ cat a.txt ("), plain.errors);
  BOOST_TEST(holds(plain.errors, "\n[1] $ rm a.txt (denied: "), plain.errors);
  BOOST_TEST(!holds(plain.errors, "first line of a.txt"), plain.errors);
  BOOST_TEST(
      holds(verbose.errors,
            "\n[1] $ cat a.txt\n    | first line of a.txt\n    | second line of a.txt\n[1] done: "),
      verbose.errors);
}

BOOST_AUTO_TEST_CASE(a_run_has_a_head_and_a_sum) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "printf 'b\nc\n' > a.txt"}).next().message("done"),
      "policy: auto\nname: change\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.errors.starts_with("sortie "), end.errors);
  BOOST_TEST(holds(end.errors,
                   ", replayed from cassette.jsonl; task change\npolicy auto, full-auto; "
                   "sandbox workspace-write, "),
             end.errors);
  BOOST_TEST(holds(end.errors, "\n1 file changed, +2 -1; 2 turns, 1 call, 220 tokens, "),
             end.errors);
  BOOST_TEST(
      holds(
          end.errors,
          ": attestation.json, changes.diff, last-message.txt, report.html, summary.md, result.json, "
          "transcript.jsonl\nsortie: success (0): "),
      end.errors);
  BOOST_TEST(folder.result().integer_at("added_lines") == 2);
  BOOST_TEST(folder.result().integer_at("removed_lines") == 1);
}

BOOST_AUTO_TEST_CASE(a_task_that_is_only_called_task_is_named_by_its_file) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "policy: auto\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(holds(end.errors, "; " + folder.task().string() + "\npolicy auto, "), end.errors);
}

BOOST_AUTO_TEST_CASE(changes_that_git_ignores_are_a_fact_of_the_sum_and_no_warning) {
  const RunFolder folder;
  folder.write("work/.gitignore", "*.o\n");
  folder.commit_workspace();
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "touch x.o y.o; echo b > b.txt"}).next().message("done"),
      "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(holds(end.errors, "1 file changed, +1 -0, and 2 ignored paths; "), end.errors);
  BOOST_TEST(folder.result()["ignored_changes"].items().size() == 2u);
  BOOST_TEST(folder.result()["warnings"].items().empty());
}

BOOST_AUTO_TEST_CASE(output_is_shown_while_its_command_runs) {
  const RunFolder folder;
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "echo one; sleep 600"}).next().message("done"),
      "policy: auto\nexpect: {changes: any}\n");
  Program program(folder.plain_start({"--verbose"}));

  BOOST_TEST(program.wait_for_error_text("\n    | one\n"));
  program.signal(SIGTERM);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.errors.find("| one") == end.errors.rfind("| one"), end.errors);
}

BOOST_AUTO_TEST_CASE(turns_are_groups_in_the_log_of_a_job_and_the_outcome_is_a_note) {
  const RunFolder folder;
  prepare_talking_run(folder);
  ProgramStart start = folder.plain_start({"--max-turns", "1"});
  start.environment["GITHUB_ACTIONS"] = "true";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(holds(end.errors, "\n::group::turn 1\n[1] $ cat a.txt ("), end.errors);
  BOOST_TEST(holds(end.errors, "\n::endgroup::\n"), end.errors);
  const std::size_t note =
      end.errors.find("\n::error title=sortie%3A budget::turns 1 of 1; next: ");
  BOOST_TEST(note != std::string::npos, end.errors);
  BOOST_TEST(note < end.errors.find("\nsortie: budget (4): "), end.errors);
}

BOOST_AUTO_TEST_CASE(quiet_says_nothing_of_a_success_and_one_line_of_a_failure) {
  const RunFolder folder;
  prepare_talking_run(folder);

  const ProgramEnd quiet = run_program(folder.plain_start({"--quiet"}));
  const ProgramEnd colored = folder.run({"--color", "always"});

  const ProgramEnd failed = run_program(folder.plain_start({"--quiet", "--max-turns", "1"}));

  BOOST_TEST(quiet.errors == "");
  BOOST_TEST(quiet.output == "all said\n");
  BOOST_TEST(failed.errors.starts_with("sortie: budget (4): "), failed.errors);
  BOOST_TEST(failed.errors.find('\n') == failed.errors.size() - 1);
  BOOST_TEST(holds(colored.errors, "\x1b[33m (denied: "), colored.errors);
  BOOST_TEST(holds(colored.errors, "\x1b[32msortie: success (0)\x1b[0m: "), colored.errors);
}

BOOST_AUTO_TEST_CASE(commands_to_a_ci_system_are_made_harmless_on_stdout_and_stderr) {
  const struct {
    const char* variable;
    std::string command;
    std::string harmless;
  } rows[] = {
      {"GITHUB_ACTIONS", "::add-path::/evil", ": :add-path::/evil"},
      {"TF_BUILD", "see ##vso[task.prependpath]/evil", "see ##vso [task.prependpath]/evil"},
      {"TEAMCITY_VERSION", "see ##teamcity[buildStatus]", "see ##teamcity [buildStatus]"},
      {"GITLAB_CI", "section_start:1:a\r\x1b[0K", "section_start :1:a\r\x1b[0K"},
  };
  const std::map<std::string, std::string> elsewhere = {
      {"GITHUB_ACTIONS", ""}, {"TF_BUILD", ""}, {"TEAMCITY_VERSION", ""}, {"GITLAB_CI", ""}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.variable) {
      const RunFolder folder;
      folder.write("work/a.txt", row.command + "\n");
      folder.commit_workspace();
      folder.write_task(CassetteWriter()
                            .shell({"cat", "a.txt"})
                            .shell({"rm", row.command})
                            .next()
                            .message("said\n" + row.command),
                        "policy: strict\nexpect: {changes: any}\n");
      ProgramStart start = folder.plain_start({"--verbose"});
      start.environment = elsewhere;
      start.environment[row.variable] = "true";

      const ProgramEnd end = run_program(start);
      ProgramStart sandbox{.argv = {sortie_binary(), "sandbox", "--", "cat", "a.txt"},
                           .folder = folder.workspace(),
                           .environment = start.environment};
      const ProgramEnd inside = run_program(sandbox);

      BOOST_TEST(end.output == "said\n" + row.harmless + "\n");
      // GitHub obeys nothing behind the mark of an output's line.
      const bool marked = std::string(row.variable) == "GITHUB_ACTIONS";
      BOOST_TEST(holds(end.errors, marked ? "    | " + row.command : row.harmless.substr(0, 15)),
                 end.errors);
      BOOST_TEST(!holds(end.errors, "\n" + row.command), end.errors);
      BOOST_TEST(folder.artifact("last-message.txt") == "said\n" + row.command + "\n");
      // Escapes are taken out there as of a tool call.
      BOOST_TEST(inside.output.starts_with(row.harmless.substr(0, 15)), inside.output);
      BOOST_TEST(!holds(inside.output, row.command.substr(0, 15)), inside.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(control_sequences_of_the_model_reach_a_pipe_and_no_terminal) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("\x1b]0;title\x07seen\x1b[8m hidden"),
                    "policy: strict\nexpect: {changes: any}\n");

  const ProgramEnd pipe = run_program(folder.plain_start({"--quiet"}));
  // script(1) gives its command a terminal.
  const ProgramEnd terminal =
      run_program({.argv = {"script", "-qec",
                            "'" + sortie_binary() + "' run '" + folder.task().string() +
                                "' --quiet --out '" + folder.path("other").string() + "'",
                            "/dev/null"}});

  BOOST_TEST(pipe.output == "\x1b]0;title\x07seen\x1b[8m hidden\n");
  BOOST_TEST(terminal.status == 0, terminal.output);
  BOOST_TEST(holds(terminal.output, "seen hidden"), terminal.output);
  BOOST_TEST(!holds(terminal.output, "\x1b]0;title"), terminal.output);
  BOOST_TEST(!holds(terminal.output, "\x1b[8m"), terminal.output);
}

BOOST_AUTO_TEST_CASE(events_bring_no_control_characters_to_a_terminal) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("\x1b[8m \xc2\x9b"
                                             "8m \x7f \xc3\xa9 \xc2\xa0"),
                    "policy: strict\nexpect: {changes: any}\n");
  std::string command;
  for (const auto& word : folder.plain_start({"--json", "--quiet"}).argv)
    command += "'" + word + "' ";

  const ProgramEnd end = run_program({.argv = {"script", "-qec", command, "/dev/null"}});

  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(holds(end.output, R"("text":"\u001B[8m \u009b8m \u007f )"
                               "\xc3\xa9 \xc2\xa0\""),
             end.output);
}

BOOST_AUTO_TEST_CASE(doctor_proves_what_a_run_would) {
  const RunFolder folder;
  prepare_talking_run(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  const Json run = folder.result();

  const ProgramEnd end = sortie_run({"doctor", "--json"});

  const Json report = parse_json(end.output);
  BOOST_TEST(report["problem"].is_null(), end.output);
  BOOST_TEST(report["isolation"].string_at("mode") == run["isolation"].string_at("mode"));
  BOOST_TEST((report["layers"] == run["layers"]), end.output);
  for (const auto& [name, proof] : run["guarantees"].members())
    BOOST_TEST(report["guarantees"][name]["proved"].boolean() == proof["proved"].boolean(),
               name << ": " << report["guarantees"][name].string_at("detail"));
}

BOOST_AUTO_TEST_CASE(a_protected_name_made_in_the_users_own_tree_is_told) {
  const RunFolder folder;
  const auto sandbox = [&folder](const std::string& script) {
    return run_program({.argv = {sortie_binary(), "sandbox", "--", "sh", "-c", script},
                        .folder = folder.workspace()});
  };

  const ProgramEnd fine = sandbox("mkdir sub && echo made");
  const ProgramEnd made = sandbox("mkdir .github");

  BOOST_TEST(fine.status == 0, fine.errors);
  BOOST_TEST(fine.output == "made\n");
  // No mount point may be made in the user's own tree: it is found afterwards, and taken back.
  BOOST_TEST(made.status == 8, made.errors);
  BOOST_TEST(holds(made.errors, ".github"), made.errors);
  BOOST_TEST(!std::filesystem::exists(folder.workspace() / ".github"));
}

BOOST_AUTO_TEST_CASE(every_tool_that_the_task_format_names_is_there) {
  const Json schema = parse_json(sortie_run({"schema", "task"}).output);
  const Json& enable = schema["properties"]["tools"]["properties"]["enable"];
  const Json names = enable["anyOf"].items().at(1)["items"]["anyOf"].items().at(0)["enum"];
  BOOST_TEST(names.items().size() >= 5u);
  const RunFolder folder;
  make_repository(folder.workspace());
  write_file(folder.workspace() / "a.txt", "a\n");
  commit_all(folder.workspace());
  folder.write_task(CassetteWriter().message("done"),
                    "policy: auto\nexpect: {changes: any}\nverify: [\"true\"]\n" +
                        ("tools: {enable: " + write_json(names)) + "}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(a_patch_in_a_command_needs_the_tool_that_applies_it) {
  const RunFolder folder;
  const std::string patch = "*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\n";
  folder.write_task(CassetteWriter()
                        .shell({"bash", "-c", "apply_patch <<'EOF'\n" + patch + "EOF\n"})
                        .next()
                        .message("done"),
                    "policy: auto\nexpect: {changes: any}\ntools: {enable: [shell]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.artifact("changes.diff").empty());
  BOOST_TEST(holds(folder.output(0), "apply_patch"), folder.output(0));
  BOOST_TEST(folder.records("tool.output").at(0)["exit"].integer_at("code") == 127);
}

BOOST_AUTO_TEST_SUITE_END()

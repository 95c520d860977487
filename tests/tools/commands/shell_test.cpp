#include "tools/commands/shell.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/memory_files.h"
#include "tools/files/apply_patch.h"

using namespace sortie;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(shell)

namespace {

struct Fixture {
  Fixture() {
    files.folders.insert("src");
    files.links["link"] = "src";
    files.content["file"] = {"x\n"};
  }
  ToolResult run(const char* arguments) { return tool.run(parse_json(arguments), {}); }
  /// The model's view of a command that ended so.
  std::string shown(const std::string& output, const ExitStatus& exit) {
    launcher.answer = [output, exit](const Command&) { return FakeLauncher::Answer{output, exit}; };
    const ToolResult result = run(R"({"command":["x"]})");
    return result.head + result.collected->shown;
  }

  FakeLauncher launcher;
  MemoryFiles files;
  Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  ApplyPatch apply_patch{files, "/w"};
  Shell tool{
      {.launcher = launcher, .files = files, .redactor = redactor, .apply_patch = &apply_patch},
      {.workspace = "/w",
       .environment = {{"PATH", "/bin"}, {"TERM", "xterm"}, {"BASH_ENV", "/evil"}},
       .command_timeout = 10min,
       .shown_output = 1000}};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_command_runs_as_given_with_the_policys_limits, Fixture) {
  run(R"({"command":["git","status"],"workdir":"link","timeout_ms":5000})");

  const Command& command = launcher.started.at(0);
  BOOST_TEST((command.argv == std::vector<std::string>{"git", "status"}));
  BOOST_TEST((command.workdir == "/w/src"));
  BOOST_TEST((command.timeout == 5000ms));
  BOOST_TEST(command.environment.at("TERM") == "xterm");
  BOOST_TEST(command.environment.at("PAGER") == "cat");
  BOOST_TEST(!command.environment.contains("BASH_ENV"));
}

BOOST_FIXTURE_TEST_CASE(a_longer_time_than_the_policys_is_not_given, Fixture) {
  run(R"({"command":["x"],"timeout_ms":999999999999})");

  BOOST_TEST((launcher.started.at(0).timeout == 10min));
}

BOOST_FIXTURE_TEST_CASE(scripts_are_decided_as_sent_and_run_without_start_files, Fixture) {
  const std::vector<std::string> as_run = {"bash", "--noprofile", "--norc", "-c", "ls | wc"};
  const Json text = parse_json(R"({"command":"ls | wc"})");

  const auto actions = tool.actions(text);
  tool.run(text, {});
  run(R"({"command":["bash","-lc","ls | wc"]})");

  BOOST_TEST((std::get<RunCommand>(actions.at(0)).argv ==
              std::vector<std::string>{"bash", "-c", "ls | wc"}));
  BOOST_TEST((launcher.started.at(0).argv == as_run));
  BOOST_TEST((launcher.started.at(1).argv == as_run));
}

BOOST_FIXTURE_TEST_CASE(a_script_for_another_shell_says_that_bash_ran_it, Fixture) {
  const auto note_for = [&](const std::string& shell) {
    return tool.run(Json::object({{"command", Json::array({shell, "-c", "ls"})}}), {}).note;
  };
  for (const char* shell : {"zsh", "dash"})
    BOOST_TEST(note_for(shell).ends_with("sh: scripts are read and run as bash does"), shell);
  for (const char* shell : {"sh", "bash", "python3"}) BOOST_TEST(note_for(shell) == "", shell);
}

BOOST_AUTO_TEST_CASE(only_known_shells_are_replaced_and_none_reads_what_changes_scripts) {
  FakeLauncher launcher;
  MemoryFiles files;
  const Redactor redactor;
  const auto started = [&](const char* arguments, std::map<std::string, std::string> environment) {
    Shell tool({.launcher = launcher, .files = files, .redactor = redactor},
               {.workspace = "/w", .environment = std::move(environment), .folders = {"/usr/bin"}});
    launcher.started.clear();
    tool.run(parse_json(arguments), {});
    return launcher.started.at(0);
  };
  const std::map<std::string, std::string> loaded = {{"PATH", "/bin"},
                                                     {"SHELLOPTS", "xtrace"},
                                                     {"BASHOPTS", "extglob"},
                                                     {"PS4", "$(x)"},
                                                     {"CDPATH", "/tmp"},
                                                     {"GLOBIGNORE", "*"},
                                                     {"ENV", "/x"},
                                                     {"BASH_FUNC_ls%%", "() { x; }"},
                                                     {"ls", "() { x; }"},
                                                     {"LANG", "ja_JP.SJIS"},
                                                     {"POSIXLY_CORRECT", "1"},
                                                     {"KEPT", "1"}};

  const Command script = started(R"({"command":["/usr/bin/zsh","-lc","ls"]})", loaded);
  for (const char* name : {"SHELLOPTS", "BASHOPTS", "PS4", "CDPATH", "GLOBIGNORE", "ENV",
                           "BASH_FUNC_ls%%", "ls", "POSIXLY_CORRECT"}) {
    BOOST_TEST(!script.environment.contains(name), name);
  }
  BOOST_TEST(script.environment.at("KEPT") == "1");
  BOOST_TEST(script.environment.at("LC_ALL") == "C.UTF-8");
  BOOST_TEST(script.argv.at(0) == "bash");
  const Command german = started(R"({"command":"ls"})", {{"LANG", "de_DE.UTF-8"}});
  BOOST_TEST(!german.environment.contains("LC_ALL"));

  for (const char* other :
       {R"({"command":["/opt/bash","-c","ls"]})", R"({"command":["ksh","-c","ls"]})",
        R"({"command":["bash","-ec","ls"]})", R"({"command":["bash","x.sh"]})"}) {
    BOOST_TEST(
        (started(other, {}).argv.at(0) != "bash" || started(other, {}).argv.at(1) != "--noprofile"),
        other);
  }
}

BOOST_FIXTURE_TEST_CASE(other_names_of_arguments_are_the_schemas_own, Fixture) {
  BOOST_TEST(write_json(tool.renamed(parse_json(R"({"cmd":"ls","timeout":5})"))) ==
             R"({"command":"ls","timeout_ms":5})");
  BOOST_TEST(write_json(tool.renamed(parse_json(R"({"cmd":"a","command":"b"})"))) ==
             R"({"cmd":"a","command":"b"})");
}

BOOST_FIXTURE_TEST_CASE(folders_outside_or_not_there_are_refused, Fixture) {
  files.links["out"] = "/etc";
  for (const char* workdir : {"..", "/etc", "none", "file", "out", "src/../.."}) {
    BOOST_TEST_CONTEXT(workdir) {
      Json arguments = parse_json(R"({"command":["x"]})");
      arguments.set("workdir", workdir);
      BOOST_CHECK_THROW(tool.actions(arguments), ToolError);
      BOOST_CHECK_THROW(tool.run(arguments, {}), ToolError);
    }
  }
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(the_first_lines_say_how_it_ended, Fixture) {
  BOOST_TEST(shown("hi\n", {.duration = 1234ms}) ==
             "Exit code: 0\nWall time: 1.2 seconds\nOutput:\nhi\n");
  const struct {
    ExitStatus exit;
    const char* first;
  } rows[] = {
      {{.code = 3}, "Exit code: 3\n"},
      {{.ending = Ending::signalled, .code = 11},
       "Killed by signal 11 (SIGSEGV)\nExit code: 139\n"},
      {{.ending = Ending::timed_out, .duration = 600'001ms},
       "Killed after 600 s: command_timeout\nExit code: 124\n"},
      {{.ending = Ending::timed_out, .duration = 2500ms},
       "Killed after 2.5 s: the run's time is up (budget.time)\nExit code: 124\n"},
      {{.ending = Ending::output_limit}, "Killed after 64.0 MiB of output: output\nExit code: 137"},
      {{.ending = Ending::memory_limit,
        .detail = "memory limit 512.0 MiB reached (limits.memory): 600.0 MiB in use"},
       "Killed: memory limit 512.0 MiB reached (limits.memory): 600.0 MiB in use\nExit code: 137"},
      {{.ending = Ending::process_limit}, "Killed: process limit reached\n"},
      {{.code = 153, .detail = "file size limit 1.0 GiB reached (limits.file_size)"},
       "file size limit 1.0 GiB reached (limits.file_size)\nExit code: 153\n"},
      {{.ending = Ending::signalled, .code = 25, .detail = "file size limit 1.0 GiB reached"},
       "Killed by signal 25 (SIGXFSZ): file size limit 1.0 GiB reached\n"},
      {{.ending = Ending::not_started, .detail = "no such program"},
       "Not started: no such program\nExit code: 127\n"},
      {{.ended_background = true},
       "Exit code: 0\nWall time: 0.0 seconds\nBackground processes were killed.\nOutput:"},
  };
  for (const auto& row : rows) {
    const std::string text = shown("", row.exit);
    BOOST_TEST(text.starts_with(row.first), text);
  }
}

BOOST_AUTO_TEST_CASE(a_limit_that_the_model_set_is_told_as_its_own) {
  Command command;
  command.timeout = 2s;
  const ExitStatus exit{.ending = Ending::timed_out, .duration = 2001ms};
  BOOST_TEST(
      result_head(exit, {}, command, 10min).starts_with("Killed after 2 s: its timeout_ms\n"));
  BOOST_TEST(result_head(exit, {}, command, 2s).starts_with("Killed after 2 s: command_timeout\n"));
}

BOOST_FIXTURE_TEST_CASE(long_output_is_cut_and_its_lines_counted, Fixture) {
  std::string output;
  for (int i = 0; i < 1000; ++i) output += "line " + std::to_string(i) + "\n";

  const std::string text = shown(output, {});

  BOOST_TEST(text.starts_with(
      "Exit code: 0\nWall time: 0.0 seconds\nTotal output lines: 1000\nOutput:\nline 0\n"));
  BOOST_TEST(text.find(" KiB) left out …\n") != std::string::npos);
  BOOST_TEST(text.ends_with("\nline 999\n"));
  BOOST_TEST(text.size() < 1200u);
}

BOOST_FIXTURE_TEST_CASE(secrets_and_control_sequences_are_gone_before_the_cut, Fixture) {
  std::string output(490, 'x');
  output += "s3cr\x1b[0m3t-value" + std::string(2000, 'y');

  const std::string text = shown(output, {});

  BOOST_TEST(text.find("s3c") == std::string::npos);
  BOOST_TEST(run(R"({"command":["x"]})").collected->recorded.find("[REDACTED:KEY]") !=
             std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_patch_in_a_command_is_applied_and_no_process_started, Fixture) {
  const Json arguments =
      Json::object({{"command",
                     "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ../src/f\n+x\n"
                     "*** End Patch\nEOF\n"},
                    {"workdir", "."}});

  const auto actions = tool.actions(arguments);
  const auto result = tool.run(arguments, {});

  BOOST_TEST(std::get<CallTool>(actions.at(0)).name == "apply_patch");
  BOOST_TEST((std::get<WritePath>(actions.at(1)).path == "src/f"));
  BOOST_TEST(result.text == "Success. Updated the following files:\nA ../src/f\n");
  BOOST_TEST(files.content.at("src/f").content == "x\n");
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(escalation_is_noted_and_not_given, Fixture) {
  const auto result = run(R"({"command":["x"],"with_escalated_permissions":true})");

  BOOST_TEST(result.note.find("no effect") != std::string::npos);
  BOOST_TEST(launcher.started.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_command_that_leaves_the_runs_network_is_not_sent_to_its_proxy) {
  FakeLauncher launcher;
  MemoryFiles files;
  const Redactor redactor;
  const Policy policy = parse_policy(
      "version: 1\nextends: strict\nescalation: rules\nnetwork: {mode: allow-list}\n"
      "commands: [{allow: [fetch], escalate: true, sandbox: {network: full}}]\n",
      "policy.yaml", ".");
  const Engine engine(policy, policy.approval, "/w", {}, {"/bin"});
  Shell tool({.launcher = launcher, .files = files, .redactor = redactor, .engine = &engine},
             {.workspace = "/w",
              .environment = {{"HTTPS_PROXY", proxy_url()},
                              {"all_proxy", proxy_url()},
                              {"HTTP_PROXY", "http://operators.example:8080"}}});

  tool.run(parse_json(R"({"command":["fetch"]})"), {});
  tool.run(parse_json(R"({"command":["fetch"],"with_escalated_permissions":true})"), {});

  const auto& inside = launcher.started.at(0).environment;
  BOOST_TEST(inside.at("HTTPS_PROXY") == proxy_url());
  BOOST_TEST(inside.at("all_proxy") == proxy_url());
  const auto& outside = launcher.started.at(1).environment;
  BOOST_TEST(launcher.started.at(1).open_network);
  BOOST_TEST(!outside.contains("HTTPS_PROXY"));
  BOOST_TEST(!outside.contains("all_proxy"));
  BOOST_TEST(outside.at("HTTP_PROXY") == "http://operators.example:8080");
}

BOOST_AUTO_TEST_SUITE_END()

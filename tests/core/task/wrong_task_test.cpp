#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "core/files/files.h"
#include "core/task/task_loader.h"
#include "tests/core/task/task_findings.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(wrong_tasks)

BOOST_AUTO_TEST_CASE(the_sample_of_an_unknown_key_is_shown_as_documented) {
  const std::string text =
      "version: 1\nprompt: Go.\nworkspace:\n  path: .\nmodel:\n  name: gpt-5\n  retries: 1\n"
      "expect:\n  changes: any\n\nverify:\n  rounds: 1\n  beforr: any\nverifi: [x]\n";

  BOOST_TEST(findings_of(text) ==
             "<stdin>:13:3: error: unknown key 'beforr' in verify; did you mean 'before'?\n"
             "   13 |   beforr: any\n"
             "      |   ^~~~~~\n"
             "<stdin>:14:1: error: unknown key 'verifi' in task; did you mean 'verify'?\n"
             "   14 | verifi: [x]\n"
             "      | ^~~~~~");
}

BOOST_AUTO_TEST_CASE(a_server_with_a_wrong_name_is_read_to_its_end) {
  const struct {
    const char* server;
    std::vector<std::string> findings;
  } rows[] = {
      {"a__b: {comand: [x]}", {"'server name': expected", "unknown key 'comand' in MCP server"}},
      {"sortie: {command: [x], tool_timeout: soon}",
       {"'sortie' is the name that events give", "'tool_timeout'"}},
      {"a__b: {}", {"'server name': expected", "the MCP server 'a__b' needs either a command"}},
      {"a__b: {url: 'http://h.example/'}",
       {"'server name': expected", "plain http is for loopback hosts only"}},
      {"a__b: {command: [x]}", {"'server name': expected"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.server) {
      const std::string text =
          findings_of("version: 1\nprompt: x\ntools: {mcp: {" + std::string(row.server) + "}}");
      std::size_t at = 0;
      for (const auto& finding : row.findings) {
        at = text.find(finding, at);
        BOOST_TEST_REQUIRE(at != std::string::npos, text);
      }
      std::size_t errors = 0;
      for (at = text.find(": error: "); at != text.npos; at = text.find(": error: ", at + 1))
        ++errors;
      BOOST_TEST(errors == row.findings.size(), text);
    }
  }
}

BOOST_AUTO_TEST_CASE(ten_errors_are_ten_findings_in_order) {
  const std::string text =
      "version: 2\n"
      "name: Bad Name\n"
      "prompt: \"Fix {{brnch}} and {{branch}}\"\n"
      "vars: {branch: {requird: true}}\n"
      "model:\n"
      "  provider: antropic\n"
      "  retries: 010\n"
      "  timeout: {idle: 30}\n"
      "checks: {repetition: sometimes}\n"
      "budget: {turns: 0}\n"
      "name: x\n";

  std::string lines;
  const std::string rendered = findings_of(text);
  for (std::size_t at = 0; at < rendered.size();) {
    const std::size_t end = std::min(rendered.find('\n', at), rendered.size());
    const std::string line = rendered.substr(at, end - at);
    if (line.find("error: ") != std::string::npos) lines += line + "\n";
    at = end + 1;
  }
  BOOST_TEST(
      lines ==
      "<stdin>:1:10: error: 'version': expected 1, the only version there is\n"
      "<stdin>:2:7: error: 'name': expected 1 to 64 of a-z, 0-9 and '-', got 'Bad Name'\n"
      "<stdin>:3:14: error: unknown variable 'brnch'; did you mean 'branch'?\n"
      "<stdin>:4:17: error: unknown key 'requird' in variable; did you mean 'required'?\n"
      "<stdin>:6:13: error: 'provider': expected openai, openai-chat, anthropic, azure, local "
      "or replay, got 'antropic'; did you mean 'anthropic'?\n"
      "<stdin>:7:12: error: 'retries' has a leading zero; write 10\n"
      "<stdin>:8:19: error: 'idle' needs a unit: expected a duration such as 500ms, 30s, 10m or "
      "2h\n"
      "<stdin>:9:22: error: 'repetition': expected off or stop, got 'sometimes'\n"
      "<stdin>:10:17: error: 'turns': expected a whole number from 1 to 1000000, got 0\n"
      "<stdin>:11:1: error: duplicate key 'name'\n");
}

BOOST_AUTO_TEST_CASE(each_wrong_task_says_what_is_wrong) {
  const struct {
    const char* text;
    const char* finding;
  } rows[] = {
      {"", "<stdin>: error: the task is empty; it needs at least 'version: 1' and 'prompt'"},
      {"# nothing\n\n# else\n",
       "<stdin>: error: the task is empty; it needs at least 'version: 1' and 'prompt'"},
      {"just words\n", "<stdin>:1:1: error: task: expected a mapping of keys, got 'just words'"},
      {"prompt: x", "<stdin>:1:1: error: key 'version' is missing in task"},
      {"version: 1",
       "<stdin>:1:1: error: key 'prompt', 'prompt_file' or 'stages' is missing in task"},
      {"version: '1'\nprompt: x",
       "<stdin>:1:10: error: 'version': expected 1, the only version there is"},
      {"version: 1\nprompt: \" \\n\"", "<stdin>:2:9: error: 'prompt' must not be blank"},
      {"version: 1\nprompt: ''", "<stdin>:2:9: error: 'prompt' must not be empty"},
      {"version: 1\nprompt:", "<stdin>:2:1: error: 'prompt' needs a value"},
      {"version: 1\nprompt: x\nprompt_file: y",
       "<stdin>:3:14: error: both 'prompt' and 'prompt_file' are given; leave one of them out"},
      {"version: 1\nprompt: a {{b",
       "<stdin>:2:11: error: '{{' without '}}'; '\\{{' is the literal '{{'"},
      {"version: 1\nprompt: a {{zzzz}}",
       "<stdin>:2:11: error: unknown variable 'zzzz'; declare it in 'vars', or write '\\{{' for "
       "the literal '{{'"},
      {"version: 1\nprompt: |\n  Look.\n\n    \\{{x}} {{stdi}}\n",
       "<stdin>:5:12: error: unknown variable 'stdi'; did you mean 'stdin'?"},
      {"version: 1\nprompt: x\nvars: {stdin: {}}",
       "<stdin>:3:8: error: 'stdin' is built in; choose another name"},
      {"version: 1\nprompt: x\nvars: {a b: {}}",
       "<stdin>:3:8: error: 'variable name': expected a name of letters, digits, '_' and '-', "
       "got 'a b'"},
      {"version: 1\nprompt: x\nvars: {a: {env: A-B}}",
       "<stdin>:3:17: error: 'env': expected the name of an environment variable, got 'A-B'"},
      {"version: 1\nprompt: x\nvars: [a]",
       "<stdin>:3:7: error: 'vars': expected a mapping of variables, got a list"},
      {"version: 1\nprompt: 5",
       "<stdin>:2:9: error: 'prompt': expected text, got the number 5; write \"5\""},
      {"version: 1\nprompt: True",
       "<stdin>:2:9: error: 'prompt': expected text, got True, which is not text in YAML; write "
       "\"True\""},
      {"version: 1\nprompt: x\nverify: [{run: [make, -j, 4]}]",
       "<stdin>:3:27: error: 'run': expected text, got the number 4; write \"4\""},
      {"version: 1\nprompt: x\nvars: {a: {default: 1.10}}",
       "<stdin>:3:21: error: 'default': expected text, got the number 1.10; write \"1.10\""},
      {"version: 1\nprompt: x\nverify: []",
       "<stdin>:3:9: error: 'verify' has no command: name one, or leave the key out"},
      {"version: 1\nprompt: x\nverify: {commands: []}",
       "<stdin>:3:20: error: 'commands' has no command: name one, or leave the key out"},
      {"version: 1\nprompt: x\nrequires: '>=900'",
       "<stdin>:3:11: error: the task requires sortie >=900, and this is sortie " SORTIE_VERSION},
      {"version: 1\nprompt: x\nrequires: '=> 1'",
       "<stdin>:3:11: error: 'requires': expected conditions on versions, such as \">=1.0 <2\", got "
       "'=> 1'"},
      {"version: 1\nprompt: x\ntools: {choice: requird}",
       "<stdin>:3:17: error: 'choice': there is no tool 'requird'; did you mean 'required'?"},
      {"version: 1\nprompt: x\ntools: {choice: shel}",
       "<stdin>:3:17: error: 'choice': there is no tool 'shel'; did you mean 'shell'?"},
      {"version: 1\nprompt: x\ntools: {enable: [read_file], choice: shell}",
       "<stdin>:3:38: error: 'choice': the run does not have the tool 'shell': tools.enable leaves it "
       "out"},
      {"version: 1\nprompt: x\ntools: {enable: [], choice: required}",
       "<stdin>:3:29: error: 'choice': the run has no tools, so none can be called"},
      {"version: 1\nstages: [{name: a, prompt: x, tools: [], choice: shell}]",
       "<stdin>:2:50: error: 'choice': the stage has no tools, so none can be called"},
      {"version: 1\nstages: [{name: a, prompt: x, tools: [read_file], choice: shell}]",
       "<stdin>:2:59: error: 'choice': the stage does not have the tool 'shell'"},
      {"version: 1\nprompt: x\ntools: {mcp: {a: {}}}",
       "<stdin>:3:15: error: the MCP server 'a' needs either a command or a url"},
      {"version: 1\nprompt: x\ntools: {mcp: {sortie: {command: [x]}}}",
       "<stdin>:3:15: error: 'sortie' is the name that events give to sortie's own tools; choose another name "
       "for the server"},
      {"version: 1\nprompt: x\ntools: {mcp: {Sortie: {command: [x]}}}",
       "<stdin>:3:15: error: 'Sortie' is the name that events give to sortie's own tools; choose another name "
       "for the server"},
      {"version: 1\nprompt: x\ntools: {mcp: {a__b: {command: [x]}}}",
       "<stdin>:3:15: error: 'server name': expected 1 to 32 letters, digits, '-' and single '_', "
       "got 'a__b'"},
      {"version: 1\nprompt: x\ntools: {mcp: {a_: {command: [x]}}}",
       "<stdin>:3:15: error: 'server name': expected 1 to 32 letters, digits, '-' and single '_', "
       "got 'a_'"},
      {"version: 1\nprompt: x\ntools: {mcp: {a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_q: {command: [x]}}}",
       "<stdin>:3:15: error: 'server name' is longer than 32 bytes"},
      {"version: 1\nprompt: x\ntools: {mcp: {a: {command: [x]}, a: {command: [y]}}}",
       "<stdin>:3:34: error: duplicate key 'a'"},
      {"version: 1\nprompt: x\ntools: {enable: [mcp__dosc__x], mcp: {docs: {command: [x]}}}",
       "<stdin>:3:18: error: 'mcp__dosc__x' names no server of tools.mcp; did you mean "
       "'mcp__docs__x'?"},
      {"version: 1\nprompt: x\ntools: {enable: [shel]}",
       "<stdin>:3:18: error: there is no tool 'shel'; did you mean 'shell'?"},
      {"version: 1\nprompt: x\ntools: {enable: [default, exec_comand]}",
       "<stdin>:3:27: error: there is no tool 'exec_comand'; did you mean 'exec_command'?"},
      {"version: 1\nprompt: x\ntools: {enable: [mcp__zz__*]}",
       "<stdin>:3:18: error: 'mcp__zz__*' names no server of tools.mcp"},
      {"version: 1\nprompt: x\ntools: {enable: [mcp__dosc__a], mcp: {docs: {command: [x]}}}",
       "<stdin>:3:18: error: 'mcp__dosc__a' names no server of tools.mcp; did you mean "
       "'mcp__docs__a'?"},
      {"version: 1\nprompt: x\ntools: {enable: [mcp__doc], mcp: {docs: {command: [x]}}}",
       "<stdin>:3:18: error: 'mcp__doc' names no server of tools.mcp; did you mean 'mcp__docs'?"},
      {"version: 1\nprompt: x\nverify: {commands: [x], in: frsh}",
       "<stdin>:3:29: error: 'in': expected fresh or run, got 'frsh'; did you mean 'fresh'?"},
      {"version: 1\nprompt: x\nverify: {commands: [x], restore: [\"t/*.{a,b}\", \"{{x}}/t\"]}",
       "<stdin>:3:35: error: 'restore': 't/*.{a,b}' would match nothing: git's patterns have no "
       "alternatives in braces; write an entry for each"},
      {"version: 1\nprompt: x\nexpect: {diff: {deny: [\":(glob)t\"]}}",
       "<stdin>:3:24: error: 'deny': ':(glob)t' would match nothing: git's magic (':(glob)') is not "
       "known; write the pattern alone"},
      {"version: 1\nprompt: x\nexpect: {diff: {allow: [a/../../b]}}",
       "<stdin>:3:25: error: 'allow': 'a/../../b' would match nothing: it leads out of the "
       "workspace"},
      {"version: 1\nprompt: x\nverify: {commands: [x], in: run, restore: [t]}",
       "<stdin>:3:43: error: 'restore' needs in: fresh: the run's own tree keeps what the agent made "
       "of it"},
      {"version: 1\nprompt: x\nverify: {commands: [x], keep: [build, ../x]}",
       "<stdin>:3:39: error: 'keep': '../x' is no path inside the workspace; to verify the run's "
       "whole tree write in: run"},
      {"version: 1\nprompt: x\nverify: {commands: [x], keep: [.]}",
       "<stdin>:3:32: error: 'keep': '.' is no path inside the workspace; to verify the run's "
       "whole tree write in: run"},
      {"version: 1\nprompt: x\nverify: pytest",
       "<stdin>:3:9: error: 'verify': expected a list of commands, got 'pytest'"},
      {"version: 1\nprompt: x\nverify: [{timeout: 1s}]",
       "<stdin>:3:10: error: key 'run' is missing in command"},
      {"version: 1\nprompt: x\nverify: [{run: []}]",
       "<stdin>:3:16: error: 'run': expected a program"},
      {"version: 1\nprompt: x\nmodel: {base_url: 'https://u:p@host/'}",
       "<stdin>:3:19: error: 'base_url': expected an http:// or https:// address without user and "
       "query (but for azure's api-version), got 'https://u:p@host/'"},
      {"version: 1\nprompt: x\nmodel: {base_url: 'https://127.1/v1'}",
       "<stdin>:3:19: error: 'base_url': an IPv4 address must be four decimal numbers without "
       "leading zeros"},
      {"version: 1\nprompt: x\nmodel: {fallback: [{name: m, base_url: 'https://a..b'}]}",
       "<stdin>:3:40: error: 'base_url': the host name has an empty part"},
      {"version: 1\nprompt: x\nmodel: {headers: {Authorization: x}}",
       "<stdin>:3:19: error: header 'Authorization' can't be set by the task: it carries a "
       "credential, an account, or what sortie itself writes"},
      {"version: 1\nprompt: x\nmodel: {headers: {X: \"a\\r\\nB: c\"}}",
       "<stdin>:3:22: error: 'X': expected one line of text, got 'a  B: c'"},
      {"version: 1\nprompt: x\nworkspace: {isolation: vm}",
       "<stdin>:3:24: error: 'isolation': expected auto, overlay, copy or none, got 'vm'"},
      {"version: 1\nprompt: x\nprompt: y", "<stdin>:3:1: error: duplicate key 'prompt'"},
      {"version: 1\nprompt: x\n---\nversion: 1\n",
       "<stdin>:3:1: error: a second document: expected a single one"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(first_line(findings_of(row.text)) == row.finding);
    }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_task_is_named) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "binary") << std::string("a\0b", 3);
  const struct {
    std::string path;
    std::string problem;
  } rows[] = {
      {folder.path().string(), "is a folder"},
      {(folder / "none.yaml").string(), "no such file"},
      {(folder / "binary").string(), "is binary (a NUL byte)"},
      {"/dev/zero", "is larger than 1048576 bytes"},
  };
  for (const auto& row : rows)
    BOOST_CHECK_EXCEPTION(load_task(row.path), InputError, [&](const InputError& error) {
      return error.what() == row.path + ": error: " + row.problem;
    });
}

BOOST_AUTO_TEST_CASE(each_image_that_can_not_be_sent_is_named_with_its_place) {
  const TemporaryFolder folder;
  write_file(folder / "text.png", "not a picture");
  write_file(folder / "empty.png", "");
  write_file(folder / "large.png", images::kPng + std::string(kMaxImageBytes, '\0'));
  write_file(folder / "cut.jpeg", images::kJpeg.substr(0, 20));
  std::filesystem::create_directory(folder / "folder.png");
  BOOST_REQUIRE(::mkfifo((folder / "pipe.png").c_str(), 0600) == 0);
  write_file(folder / "task.yaml",
             "version: 1\nprompt: Look.\nimages:\n  - text.png\n  - empty.png\n  - large.png\n"
             "  - cut.jpeg\n  - none.png\n  - folder.png\n  - pipe.png\n");

  std::string findings;
  try {
    load_task((folder / "task.yaml").string());
  } catch (const InputError& error) {
    findings = error.what();
  }

  const struct {
    const char* place;
    const char* file;
    const char* problem;
  } rows[] = {
      {"4:5", "text.png", "not a PNG, JPEG, GIF or WebP image"},
      {"5:5", "empty.png", "is empty"},
      {"6:5", "large.png", "is larger than 10485760 bytes"},
      {"7:5", "cut.jpeg", "not a PNG, JPEG, GIF or WebP image"},
      {"8:5", "none.png", "no such file"},
      {"9:5", "folder.png", "is a folder"},
      {"10:5", "pipe.png", "is not a regular file"},
  };
  for (const auto& row : rows)
    BOOST_TEST(
        findings.find((folder / "task.yaml").string() + ":" + row.place + ": error: image '" +
                      (folder / row.file).string() + "': " + row.problem) != std::string::npos,
        row.file << " in\n"
                 << findings);
}

BOOST_AUTO_TEST_CASE(each_wrong_stage_says_what_is_wrong) {
  const struct {
    const char* stages;
    const char* finding;
  } rows[] = {
      {"[]", "<stdin>:2:9: error: 'stages' is empty"},
      {"[{plan: a}, {plan: b}]", "<stdin>:2:21: error: two stages are called 'plan'"},
      {"[{plan: 'use {{dat}}'}]",
       "<stdin>:2:22: error: unknown variable 'dat'; did you mean 'date'?"},
      {"[{name: a}]", "<stdin>:2:10: error: key 'prompt' or 'prompt_file' is missing"},
      {"[verify]", "<stdin>:2:9: error: the stage 'verify' needs commands in the task's 'verify'"},
      {"[{verify: now}]",
       "<stdin>:2:10: error: the stage 'verify' is written as the plain word, without a prompt"},
      {"[{name: a, prompt: b, save: ../x}]",
       "<stdin>:2:37: error: 'save': expected a file name without folders or a leading dot, got '../x'"},
      {"[{name: a, prompt: b, tools: [shel]}]",
       "<stdin>:2:39: error: there is no tool 'shel'; did you mean 'shell'?"},
      {"[{name: a, prompt: b, tools: [run_tests]}]",
       "<stdin>:2:39: error: run_tests needs commands in the task's 'verify'"},
      {"[{name: a, prompt: b, tools: [shell]}]\ntools: {enable: [read_file, shell2]}",
       "<stdin>:2:39: error: the run does not have the tool 'shell': tools.enable leaves it out; "
       "did you mean 'shell2'?"},
      {"[{name: a, prompt: b, tools: [mcp__zz__a]}]",
       "<stdin>:2:39: error: 'mcp__zz__a' names no server of tools.mcp"},
      {"[{name: a, prompt: b, tools: [default]}]",
       "<stdin>:2:39: error: there is no tool 'default'"},
      {"[{name: a, prompt: b, tools: [mcp__d__a]}]\n"
       "tools: {enable: [shell], mcp: {d: {command: [x]}}}",
       "<stdin>:2:39: error: the run does not have the tool 'mcp__d__a': tools.enable leaves it "
       "out"},
      {"[{name: a, prompt: b, save: result.json}]",
       "<stdin>:2:37: error: 'result.json' is a file that sortie itself writes"},
      {"[{name: a, prompt: b, save: kept}]",
       "<stdin>:2:37: error: 'kept' is a file that sortie itself writes"},
      {"[{name: a, prompt: b, save: Result.json}]",
       "<stdin>:2:37: error: 'Result.json' is a file that sortie itself writes"},
      {"[{name: a, prompt: b, save: result.json.tmp}]",
       "<stdin>:2:37: error: 'result.json.tmp' is a file that sortie itself writes"},
      {"[{name: a, prompt: b, save: Attempt-2}]",
       "<stdin>:2:37: error: 'Attempt-2' is a file that sortie itself writes"},
      {"[{name: a, prompt: b, save: x}, {name: c, prompt: d, save: X}]",
       "<stdin>:2:68: error: two stages save 'X'"},
      {"[{name: a, prompt: b, save: x}, {name: c, prompt: d, save: x}]",
       "<stdin>:2:68: error: two stages save 'x'"},
      {"[{name: a, prompt: b, sandbox: none}]",
       "<stdin>:2:40: error: 'sandbox': expected read-only or workspace-write, got 'none'"},
  };
  for (const auto& row : rows)
    BOOST_TEST(first_line(findings_of(std::string("version: 1\nstages: ") + row.stages + "\n")) ==
               row.finding);
}

BOOST_AUTO_TEST_CASE(all_that_is_wrong_with_servers_of_tools_is_said_at_once) {
  const std::string rendered = findings_of(
      "version: 1\nprompt: x\ntools:\n  mcp:\n"
      "    a: {comand: [x]}\n"
      "    b: {url: 'http://example.com/mcp'}\n"
      "    c: {url: 'https://example.com/#x'}\n"
      "    d: {url: 'https://a b/'}\n"
      "    e: {url: 'https:///mcp'}\n"
      "    f:\n"
      "    g: {url: 'http://127.evil.example.com/mcp'}\n"
      "    h: {url: 'https://127.1/mcp'}\n"
      "    ok1: {url: 'http://127.0.0.1:8080/mcp?x=1'}\n"
      "    ok2: {url: 'http://[::1]:8080'}\n"
      "    ok3: {url: 'http://LocalHost/mcp'}\n"
      "    ok4: {url: 'https://example.com:8443/mcp'}\n"
      "  enable: [mcp__f__x]\n");

  std::string lines;
  for (std::size_t at = 0; at < rendered.size();) {
    const std::size_t end = std::min(rendered.find('\n', at), rendered.size());
    const std::string line = rendered.substr(at, end - at);
    if (line.find("error: ") != std::string::npos) lines += line + "\n";
    at = end + 1;
  }
  BOOST_TEST(lines ==
             "<stdin>:5:9: error: unknown key 'comand' in MCP server; did you mean 'command'?\n"
             "<stdin>:6:14: error: 'url': plain http is for loopback hosts only; use https://\n"
             "<stdin>:7:14: error: 'url': a fragment is not allowed\n"
             "<stdin>:8:14: error: 'url': white space, control or non-ASCII characters are not "
             "allowed\n"
             "<stdin>:9:14: error: 'url': the host name is missing\n"
             "<stdin>:10:5: error: 'f' needs a value\n"
             "<stdin>:11:14: error: 'url': plain http is for loopback hosts only; use https://\n"
             "<stdin>:12:14: error: 'url': an IPv4 address must be four decimal numbers without "
             "leading zeros\n");
  BOOST_TEST(rendered.find("    b: {url: 'http://example.com/mcp'}") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_password_in_the_address_of_a_server_is_not_shown) {
  // Whoever makes the address of it refuses it, without its line.
  BOOST_TEST(load_task("-",
                       "version: 1\nprompt: x\n"
                       "tools: {mcp: {a: {url: 'http://u:secret@example.com/'}}}\n")
                 .mcp.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/task/task.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/json_schema.h"
#include "core/base/yaml.h"
#include "core/task/tool_names.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// What is wrong with the task's text, as it is shown.
std::string findings_of(const std::string& text) {
  try {
    load_task("-", text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A YAML node as JSON, as an editor that checks a file against the schema would see it.
Json to_json(const YamlNode& node) {
  if (node.is_list()) {
    Json list = Json::array();
    for (const auto& item : node.items) list.push_back(to_json(item));
    return list;
  }
  if (node.is_mapping()) {
    Json object = Json::object();
    for (const auto& member : node.members) object.set(member.key.text, to_json(member.value));
    return object;
  }
  if (node.kind == YamlNode::Kind::null) return {};
  if (!node.plain) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  char* end = nullptr;
  std::strtod(node.text.c_str(), &end);
  if (!node.text.empty() && *end == '\0') return Json::number(node.text);
  return node.text;
}

/// Every key that a task may have.
constexpr const char* kFullTask = R"(version: 1
name: fix-failing-test
prompt: |
  Find the cause on {{branch}}.
  Then fix it.
instructions: House rules.
policy: policies/own.yaml
vars:
  branch: {default: main, env: GITHUB_HEAD_REF, required: true, trusted: false}
  empty: {default: ''}
workspace:
  path: src/
  isolation: copy
  copy_limit: 1GiB
  project_docs: []
  project_docs_max_bytes: 16KiB
model:
  provider: replay
  name: gpt-5
  effort: high
  base_url: http://localhost:8080/v1
  api_key_env: MY_KEY
  cassette: run.cassette.jsonl
  max_output_tokens: 1000
  temperature: 0.2
  timeout: {connect: 1s, first_event: 2s, idle: 3s, total: 4s}
  retries: 0
  headers: {X-Team: ci}
tools:
  enable: [shell, apply_patch]
verify:
  commands: [pytest -q, {run: [make, lint], timeout: 1m}]
  before: fail
  rounds: 2
  in: run
expect:
  changes: required
budget:
  turns: 10
  tool_calls: 20
  tokens: 3000
  time: 5m
context:
  shown_output: 4KiB
output:
  diff: {context_lines: 5, renames: false, base: head, include: [dist]}
)";

}  // namespace

BOOST_AUTO_TEST_SUITE(task)

BOOST_AUTO_TEST_CASE(the_smallest_task_has_every_default) {
  const Task task = load_task("-", "version: 1\nprompt: Go.\nverify: [pytest -q]\n");

  BOOST_TEST(task.name == "task");
  BOOST_TEST(task.file.empty());
  BOOST_TEST(task.prompt == "Go.");
  BOOST_TEST(task.policy == "");
  BOOST_TEST(task.workspace.path == ".");
  BOOST_TEST(task.model.provider == "openai");
  BOOST_TEST((task.budget.time == 60min));
  BOOST_REQUIRE(task.verify.commands.size() == 1u);
  BOOST_TEST((task.verify.commands[0].argv == std::vector<std::string>{"sh", "-c", "pytest -q"}));
  BOOST_TEST(task.verify.commands[0].text == "pytest -q");
  BOOST_TEST(task.tools.empty());
}

BOOST_AUTO_TEST_CASE(every_key_is_read_and_paths_are_relative_to_the_file) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "My Task.yaml") << kFullTask;

  const Task task = load_task((folder / "My Task.yaml").string());

  BOOST_TEST(task.file == folder / "My Task.yaml");
  BOOST_TEST(task.prompt == "Find the cause on {{branch}}.\nThen fix it.\n");
  BOOST_TEST(task.policy == (folder / "policies/own.yaml").string());
  BOOST_TEST(task.workspace.path == folder / "src");
  BOOST_TEST(task.workspace.isolation == "copy");
  BOOST_TEST(task.workspace.project_docs.empty());
  BOOST_TEST(task.model.cassette == folder / "run.cassette.jsonl");
  BOOST_TEST(task.model.temperature.value() == 0.2);
  BOOST_TEST((task.model.total_timeout == 4s));
  BOOST_TEST(task.model.headers.at("X-Team") == "ci");
  BOOST_TEST((task.tools == std::vector<std::string>{"shell", "apply_patch"}));
  BOOST_TEST((task.verify.commands.at(1).argv == std::vector<std::string>{"make", "lint"}));
  BOOST_TEST((task.verify.commands.at(1).timeout == 1min));
  BOOST_TEST(task.verify.before == "fail");
  BOOST_TEST(task.vars.at("branch").environment == "GITHUB_HEAD_REF");
  BOOST_TEST(task.vars.at("branch").required);
  BOOST_TEST(task.vars.at("empty").has_default);
  BOOST_TEST(task.expect.changes == "required");
  BOOST_TEST(task.budget.tokens == 3000);
  BOOST_TEST(task.context.shown_output == 4096u);
  BOOST_TEST(task.output.context_lines == 5);
  BOOST_TEST(!task.output.renames);
  BOOST_TEST((task.output.include == std::vector<std::string>{"dist"}));
}

BOOST_AUTO_TEST_CASE(the_schema_knows_what_the_loader_reads) {
  const JsonSchema schema(task_schema());
  Diagnostics findings;
  const YamlNode full = read_yaml(findings.add_source("t", kFullTask), findings);

  BOOST_TEST(describe(schema.check(to_json(full))) == "");

  for (const auto& member : full.members)
    BOOST_TEST(task_schema()["properties"].find(member.key.text) != nullptr, member.key.text);
  BOOST_TEST(!schema.check(parse_json(R"({"version":1,"prompt":"x","verifi":[]})")).empty());
  BOOST_TEST(!schema.check(parse_json(R"({"version":1})")).empty());
  BOOST_TEST(!schema.check(parse_json(R"({"version":1,"prompt":"a","stages":[]})")).empty());
}

BOOST_AUTO_TEST_CASE(the_effective_task_loads_to_itself) {
  const Task task = load_task("-", "version: 1\nprompt: Go {{a}}.\nvars: {a: {default: x}}\n");

  // JSON is YAML; null stands for what is not given.
  Json effective = task_json(task);
  std::erase_if(effective.members(), [](const auto& member) { return member.second.is_null(); });
  for (const char* part : {"model", "tools", "context", "output"})
    std::erase_if(effective.find(part)->members(),
                  [](const auto& member) { return member.second.is_null(); });
  std::erase_if(effective.find("vars")->find("a")->members(),
                [&](const auto& member) { return member.first == "env"; });
  effective.find("workspace")->set("path", std::filesystem::current_path().string());
  const Task again = load_task("-", write_json(effective));

  Json expected = task_json(task);
  expected.find("workspace")->set("path", std::filesystem::current_path().string());
  BOOST_TEST(write_json(task_json(again)) == write_json(expected));
}

BOOST_AUTO_TEST_CASE(the_digest_covers_the_prompt_and_not_the_budget) {
  const auto digest = [](const std::string& rest) {
    return load_task("-", "version: 1\n" + rest).digest;
  };

  BOOST_TEST(digest("prompt: a").starts_with("sha256:"));
  BOOST_TEST(digest("prompt: a") == digest("# comment\nbudget: {turns: 3}\nprompt: 'a'"));
  BOOST_TEST(digest("prompt: a") != digest("prompt: b"));
  BOOST_TEST(digest("prompt: a") != digest("prompt: a\nmodel: {retries: 4}"));
}

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
      {"a__b: {comand: [x]}", {"'server name' has to be", "unknown key 'comand' in MCP server"}},
      {"sortie: {command: [x], tool_timeout: soon}",
       {"'sortie' is what events call", "'tool_timeout'"}},
      {"a__b: {}", {"'server name' has to be", "the MCP server 'a__b' needs either a command"}},
      {"a__b: {url: 'http://h.example/'}",
       {"'server name' has to be", "plain http is for loopback hosts only"}},
      {"a__b: {command: [x]}", {"'server name' has to be"}},
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
      "<stdin>:1:10: error: 'version' has to be 1: this is the only version there is\n"
      "<stdin>:2:7: error: 'name' has to be 1 to 64 of a-z, 0-9 and '-', not 'Bad Name'\n"
      "<stdin>:3:14: error: unknown variable 'brnch'; did you mean 'branch'?\n"
      "<stdin>:4:17: error: unknown key 'requird' in variable; did you mean 'required'?\n"
      "<stdin>:6:13: error: 'provider' has to be openai, openai-chat, anthropic, azure, local "
      "or replay, not 'antropic'; did you mean 'anthropic'?\n"
      "<stdin>:7:12: error: 'retries' has a leading zero; write 10\n"
      "<stdin>:8:19: error: 'idle' needs a unit: it has to be a duration like 500ms, 30s, 10m or "
      "2h\n"
      "<stdin>:9:22: error: 'repetition' has to be off or stop, not 'sometimes'\n"
      "<stdin>:10:17: error: 'turns' has to be a whole number from 1 to 1000000, not 0\n"
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
      {"just words\n", "<stdin>:1:1: error: task has to be a mapping of keys, not 'just words'"},
      {"prompt: x", "<stdin>:1:1: error: key 'version' is missing in task"},
      {"version: 1",
       "<stdin>:1:1: error: key 'prompt', 'prompt_file' or 'stages' is missing in task"},
      {"version: '1'\nprompt: x",
       "<stdin>:1:10: error: 'version' has to be 1: this is the only version there is"},
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
       "<stdin>:3:8: error: 'variable name' has to be a name of letters, digits, '_' and '-', "
       "not 'a b'"},
      {"version: 1\nprompt: x\nvars: [a]",
       "<stdin>:3:7: error: 'vars' has to be a mapping of variables, not a list"},
      {"version: 1\nprompt: x\nrequires: '>=1'",
       "<stdin>:3:1: error: 'requires' is not supported yet"},
      {"version: 1\nprompt: x\ntools: {mcp: {a: {}}}",
       "<stdin>:3:15: error: the MCP server 'a' needs either a command or a url"},
      {"version: 1\nprompt: x\ntools: {mcp: {sortie: {command: [x]}}}",
       "<stdin>:3:15: error: 'sortie' is what events call sortie's own tools; choose another name "
       "for the server"},
      {"version: 1\nprompt: x\ntools: {mcp: {Sortie: {command: [x]}}}",
       "<stdin>:3:15: error: 'Sortie' is what events call sortie's own tools; choose another name "
       "for the server"},
      {"version: 1\nprompt: x\ntools: {mcp: {a__b: {command: [x]}}}",
       "<stdin>:3:15: error: 'server name' has to be 1 to 32 letters, digits, '-' and single '_', "
       "not 'a__b'"},
      {"version: 1\nprompt: x\ntools: {mcp: {a_: {command: [x]}}}",
       "<stdin>:3:15: error: 'server name' has to be 1 to 32 letters, digits, '-' and single '_', "
       "not 'a_'"},
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
      {"version: 1\nprompt: x\ntools: {enable: []}",
       "<stdin>:3:17: error: 'enable' has to be 'default' or a list of tools"},
      {"version: 1\nprompt: x\nverify: {in: fresh}",
       "<stdin>:3:14: error: in 'fresh' is not supported yet"},
      {"version: 1\nprompt: x\nverify: pytest",
       "<stdin>:3:9: error: 'verify' has to be a list of commands, not 'pytest'"},
      {"version: 1\nprompt: x\nverify: [{timeout: 1s}]",
       "<stdin>:3:10: error: key 'run' is missing in command"},
      {"version: 1\nprompt: x\nverify: [{run: []}]", "<stdin>:3:16: error: 'run' names no program"},
      {"version: 1\nprompt: x\nmodel: {base_url: 'https://u:p@host/'}",
       "<stdin>:3:19: error: 'base_url' has to be an http:// or https:// address without user and "
       "query (but for azure's api-version), not 'https://u:p@host/'"},
      {"version: 1\nprompt: x\nmodel: {headers: {Authorization: x}}",
       "<stdin>:3:19: error: header 'Authorization' is set by sortie itself"},
      {"version: 1\nprompt: x\nmodel: {headers: {X: \"a\\r\\nB: c\"}}",
       "<stdin>:3:22: error: 'X' has to be one line of text, not 'a  B: c'"},
      {"version: 1\nprompt: x\nworkspace: {isolation: vm}",
       "<stdin>:3:24: error: 'isolation' has to be auto, overlay or copy, not 'vm'"},
      {"version: 1\nprompt: x\nworkspace: {isolation: none}",
       "<stdin>:3:24: error: isolation 'none' is not supported yet"},
      {"version: 1\nprompt: x\nprompt: y", "<stdin>:3:1: error: duplicate key 'prompt'"},
      {"version: 1\nprompt: x\n---\nversion: 1\n",
       "<stdin>:3:1: error: a second document: the file has to be one document"},
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
      {"/dev/zero", "is no regular file"},
  };
  for (const auto& row : rows)
    BOOST_CHECK_EXCEPTION(load_task(row.path), InputError, [&](const InputError& error) {
      return error.what() == row.path + ": error: " + row.problem;
    });
}

BOOST_AUTO_TEST_CASE(the_prompt_comes_from_a_file_beside_the_task) {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& prompt) {
    std::ofstream(folder / "task.yaml") << "version: 1\nprompt_file: prompt.md\n";
    std::ofstream(folder / "prompt.md", std::ios::binary) << prompt;
    try {
      return load_task((folder / "task.yaml").string()).prompt;
    } catch (const InputError& error) {
      const std::string what = error.what();
      return what.substr(what.rfind('/', what.find(": error")) + 1);
    }
  };

  BOOST_TEST(load("Do {{date}}.\n") == "Do {{date}}.\n");
  BOOST_TEST(load("Do\n {{dat}}.\n") ==
             "prompt.md:2:2: error: unknown variable 'dat'; did you mean 'date'?\n"
             "    2 |  {{dat}}.\n"
             "      |  ^~~~~~~");
  const auto names = [&](const std::string& text, const std::string& problem) {
    const std::string found = load(text);
    return found.find("task.yaml:2:14: error: prompt file") == 0 &&
           first_line(found).ends_with("prompt.md': " + problem);
  };
  BOOST_TEST(names("", "is blank"));
  BOOST_TEST(names("\xff", "is not UTF-8"));
  BOOST_TEST(names(std::string((1u << 20) + 1, 'a'), "is larger than 1048576 bytes"));
  std::filesystem::remove(folder / "prompt.md");
  std::ofstream(folder / "task.yaml") << "version: 1\nprompt_file: prompt.md\n";
  BOOST_CHECK_EXCEPTION(load_task((folder / "task.yaml").string()), InputError,
                        [](const InputError& error) {
                          return first_line(error.what()).ends_with("prompt.md': no such file");
                        });
}

BOOST_AUTO_TEST_CASE(stages_come_in_three_forms) {
  const Task task = load_task("-",
                              "version: 1\n"
                              "stages:\n"
                              "  - discover: Look at {{date}}.\n"
                              "  - {name: plan, prompt: Plan it., tools: [update_plan], sandbox: "
                              "read-only, max_turns: 10, save: plan.md}\n"
                              "  - verify\n"
                              "verify: ['true']\n");

  BOOST_REQUIRE(task.stages.size() == 3u);
  BOOST_TEST(task.prompt == "");
  BOOST_TEST(task.stages[0].name == "discover");
  BOOST_TEST(task.stages[0].prompt == "Look at {{date}}.");
  BOOST_TEST((task.stages[1].tools == std::vector<std::string>{"update_plan"}));
  BOOST_TEST(task.stages[1].sandbox == "read-only");
  BOOST_TEST((task.stages[1].max_turns == 10));
  BOOST_TEST(task.stages[1].save == "plan.md");
  BOOST_TEST(task.stages[2].verify);
}

BOOST_AUTO_TEST_CASE(images_are_read_with_the_task_and_count_in_its_digest) {
  const TemporaryFolder folder;
  const std::string text = "version: 1\nprompt: Look.\nimages: [a.png, sub/b]\n";
  write_file(folder / "task.yaml", text);
  write_file(folder / "a.png", images::kJpeg);  // the content says what it is
  std::filesystem::create_directory(folder / "sub");
  write_file(folder / "sub/b", images::kGif);

  const Task task = load_task((folder / "task.yaml").string());

  BOOST_REQUIRE(task.images.size() == 2u);
  BOOST_TEST(task.images[0].path == folder / "a.png");
  BOOST_TEST((task.images[0].header == ImageHeader{"image/jpeg", 16, 5}));
  BOOST_TEST(task.images[0].content == images::kJpeg);
  BOOST_TEST((task.images[1].header == ImageHeader{"image/gif", 1, 1}));

  write_file(folder / "sub/b", images::kWebp);
  const Task other = load_task((folder / "task.yaml").string());
  BOOST_TEST(other.digest != task.digest);
  BOOST_TEST(task_digest(other) == other.digest);
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
      {"4:5", "text.png", "is no PNG, JPEG, GIF or WebP image"},
      {"5:5", "empty.png", "is empty"},
      {"6:5", "large.png", "is larger than 10485760 bytes"},
      {"7:5", "cut.jpeg", "is no PNG, JPEG, GIF or WebP image"},
      {"8:5", "none.png", "no such file"},
      {"9:5", "folder.png", "is a folder"},
      {"10:5", "pipe.png", "is no regular file"},
  };
  for (const auto& row : rows)
    BOOST_TEST(
        findings.find((folder / "task.yaml").string() + ":" + row.place + ": error: image '" +
                      (folder / row.file).string() + "': " + row.problem) != std::string::npos,
        row.file << " in\n"
                 << findings);
}

BOOST_AUTO_TEST_CASE(instructions_that_replace_have_to_be_there) {
  BOOST_TEST(first_line(findings_of("version: 1\nprompt: x\ninstructions_replace: true\n")) ==
             "<stdin>:3:23: error: 'instructions_replace' needs 'instructions'");
  BOOST_TEST(load_task("-", "version: 1\nprompt: x\ninstructions: y\ninstructions_replace: true\n")
                 .instructions_replace);
}

BOOST_AUTO_TEST_CASE(each_wrong_stage_says_what_is_wrong) {
  const struct {
    const char* stages;
    const char* finding;
  } rows[] = {
      {"[]", "<stdin>:2:9: error: 'stages' has no stage"},
      {"[{plan: a}, {plan: b}]", "<stdin>:2:21: error: two stages are called 'plan'"},
      {"[{plan: 'use {{dat}}'}]",
       "<stdin>:2:22: error: unknown variable 'dat'; did you mean 'date'?"},
      {"[{name: a}]", "<stdin>:2:10: error: key 'prompt' or 'prompt_file' is missing"},
      {"[verify]", "<stdin>:2:9: error: the stage 'verify' needs commands in the task's 'verify'"},
      {"[{verify: now}]",
       "<stdin>:2:10: error: the stage 'verify' is written as the plain word, without a prompt"},
      {"[{name: a, prompt: b, save: ../x}]",
       "<stdin>:2:37: error: 'save' has to be a file name without folders, not '../x'"},
      {"[{name: a, prompt: b, tools: [shel]}]",
       "<stdin>:2:39: error: there is no tool 'shel'; did you mean 'shell'?"},
      {"[{name: a, prompt: b, tools: [run_tests]}]",
       "<stdin>:2:39: error: run_tests needs commands in the task's 'verify'"},
      {"[{name: a, prompt: b, tools: []}]", "<stdin>:2:38: error: 'tools' of a stage has no tool"},
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
       "<stdin>:2:37: error: 'result.json' is a file of sortie's own"},
      {"[{name: a, prompt: b, save: x}, {name: c, prompt: d, save: x}]",
       "<stdin>:2:68: error: two stages save 'x'"},
      {"[{name: a, prompt: b, sandbox: none}]",
       "<stdin>:2:40: error: 'sandbox' has to be read-only or workspace-write, not 'none'"},
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
             "<stdin>:10:5: error: 'f' needs a value\n");
  BOOST_TEST(rendered.find("    b: {url: 'http://example.com/mcp'}") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_password_in_the_address_of_a_server_is_not_shown) {
  // Whoever makes the address of it refuses it, without its line.
  BOOST_TEST(load_task("-",
                       "version: 1\nprompt: x\n"
                       "tools: {mcp: {a: {url: 'http://u:secret@example.com/'}}}\n")
                 .mcp.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_list_of_tools_may_build_on_the_default_and_name_those_of_servers) {
  const struct {
    const char* enable;
    std::vector<std::string> has;
    std::vector<std::string> lacks;
  } rows[] = {
      {"default", {"shell", "mcp__docs__a", "todos"}, {"exec_command"}},
      {"[default]", {"shell", "mcp__docs__a", "todos"}, {"exec_command"}},
      {"[default, exec_command]", {"shell", "write_stdin", "mcp__docs__a"}, {"web_search"}},
      {"[shell]", {"local_shell"}, {"mcp__docs__a", "todos", "read_file"}},
      {"[shell, 'mcp__*']", {"mcp__docs__a"}, {"read_file"}},
      {"['mcp__do*']", {"mcp__docs__a"}, {"shell"}},
      {"[mcp__docs__a]", {"mcp__docs__a"}, {"mcp__docs__b"}},
      {"['mcp__*__b']", {"mcp__docs__b"}, {"mcp__docs__a"}},
      // What a long name is shortened to.
      {"[mcp__a-server-with-a-lon0123456789012345678901234567890123456789]",
       {"mcp__a-server-with-a-lon0123456789012345678901234567890123456789"},
       {"shell"}},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.enable) {
      const Task task =
          load_task("-", std::string("version: 1\nprompt: x\ntools:\n  enable: ") + row.enable +
                             "\n  mcp: {docs: {command: [x]}, "
                             "a-server-with-a-long-name: {command: [x]}}\n");
      for (const auto& tool : row.has) BOOST_TEST(enables_tool(task.tools, tool), tool);
      for (const auto& tool : row.lacks) BOOST_TEST(!enables_tool(task.tools, tool), tool);
    }
}

BOOST_AUTO_TEST_CASE(fallback_models_and_prices_are_read) {
  const Task task = load_task("-",
                              "version: 1\nprompt: x\nmodel:\n  pin: true\n"
                              "  price: {input: 1.25, cached_input: 0.125, output: 10}\n"
                              "  fallback: [{provider: anthropic, name: claude-x, retries: 1}]\n"
                              "budget: {cost: 0.5}\n");

  BOOST_TEST(task.model.pin);
  BOOST_TEST((task.model.price == ModelPrice{1.25, 0.125, {}, 10}));
  BOOST_REQUIRE(task.model.fallback.size() == 1u);
  BOOST_TEST(task.model.fallback[0].provider == "anthropic");
  BOOST_TEST(task.model.fallback[0].retries == 1);
  BOOST_TEST(task.budget.cost == 0.5);
  BOOST_TEST(task.budget.cost_given);
  BOOST_TEST(
      first_line(findings_of("version: 1\nprompt: x\nmodel: {fallback: [{retries: 1}]}\n")) ==
      "<stdin>:3:20: error: key 'name' is missing in fallback");
}

BOOST_AUTO_TEST_CASE(an_output_schema_is_read_and_has_to_be_one_that_can_be_checked) {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& schema) {
    std::ofstream(folder / "answer.json") << schema;
    std::ofstream(folder / "task.yaml") << "version: 1\nprompt: x\noutput: {schema: answer.json}\n";
    try {
      return write_json(*load_task((folder / "task.yaml").string()).output.schema);
    } catch (const InputError& error) {
      return first_line(error.what());
    }
  };

  BOOST_TEST(load(R"({"type":"object"})") == R"({"type":"object"})");
  BOOST_TEST(load("{\"type\":\n x}").find("answer.json:2:2: error: ") != std::string::npos);
  BOOST_TEST(load(R"({"typ":"object"})").find("typ") != std::string::npos);
  BOOST_TEST(load("[]").ends_with("is no JSON object"));
}

BOOST_AUTO_TEST_SUITE_END()

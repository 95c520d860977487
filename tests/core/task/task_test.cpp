#include "core/task/task.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/config/yaml.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/task/required_version.h"
#include "core/task/task_loader.h"
#include "core/task/tool_names.h"
#include "tests/core/task/task_findings.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

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
  diff: {context_lines: 5, renames: false, base: head, include: [dist], products: include, lfs: true, submodules: [libs/a]}
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
  BOOST_TEST((task.workspace.isolation == Isolation::copy));
  BOOST_TEST(task.workspace.project_docs.empty());
  BOOST_TEST(task.model.cassette == folder / "run.cassette.jsonl");
  BOOST_TEST(task.model.temperature.value() == 0.2);
  BOOST_TEST((task.model.total_timeout == 4s));
  BOOST_TEST(task.model.headers.at("X-Team") == "ci");
  BOOST_TEST((task.tools == std::vector<std::string>{"shell", "apply_patch"}));
  BOOST_TEST((task.verify.commands.at(1).argv == std::vector<std::string>{"make", "lint"}));
  BOOST_TEST((task.verify.commands.at(1).timeout == 1min));
  BOOST_TEST((task.verify.before == ExpectedStart::fail));
  BOOST_TEST(task.vars.at("branch").environment == "GITHUB_HEAD_REF");
  BOOST_TEST(task.vars.at("branch").required);
  BOOST_TEST(task.vars.at("empty").has_default);
  BOOST_TEST((task.expect.changes == ExpectedChanges::required));
  BOOST_TEST(task.budget.tokens == 3000);
  BOOST_TEST(task.context.shown_output == 4096u);
  BOOST_TEST(task.output.context_lines == 5);
  BOOST_TEST(!task.output.renames);
  BOOST_TEST((task.output.include == std::vector<std::string>{"dist"}));
  BOOST_TEST((task.output.products == Products::include));
  BOOST_TEST(task.output.lfs);
  BOOST_TEST((task.output.submodules == std::vector<std::string>{"libs/a"}));
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

BOOST_AUTO_TEST_CASE(a_command_of_the_effective_task_is_the_string_or_list_that_was_written) {
  const Task task =
      load_task("-", "version: 1\nprompt: Go.\nverify: [make test, {run: [sh, -c, make lint]}]\n");

  const Json commands = task_json(task)["verify"]["commands"];

  BOOST_TEST(write_json(commands.items()[0]["run"]) == R"("make test")");
  BOOST_TEST(write_json(commands.items()[1]["run"]) == R"(["sh","-c","make lint"])");
}

BOOST_AUTO_TEST_CASE(an_argv_is_shown_as_a_line_that_a_shell_would_run_so) {
  const Task task = load_task("-",
                              "version: 1\nprompt: Go.\n"
                              "verify: [test -f 'a b', {run: [make, lint]},"
                              " {run: [sh, -c, \"test -f 'a b'\", '']}]\n");

  const auto& commands = task.verify.commands;
  BOOST_REQUIRE(commands.size() == 3u);
  BOOST_TEST(commands[0].text == "test -f 'a b'");
  BOOST_TEST(commands[1].text == "make lint");
  BOOST_TEST(commands[2].text == R"(sh -c 'test -f '\''a b'\''' '')");
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
    return task_digest(load_task("-", "version: 1\n" + rest));
  };

  BOOST_TEST(digest("prompt: a").starts_with("sha256:"));
  BOOST_TEST(digest("prompt: a") == digest("# comment\nbudget: {turns: 3}\nprompt: 'a'"));
  BOOST_TEST(digest("prompt: a") != digest("prompt: b"));
  BOOST_TEST(digest("prompt: a") != digest("prompt: a\nmodel: {retries: 4}"));
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

BOOST_AUTO_TEST_CASE(a_system_part_of_a_prompt_file_is_added_to_the_instructions) {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& task, const std::string& prompt) {
    std::ofstream(folder / "task.yaml") << "version: 1\n" << task;
    std::ofstream(folder / "prompt.md", std::ios::binary) << prompt;
    return load_task((folder / "task.yaml").string());
  };
  const std::string file = "prompt_file: prompt.md\n";

  const Task task = load(file + "instructions: House rules.\n",
                         "System: Be brief.\nSay {{nothing}} twice.\n\nUser:\nFix {{date}}.\n");
  BOOST_TEST(task.instructions == "House rules.\nBe brief.\nSay {{nothing}} twice.");
  BOOST_TEST(task.prompt == "Fix {{date}}.\n");
  BOOST_TEST(load(file, "The word System: stays.\nUser: too.").prompt ==
             "The word System: stays.\nUser: too.");

  const auto wrong = [&](const std::string& task_text, const std::string& prompt) {
    try {
      load(task_text, prompt);
    } catch (const InputError& error) {
      return first_line(error.what());
    }
    return std::string();
  };
  BOOST_TEST(wrong(file, "System: Be brief.\nFix it.")
                 .ends_with("needs a line 'User:' before its prompt"));
  BOOST_TEST(wrong(file, "System: Be brief.\nUser:\n")
                 .ends_with("needs a line 'User:' before its prompt"));
  BOOST_TEST(wrong("stages: [{name: a, prompt_file: prompt.md}]\n", "System: x\nUser: y")
                 .ends_with("all stages share 'instructions'"));
  BOOST_TEST(wrong(file, "System: x\nUser:\n {{dat}}").find("prompt.md:3:2: error: unknown") !=
             std::string::npos);
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
  BOOST_TEST((task.stages[1].sandbox == StageSandbox::read_only));
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
  BOOST_TEST(task_digest(other) != task_digest(task));
}

BOOST_AUTO_TEST_CASE(instructions_that_replace_have_to_be_there) {
  BOOST_TEST(first_line(findings_of("version: 1\nprompt: x\ninstructions_replace: true\n")) ==
             "<stdin>:3:23: error: 'instructions_replace' needs 'instructions'");
  BOOST_TEST(load_task("-", "version: 1\nprompt: x\ninstructions: y\ninstructions_replace: true\n")
                 .instructions_replace);
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
  BOOST_TEST(load("[]").ends_with("not a JSON object"));
}

BOOST_AUTO_TEST_CASE(conditions_on_versions_compare_the_parts_that_they_have) {
  const struct {
    const char* conditions;
    const char* version;
    bool met;
  } rows[] = {
      {"", "0.1.0", true},          {">=1.0 <2", "1.0.0", true},    {">=1.0 <2", "1.9.12", true},
      {">=1.0 <2", "2.0.0", false}, {">=1.0 <2", "0.9.9", false},   {">=1.10", "1.9.0", false},
      {"1.2", "1.2.7", true},       {"=1.2", "1.3.0", false},       {"<=1", "1.9.9", true},
      {">1", "1.9.9", false},       {">1", "2.0.0", true},          {"1.2.3", "1.2.3", true},
      {"1.2.3", "1.2.4", false},    {"  >=1   <2 ", "1.5.0", true},
  };
  for (const auto& row : rows)
    BOOST_TEST(meets(row.conditions, row.version) == row.met,
               row.conditions << " of " << row.version);
}

BOOST_AUTO_TEST_CASE(an_empty_list_of_tools_is_no_tools_at_all) {
  const Task none = load_task("-", "version: 1\nprompt: x\ntools: {enable: []}\n");
  const Task staged = load_task(
      "-", "version: 1\nstages: [{name: a, prompt: x, tools: [], choice: none}, {b: y}]\n");

  for (const std::string& name : built_in_tool_names()) {
    BOOST_TEST(!enables_tool(none.tools, name), name);
    BOOST_TEST(!enables_tool(staged.stages[0].tools, name), name);
  }
  BOOST_TEST(staged.stages[1].tools.empty());
  BOOST_TEST(write_json(task_json(none)["tools"]["enable"]) == "[]");
  BOOST_TEST(write_json(task_json(staged)["stages"].items()[0]["tools"]) == "[]");
}

BOOST_AUTO_TEST_CASE(a_call_has_to_succeed_unless_the_task_says_that_anything_will_do) {
  const struct {
    const char* expect;
    bool tool_success;
  } rows[] = {{"{}", true},
              {"{changes: forbidden}", true},
              {"{changes: any}", false},
              {"{changes: any, tool_success: true}", true},
              {"{tool_success: false}", false}};
  for (const auto& row : rows) {
    const Task task =
        load_task("-", std::string("version: 1\nprompt: x\nexpect: ") + row.expect + "\n");
    BOOST_TEST(task.expect.tool_success == row.tool_success, row.expect);
    BOOST_TEST(task_json(task)["expect"]["tool_success"].boolean() == row.tool_success, row.expect);
  }
}

BOOST_AUTO_TEST_SUITE_END()

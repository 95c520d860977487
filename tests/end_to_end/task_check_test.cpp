// What `task check` says of a task besides its values: all that is wrong, each with its place, and
// what was probably not meant.

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

ProgramEnd check(const RunFolder& folder, const std::vector<std::string>& flags = {}) {
  ProgramStart start{.argv = {sortie_binary(), "task", "check", "task.yaml"},
                     .folder = folder.path("")};
  start.argv.insert(start.argv.end(), flags.begin(), flags.end());
  return run_program(start);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(task_check)

BOOST_AUTO_TEST_CASE(a_policy_that_can_not_be_used_hides_no_other_finding) {
  const struct {
    const char* policy;
    const char* says;
  } rows[] = {
      {"policy: strct",
       "task.yaml:2:9: error: 'policy': unknown preset 'strct'; did you mean 'strict'?"},
      {"policy: ./none.yaml", "task.yaml:2:9: error: 'policy': "},
      {"policy: ./bad.yaml", "task.yaml:2:9: error: the policy has errors:"},
  };
  for (const auto& row : rows) {
    for (const char* more : {"", "prompt_file: prompt.md\n"}) {
      BOOST_TEST_CONTEXT(row.policy << " " << more) {
        const RunFolder folder;
        folder.write("bad.yaml", "version: 1\naproval: x\nlimits: {output: many}\n");
        folder.write("prompt.md", "Go.\n");
        folder.write("task.yaml", std::string("version: 1\n") + row.policy +
                                      "\nworkspace: {path: nowhere}\nbudget: {turns: many}\n" +
                                      (*more == '\0' ? "prompt: 5\n" : more));

        const ProgramEnd end = check(folder);

        BOOST_TEST(end.status == 2);
        BOOST_TEST(holds(end.errors, row.says), end.errors);
        BOOST_TEST(holds(end.errors, "task.yaml:4:17: error: 'turns'"), end.errors);
        BOOST_TEST(holds(end.errors, "task.yaml:3:19: error: workspace "), end.errors);
        if (*more == '\0')
          BOOST_TEST(holds(end.errors, "task.yaml:5:9: error: 'prompt'"), end.errors);
        if (holds(row.policy, "bad")) {
          BOOST_TEST(holds(end.errors, "bad.yaml:2:1: error: unknown key 'aproval'"), end.errors);
          BOOST_TEST(holds(end.errors, "bad.yaml:3:18: error: 'output'"), end.errors);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_that_depend_on_several_values_have_a_place) {
  const struct {
    const char* name;
    const char* task;
    const char* says;
  } rows[] = {
      {"no folder", "workspace: {path: nowhere}", "task.yaml:3:19: error: workspace "},
      {"azure without an address", "model: {provider: azure, name: x}", "task.yaml:3:19: error: "},
      {"a replay of nothing", "model: {provider: replay}",
       "task.yaml:3:19: error: provider replay needs a cassette"},
      {"a fallback to azure",
       "model: {provider: local, name: x, fallback: [{provider: azure, name: y}]}",
       "task.yaml:3:45: error: model.fallback: azure y: "},
      {"an older form that can't require a call",
       "model: {provider: openai-chat, name: x, legacy_functions: true}\n"
       "tools: {choice: required}",
       "task.yaml:4:17: error: 'choice': model.legacy_functions has no way"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("task.yaml", std::string("version: 1\nprompt: x\n") + row.task + "\n");

      const ProgramEnd end = check(folder);

      BOOST_TEST(end.status == 2);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_stdin_that_the_prompt_asks_for_is_told) {
  for (const char* text : {"", "one commit\n"}) {
    const RunFolder folder;
    folder.write_task(CassetteWriter().message("done"), "policy: auto\nexpect: {changes: any}\n");
    std::string task = read_file(folder.task());
    task.replace(task.find("prompt: "), 8, "prompt: \"{{stdin}}\" # ");
    folder.write("task.yaml", task);
    ProgramStart start = folder.start();
    start.input = text;

    const ProgramEnd end = run_program(start);

    BOOST_TEST(end.status == 0, end.errors);
    const std::string warned = "warning: {{stdin}} is empty: nothing came on stdin";
    BOOST_TEST(holds(end.errors, warned) == (*text == '\0'), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(what_was_probably_not_meant_is_warned_of_and_the_run_repeats_it) {
  const struct {
    const char* name;
    const char* task;
    const char* policy;
    const char* says;
  } rows[] = {
      {"a function that no rule allows", "tools: {functions: f.json}", "extends: strict",
       "the policy does not allow the function 'deploy', so the model is not shown it; add to the "
       "policy's tools: {allow: [deploy]}"},
      {"a search that no rule allows", "tools: {enable: [default, web_search]}", "extends: strict",
       "the policy does not allow the tool 'web_search', so the model is not shown it; add to the "
       "policy's tools: {allow: [web_search]}"},
      {"a search that a rule allows", "tools: {enable: [default, web_search]}",
       "extends: strict\ntools: [{allow: [web_search]}]\ntrust: {input: trusted}", ""},
      {"a server that no rule allows", "tools: {mcp: {docs: {command: [server]}}}",
       "extends: strict\nbounds: {mcp: [server]}",
       "the policy allows no tool of the MCP server 'docs'"},
      {"a policy that shows all", "", "extends: auto\npaths: {read: ['/']}",
       "policy.yaml:3: '/' lets commands read"},
      {"a name that no tool has", "", "extends: auto\ntools: [{allow: [shel]}]",
       "there is no tool 'shel'; did you mean 'shell'?"},
      {"a program that is not there", "", "extends: auto\ncommands: [{allow: [no-such-program]}]",
       "no program 'no-such-program' is on the PATH that commands have here"},
      {"what the task has and the policy allows", "tools: {functions: f.json}",
       "extends: strict\nbounds: {mcp: [cat]}\ntools: [{allow: [deploy]}]", ""},
      {"a function whose program no rule allows", "tools: {functions: own.json}",
       "extends: strict\nbounds: {mcp: ['./tools/own']}\ntools: [{allow: [own]}]",
       "own.json:1:2: no rule allows './tools/own', the program of the function 'own', so each "
       "call is denied; add to the policy's commands: {allow: {script: './tools/own'}}"},
      {"a function whose program can't be executed", "tools: {functions: own.json}",
       "extends: strict\nbounds: {mcp: ['./tools/own']}\ntools: [{allow: [own]}]\n"
       "commands: [{allow: {script: './tools/own'}}]",
       "'./tools/own', the program of the function 'own', is not executable: chmod +x "
       "./tools/own"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/tools/own", "#!/bin/sh\n");
      folder.write("own.json", R"([{"name": "own", "description": "d", "parameters": {"type":)"
                               R"( "object", "properties": {"path": {"type": "string"}}},)"
                               R"( "run": ["./tools/own", "--path={{path}}"]}])");
      folder.write("f.json", R"([{"name": "deploy", "description": "d", "run": ["cat"]}])");
      std::string policy = std::string("version: 1\n") + row.policy + "\n";
      if (holds(row.task, "f.json") && !holds(policy, "bounds")) policy += "bounds: {mcp: [cat]}\n";
      folder.write("policy.yaml", policy);
      folder.write_task(
          CassetteWriter().message("done"),
          std::string("policy: policy.yaml\nexpect: {changes: any}\n") + row.task + "\n");

      const ProgramEnd end = check(folder);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      if (*row.says == '\0') {
        BOOST_TEST(!holds(end.errors, "warning"), end.errors);
        continue;
      }
      const ProgramEnd run = folder.run();
      const Json result = folder.result();
      bool repeated = false;
      for (const Json& warning : result["warnings"].items())
        repeated = repeated || holds(warning.text(), row.says);
      BOOST_TEST(repeated, write_json(result["warnings"]) << run.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_the_policy_holds_back_is_warned_of_where_the_key_is_not_set) {
  const struct {
    const char* policy;
    const char* model;
    const char* says;  ///< "": nothing of keys
  } rows[] = {
      {"extends: strict", "name: gpt-5", ""},
      {"extends: strict\nbounds: {credentials: {}}", "name: gpt-5",
       "OPENAI_API_KEY may not go to api.openai.com by the policy, so a run that has this key ends "
       "with code 2; to allow it, add OPENAI_API_KEY: ['api.openai.com'] to bounds.credentials in "},
      {"extends: strict", "name: gpt-5, base_url: 'https://models.example/v1'",
       "OPENAI_API_KEY may not go to models.example by the policy"},
      {"extends: strict", "name: gpt-5, api_key_env: TEAM_KEY",
       "TEAM_KEY may not go to api.openai.com by the policy"},
      {"extends: strict\nbounds: {credentials: {}}", "provider: local, name: x", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.policy << " " << row.model) {
      const RunFolder folder;
      folder.write("policy.yaml", std::string("version: 1\n") + row.policy + "\n");
      folder.write("task.yaml",
                   std::string("version: 1\nprompt: x\npolicy: ./policy.yaml\nmodel: {") +
                       row.model + "}\n");
      ProgramStart start{.argv = {sortie_binary(), "task", "check", "task.yaml"},
                         .folder = folder.path("")};
      for (const char* name : {"OPENAI_API_KEY", "TEAM_KEY", "OPENAI_BASE_URL", "SORTIE_BASE_URL"})
        start.environment[name] = "";

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      if (*row.says != '\0')
        BOOST_TEST(holds(end.errors, std::string("warning: ") + row.says), end.errors);
      else
        BOOST_TEST(!holds(end.errors, "may not go to"), end.errors);
      if (*row.says == '\0' || holds(row.model, "base_url")) continue;
      // As it says.
      start.environment["OPENAI_API_KEY"] = start.environment["TEAM_KEY"] = "sk-of-the-test";
      BOOST_TEST(run_program(start).status == 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_budget_that_pays_for_no_request_is_warned_of) {
  const struct {
    const char* budget;
    bool warned;
  } rows[] = {
      {"{cost: 0.0001}", true}, {"{tokens: 100}", true}, {"{cost: 1}", false}, {"{}", false}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.budget) {
      const RunFolder folder;
      folder.write(
          "task.yaml",
          std::string("version: 1\nprompt: x\nmodel: {name: gpt-5}\nbudget: ") + row.budget + "\n");

      const ProgramEnd end = check(folder);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(end.errors, "pays for no request") == row.warned, end.errors);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

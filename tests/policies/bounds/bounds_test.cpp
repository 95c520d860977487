#include "policies/bounds/bounds.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "core/base/error.h"
#include "policies/file/policy_loader.h"

using namespace sortie;
using namespace std::chrono_literals;

namespace {

Policy parse(const std::string& text) {
  return parse_policy("version: 1\n" + text, "policy.yaml", ".");
}

Task task_with_model(const std::string& provider, const std::string& name) {
  Task task;
  task.model.provider = provider;
  task.model.name = name;
  return task;
}

/// All messages, a line each.
std::string messages(const Policy& policy, const BoundsRequest& request) {
  std::string text;
  for (const auto& message : beyond_bounds(policy, request))
    text += (text.empty() ? "" : "\n") + message;
  return text;
}

/// The policy with nothing but what a refusal says: its line, or an entry of a list that is there.
Policy suggested(const std::string& refusal) {
  static const std::regex kEntry("add ('[^']*') to bounds\\.(\\w+) in policy\\.yaml");
  std::smatch match;
  if (std::regex_search(refusal, match, kEntry))
    return parse("bounds: {" + match[2].str() + ": [" + match[1].str() + "]}\n");
  const std::string head = "the policy says ";
  const std::size_t begin = refusal.find(head);
  const std::size_t end = refusal.find("]}", begin);
  BOOST_REQUIRE(begin != std::string::npos && end != std::string::npos);
  return parse(refusal.substr(begin + head.size(), end + 2 - begin - head.size()) + "\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bounds)

BOOST_AUTO_TEST_CASE(what_is_asked_within_the_bounds_is_silent) {
  Task task = task_with_model("openai", "gpt-5");
  task.vars["branch"].environment = "GITHUB_REF_NAME";
  task.places["budget.time"] = "task.yaml:3:5";

  BOOST_TEST(messages(Policy(), {.task = task}) == "");
}

BOOST_AUTO_TEST_CASE(a_model_beyond_the_bounds_is_named_with_both_places) {
  const Policy policy = parse("bounds:\n  models: [openai/*, local/x]\n");
  Task task = task_with_model("azure", "gpt-5");
  task.places["model.name"] = "task.yaml:4:9";

  BOOST_TEST(messages(policy, {.task = task}) ==
             "task.yaml:4:9: error: the model azure/gpt-5 is beyond the policy's bounds "
             "(policy.yaml:3: bounds.models is [openai/*, local/x])");
  BOOST_TEST(messages(policy, {.task = task, .flags = {{"model.name", "--model gpt-5"}}}) ==
             "--model gpt-5: the model azure/gpt-5 is beyond the policy's bounds (policy.yaml:3: "
             "bounds.models is [openai/*, local/x])");
  BOOST_TEST(messages(policy, {.task = task, .asks_model = false}) == "");  // a recording
  // A task that says nothing of its model has the default, and that is bounded too.
  task.places.clear();
  BOOST_TEST(
      messages(parse("bounds: {models: []}"), {.task = task}) ==
      "task: model.name: the model azure/gpt-5 is beyond the policy's bounds (policy.yaml:2: "
      "bounds.models is [])");
}

BOOST_AUTO_TEST_CASE(a_function_runs_a_program_that_the_policy_names) {
  Task task;
  task.functions = {
      {.name = "todos", .run = {"./tools/todo.py", "{{path}}"}, .place = "functions.json:2:3"}};

  BOOST_TEST(messages(Policy(), {.task = task}) ==
             "functions.json:2:3: error: the program ./tools/todo.py of the function todos is "
             "beyond the policy's bounds (bounds.mcp (the default) is []); to allow it, the policy "
             "says bounds: {mcp: ['./tools/todo.py']}");
  BOOST_TEST(messages(parse("bounds: {mcp: ['./tools/*.py']}"), {.task = task}) == "");
}

BOOST_AUTO_TEST_CASE(a_server_is_a_program_or_an_address_that_the_policy_names) {
  Task task;
  task.mcp = {{.name = "docs", .command = {"node", "docs.js"}, .place = "task.yaml:5:5"}};
  const std::vector<McpHostUse> hosts = {
      {.server = "issues", .place = "task.yaml:6:5", .address = "https://node.example"}};
  const BoundsRequest request{.task = task, .mcp_hosts = hosts};

  // What is meant for the one lets nothing of the other kind in.
  BOOST_TEST(
      messages(parse("bounds: {mcp: ['node*']}"), request) ==
      "task.yaml:6:5: error: the address of the MCP server issues is beyond the policy's "
      "bounds (policy.yaml:2: bounds.mcp is [node*], without https://node.example); to allow it, add "
      "'https://node.example' to bounds.mcp in policy.yaml:2");
  BOOST_TEST(messages(parse("bounds: {mcp: ['https://node.example']}"), request) ==
             "task.yaml:5:5: error: the program node of the MCP server docs is beyond the policy's "
             "bounds (policy.yaml:2: bounds.mcp is [https://node.example]); to allow it, add "
             "'node docs.js' to bounds.mcp in policy.yaml:2");
  BOOST_TEST(messages(parse("bounds: {mcp: [node, 'https://*.node.example']}"), request) != "");
  BOOST_TEST(messages(parse("bounds: {mcp: [node, 'https://node.example']}"), request) == "");
}

BOOST_AUTO_TEST_CASE(what_would_allow_it_fits_the_policy_as_it_is_written) {
  const struct {
    const char* policy;
    const char* list;
    const char* key;
  } rows[] = {
      {"", "the policy says bounds: {model_hosts: ['a:1']}",
       "the policy says bounds: {credentials: {KEY: ['a:1']}}"},
      {"bounds: {models: ['*']}", "add model_hosts: ['a:1'] to bounds in policy.yaml:2",
       "add credentials: {KEY: ['a:1']} to bounds in policy.yaml:2"},
      {"bounds:\n  model_hosts: ['b:2']\n  credentials: {OTHER: [c.d]}",
       "add 'a:1' to bounds.model_hosts in policy.yaml:3",
       "add KEY: ['a:1'] to bounds.credentials in policy.yaml:4"},
      {"bounds:\n  credentials:\n    KEY: [c.d]",
       "add model_hosts: ['a:1'] to bounds in policy.yaml:2",
       "add 'a:1' to bounds.credentials.KEY in policy.yaml:4"},
      // Nobody edits a preset.
      {"extends: auto", "the policy says bounds: {model_hosts: ['a:1']}",
       "the policy says bounds: {credentials: {KEY: ['a:1']}}"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.policy) {
      const Policy policy = parse(row.policy);

      BOOST_TEST(to_allow(policy, "model_hosts", "a:1") ==
                 std::string("; to allow it, ") + row.list);
      BOOST_TEST(to_allow_key(policy, "KEY", "a:1") == std::string("; to allow it, ") + row.key);
    }
}

BOOST_AUTO_TEST_CASE(a_variable_goes_into_a_prompt_only_where_the_policy_says_so) {
  Task task;
  task.vars["a"].environment = "GITHUB_TOKEN";
  task.vars["b"].environment = "ci_secret";
  task.vars["c"].environment = "OPENAI_API_KEY";
  task.vars["d"].environment = "HOME";
  task.vars["e"].environment = "GITHUB_SHA";
  task.vars["f"].default_value = "no variable";
  task.places["vars.a.env"] = "task.yaml:6:12";

  BOOST_TEST(messages(parse("bounds: {vars_env: ['*']}"), {.task = task}) ==
             "task.yaml:6:12: error: the variable GITHUB_TOKEN never goes into a prompt: it may "
             "hold a secret (environment.exclude (the default) is '*TOKEN*' among others)\n"
             "task: vars.b.env: the variable ci_secret never goes into a prompt: it may hold a "
             "secret (environment.exclude (the default) is '*SECRET*' among others)\n"
             "task: vars.c.env: the variable OPENAI_API_KEY never goes into a prompt: it may hold "
             "a secret (environment.exclude (the default) is '*KEY*' among others)");
  const Policy own = parse("bounds: {credentials: {PASS_X: [a.b]}, vars_env: ['*']}");
  task.vars = {{"x", {.environment = "PASS_X"}}};
  BOOST_TEST(messages(own, {.task = task}) ==
             "task: vars.x.env: the variable PASS_X never goes into a prompt: it is a credential "
             "(policy.yaml:2: bounds.credentials is PASS_X)");
  task.vars = {{"d", {.environment = "HOME"}}};
  BOOST_TEST(messages(Policy(), {.task = task}) ==
             "task: vars.d.env: the variable HOME is beyond the policy's bounds (bounds.vars_env "
             "(the default) is [GITHUB_*, CI_*]); to allow it, the policy says bounds: {vars_env: "
             "['GITHUB_*', 'CI_*', 'HOME']}");
  // The operator has given the value: the variable is not read.
  BOOST_TEST(messages(Policy(), {.task = task, .given_variables = {"d"}}) == "");
}

BOOST_AUTO_TEST_CASE(no_policy_lets_a_task_read_what_may_be_a_secret) {
  const struct {
    const char* policy;
    const char* name;
    bool may;
  } rows[] = {
      {"", "GITHUB_REF", true},
      {"", "github_ref", false},
      {"", "HOME", false},
      {"", "GITHUB_TOKEN", false},
      {"bounds: {vars_env: [MY_TOKEN]}", "MY_TOKEN", false},
      {"bounds: {vars_env: ['*']}\nenvironment: {include: [MY_TOKEN]}", "MY_TOKEN", false},
      {"bounds: {vars_env: ['*']}", "HOME", true},
      {"bounds: {vars_env: ['*']}\nenvironment: {exclude: [H*]}", "HOME", false},
      {"bounds: {vars_env: [], credentials: {HOME: [a.b]}}", "HOME", false},
      {"bounds: {vars_env: ['*'], credentials: {HOME: [a.b]}}", "HOME", false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.policy << " " << row.name) {
      const Policy policy = parse(row.policy);
      BOOST_TEST(TaskGate(policy, {}).prompt_variable(row.name).empty() == row.may);
    }
}

BOOST_AUTO_TEST_CASE(a_cost_that_is_asked_for_is_bounded_and_the_default_gives_way) {
  const struct {
    const char* name;
    const char* policy;
    std::optional<double> task;
    std::optional<double> flag;  ///< --max-cost
    const char* beyond;
    double in_force;
  } rows[] = {
      {"nothing says anything", "", {}, {}, "", 5},
      {"within the default bound", "", 20, {}, "", 20},
      {"above the default bound",
       "",
       20.5,
       {},
       "task.yaml:9:10: error: a cost of 20.5 USD is beyond the policy's bounds "
       "(bounds.budget.cost (the default) is 20 USD)",
       20.5},
      {"within the bound", "bounds: {budget: {cost: 2}}", 1.5, {}, "", 1.5},
      {"at the bound", "bounds: {budget: {cost: 2}}", 2, {}, "", 2},
      {"the default is above it", "bounds: {budget: {cost: 2}}", {}, {}, "", 2},
      {"the default is below it", "bounds: {budget: {cost: 20}}", {}, {}, "", 5},
      {"the task is above it",
       "bounds: {budget: {cost: 2}}",
       2.5,
       {},
       "task.yaml:9:10: error: a cost of 2.5 USD is beyond the policy's bounds (policy.yaml:2: "
       "bounds.budget.cost is 2 USD)",
       2.5},
      {"a flag is above it",
       "bounds: {budget: {cost: 2}}",
       {},
       3,
       "--max-cost: a cost of 3 USD is beyond the policy's bounds (policy.yaml:2: "
       "bounds.budget.cost is 2 USD)",
       3},
      {"a flag brings the task within it", "bounds: {budget: {cost: 2}}", 2.5, 1, "", 1},
      {"a flag brings the task above it", "bounds: {budget: {cost: 2}}", 1, 2.01,
       "--max-cost: a cost of 2.01 USD is beyond the policy's bounds (policy.yaml:2: "
       "bounds.budget.cost is 2 USD)",
       2.01},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Task task;
      std::map<std::string, std::string> flags;
      if (row.task) {
        task.budget.cost = *row.task;
        task.budget.cost_given = true;
        task.places["budget.cost"] = "task.yaml:9:10";
      }
      if (row.flag) {
        task.budget.cost = *row.flag;
        task.budget.cost_given = true;
        flags["budget.cost"] = "--max-cost";
      }
      const BoundsRequest request{.task = task, .flags = flags};
      const Policy policy = parse(row.policy);
      BOOST_TEST(messages(policy, request) == row.beyond);
      BOOST_TEST(bounded_cost(policy, request) == row.in_force);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_time_that_is_asked_for_is_bounded_and_the_default_gives_way) {
  const Policy policy = parse("bounds: {budget: {time: 10m}}\n");
  Task task;
  task.budget.time = 60min;

  BOOST_TEST(messages(policy, {.task = task}) == "");
  BOOST_TEST((bounded_time(policy, {.task = task}) == 10min));
  task.places["budget.time"] = "task.yaml:9:10";
  BOOST_TEST(messages(policy, {.task = task}) ==
             "task.yaml:9:10: error: a time of 1h is beyond the policy's bounds (policy.yaml:2: "
             "bounds.budget.time is 10m)");
  BOOST_TEST(messages(policy, {.task = task, .flags = {{"budget.time", "--timeout 1h"}}}) ==
             "--timeout 1h: a time of 1h is beyond the policy's bounds (policy.yaml:2: "
             "bounds.budget.time is 10m)");
  task.budget.time = 5min;
  BOOST_TEST(messages(policy, {.task = task}) == "");
  BOOST_TEST((bounded_time(policy, {.task = task}) == 5min));
}

BOOST_AUTO_TEST_CASE(a_key_goes_to_its_hosts_alone) {
  Task task;
  task.places["model.base_url"] = "task.yaml:5:13";
  BoundsRequest request{
      .task = task,
      .keys = {{.variable = "OTHER_KEY", .host = "api.example", .may_go = true},
               {.variable = "OPENAI_API_KEY", .host = "evil.example:443", .may_go = false}}};

  BOOST_TEST(
      messages(Policy(), request) ==
      "task.yaml:5:13: error: OPENAI_API_KEY may not go to evil.example:443 "
      "(bounds.credentials (the default) is OPENAI_API_KEY: [api.openai.com]; to use it anyway, "
      "name it with --base-url or SORTIE_BASE_URL)");
  request.keys[1].of_fallback = true;
  task.places["model.fallback"] = "task.yaml:7:3";
  BOOST_TEST(messages(Policy(), request) ==
             "task.yaml:7:3: error: OPENAI_API_KEY may not go to evil.example:443 "
             "(bounds.credentials (the default) is OPENAI_API_KEY: [api.openai.com])");
  request.keys[1].of_fallback = false;
  BOOST_TEST(
      messages(parse("bounds: {credentials: {}}"), request) ==
      "task: model.api_key_env: OPENAI_API_KEY may not go to evil.example:443 "
      "(policy.yaml:2: bounds.credentials is without OPENAI_API_KEY; to allow it, add OPENAI_API_KEY: "
      "['evil.example:443'] to bounds.credentials in policy.yaml:2)");
}

BOOST_AUTO_TEST_CASE(tokens_that_are_asked_for_are_bounded_and_the_default_gives_way) {
  const Policy policy = parse("bounds: {budget: {tokens: 1000}}\n");
  Task task;

  BOOST_TEST(messages(policy, {.task = task}) == "");
  BOOST_TEST(bounded_tokens(policy, {.task = task}) == 1000);
  BOOST_TEST(bounded_tokens(Policy(), {.task = task}) == task.budget.tokens);
  task.places["budget.tokens"] = "task.yaml:9:10";
  task.budget.tokens = 1001;
  BOOST_TEST(messages(policy, {.task = task}) ==
             "task.yaml:9:10: error: 1001 tokens are beyond the policy's bounds (policy.yaml:2: "
             "bounds.budget.tokens is 1000)");
  BOOST_TEST(messages(policy, {.task = task, .flags = {{"budget.tokens", "--max-tokens"}}})
                 .starts_with("--max-tokens: 1001 tokens"));
  task.budget.tokens = 900;
  BOOST_TEST(messages(policy, {.task = task}) == "");
  BOOST_TEST(bounded_tokens(policy, {.task = task}) == 900);
}

BOOST_AUTO_TEST_CASE(where_the_policy_names_a_cost_the_price_has_to_be_known) {
  Task task;
  task.places["model.name"] = "task.yaml:4:9";
  const std::vector<UnpricedModel> unpriced = {{.name = "openai mystery"}};
  const BoundsRequest request{.task = task, .unpriced = unpriced};

  BOOST_TEST(messages(parse("bounds: {budget: {cost: 3}}"), request)
                 .starts_with("task.yaml:4:9: error: the price of the model openai mystery is "
                              "unknown"));
  BOOST_TEST(messages(parse("bounds: {budget: {cost: 3}, prices: true}"), request) == "");
  BOOST_TEST(messages(Policy(), request) == "");  // the default names none
  const BoundsRequest replay{.task = task, .asks_model = false, .unpriced = unpriced};
  BOOST_TEST(messages(parse("bounds: {budget: {cost: 3}}"), replay) == "");
}

BOOST_AUTO_TEST_CASE(a_model_without_a_key_is_on_loopback_or_where_the_policy_says) {
  const struct {
    const char* hosts;
    ModelHost host;
    bool may;
  } rows[] = {
      {"[]", {.host = "127.0.0.1", .port = 11434, .secure = false, .loopback = true}, true},
      {"[]", {.host = "evil.example"}, false},
      {"[a.example]", {.host = "a.example"}, true},
      {"[a.example]", {.host = "a.example", .port = 8443}, false},
      {"[a.example]", {.host = "a.example", .port = 80, .secure = false}, true},
      {"['a.example:8443']", {.host = "a.example", .port = 8443}, true},
      {"['ollama:11434']", {.host = "ollama", .port = 11434, .secure = false}, true},
      {"['ollama:11434']", {.host = "ollama", .port = 80, .secure = false}, false},
      {"['*.a.example']", {.host = "x.a.example"}, true},
      {"['*.a.example']", {.host = "a.example"}, false},
      {"['*.a.example']", {.host = "xa.example"}, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.hosts << " " << row.host.host << ":" << row.host.port) {
      const Policy policy = parse(std::string("bounds: {model_hosts: ") + row.hosts + "}");
      const std::string refusal = TaskGate(policy, {}).keyless_host(row.host);
      BOOST_TEST(refusal.empty() == row.may, refusal);
      if (row.may) continue;
      const Policy opened = suggested(refusal);
      BOOST_TEST(TaskGate(opened, {}).keyless_host(row.host) == "");
    }
  }
  BOOST_CHECK_THROW(parse("bounds: {model_hosts: ['*']}"), InputError);
}

BOOST_AUTO_TEST_CASE(the_line_that_a_refusal_names_allows_what_it_refused) {
  const Policy closed;
  const TaskGate none(closed, {});
  const auto allowed_by = [](const std::string& refusal, const auto& ask) {
    const Policy policy = suggested(refusal);
    BOOST_TEST(ask(TaskGate(policy, {})) == "", refusal);
  };
  allowed_by(none.prompt_variable("ISSUE_BODY"),
             [](const TaskGate& gate) { return gate.prompt_variable("ISSUE_BODY"); });
  allowed_by(none.server_variable("DOCS_LANGUAGE"),
             [](const TaskGate& gate) { return gate.server_variable("DOCS_LANGUAGE"); });
  for (const char* address : {"https://mcp.example", "https://mcp.example:8443"})
    allowed_by(none.server_address(address),
               [&](const TaskGate& gate) { return gate.server_address(address); });
  const std::vector<std::vector<std::string>> programs = {
      {"./tools/todo.py", "--path={{path}}", "x"}, {"npx", "-y", "@a/server"}, {"run", "a b", "c"}};
  for (const auto& argv : programs)
    allowed_by(none.program(argv), [&](const TaskGate& gate) { return gate.program(argv); });
  // A glob of words would read it in another way.
  BOOST_TEST(none.program({"*"}).find("the policy says") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_server_gets_the_variables_that_the_policy_lists) {
  const Policy policy = parse("bounds: {mcp_env: [DOCS_LANGUAGE, NODE_OPTIONS]}");
  const TaskGate gate(policy, {});

  BOOST_TEST(gate.server_variable("DOCS_LANGUAGE") == "");
  for (const char* name : {"OPENSSL_CONF", "npm_config_registry", "PIP_INDEX_URL", "HTTPS_PROXY",
                           "GIT_SSH_COMMAND", "NODE_EXTRA_CA_CERTS", "docs_language"})
    BOOST_TEST(gate.server_variable(name).find("bounds.mcp_env") != std::string::npos, name);
  // Whatever the policy lists.
  for (const char* name : {"NODE_OPTIONS", "LD_PRELOAD", "PATH", "HOME"})
    BOOST_TEST(gate.server_variable(name) == "could make its program run other code", name);
}

BOOST_AUTO_TEST_CASE(all_that_is_beyond_the_bounds_is_said_at_once) {
  const Policy policy = parse("bounds: {models: [a/b], budget: {time: 1m}}");
  Task task;
  task.vars["v"].environment = "HOME";
  task.places["budget.time"] = "task.yaml:1:1";

  BOOST_TEST(beyond_bounds(policy, {.task = task}).size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

// The command line of exec, as far as it needs no run: images, prompt, configuration.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "app/exec/config_values.h"
#include "app/exec/exec_prompt.h"
#include "app/exec/exec_settings.h"
#include "core/base/error.h"
#include "core/task/placeholders.h"

using namespace sortie;

namespace {

using Words = std::vector<std::string>;

std::string shown(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += "[" + word + "]";
  return text;
}

ExecSettings settings_of(const Words& assignments, Words* unknown = nullptr) {
  ConfigValues values;
  for (const std::string& one : assignments) add_assignment(one, values);
  Words others;
  return read_settings(values, unknown == nullptr ? others : *unknown);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_words)

BOOST_AUTO_TEST_CASE(images_are_all_words_up_to_the_next_option) {
  const struct {
    Words given;
    Words apart;
  } rows[] = {
      {{"exec", "look", "-i", "a.png", "b.png"},
       {"exec", "look", "--image", "a.png", "--image", "b.png"}},
      {{"exec", "-i", "a.png", "--json", "look"}, {"exec", "--image", "a.png", "--json", "look"}},
      {{"exec", "resume", "ID", "--image", "a", "--image", "b"},
       {"exec", "resume", "ID", "--image", "a", "--image", "b"}},
      {{"exec", "-i", "a.png,b.png", "-"}, {"exec", "--image", "a.png,b.png", "-"}},
      // A word with a blank, of no file, is the prompt that was meant; behind resume any is.
      {{"exec", "-i", "a.png", "what is it"}, {"exec", "--image", "a.png", "what is it"}},
      {{"exec", "resume", "--last", "-i", "a.png", "why"},
       {"exec", "resume", "--last", "--image", "a.png", "why"}},
      {{"exec", "-i", "a.png", "missing.png"},
       {"exec", "--image", "a.png", "--image", "missing.png"}},
      {{"exec", "-i", "what is it"}, {"exec", "--image", "what is it"}},
      {{"exec", "-i", "a.png", "--", "-i", "b"}, {"exec", "--image", "a.png", "--", "-i", "b"}},
      {{"exec", "-i"}, {"exec", "-i"}},
  };
  for (const auto& row : rows)
    BOOST_TEST(shown(with_images_apart(row.given)) == shown(row.apart), shown(row.given));
}

BOOST_AUTO_TEST_CASE(the_prompt_is_the_argument_and_what_is_piped) {
  const struct {
    std::optional<std::string> argument;
    std::string piped;
    std::string prompt;
  } rows[] = {
      {"do it", "", "do it"},
      {"do it", " \n", "do it"},
      {"do it", "a\nb\n", "do it\n\n<stdin>\na\nb\n</stdin>"},
      {"do it", "a", "do it\n\n<stdin>\na\n</stdin>"},
      {std::nullopt, "do it\n", "do it\n"},
      {"-", "do it", "do it"},
  };
  for (const auto& row : rows)
    BOOST_TEST(compose_prompt(row.argument, {.text = row.piped}) == row.prompt, row.prompt);
  for (const auto& argument : {std::optional<std::string>(), std::optional<std::string>("-"),
                               std::optional<std::string>(" \n")})
    BOOST_CHECK_THROW(compose_prompt(argument, {}), InputError);
  BOOST_CHECK_THROW(compose_prompt("do it", {.problem = "stdin: not UTF-8"}), InputError);
}

BOOST_AUTO_TEST_CASE(nothing_in_a_prompt_is_a_placeholder) {
  for (const std::string prompt : {"a {{b}} c", "{{", "\\{{x}}", "${{ github.sha }}", "{{{x}}}",
                                   "no braces", "{{file:/etc/passwd}}", "a }} b", ""}) {
    std::string read;
    for (const PromptPart& part : split_prompt(as_literal_prompt(prompt))) {
      BOOST_TEST((part.kind == PromptPart::Kind::literal), prompt);
      read += part.text;
    }
    BOOST_TEST(read == prompt);
  }
}

BOOST_AUTO_TEST_CASE(values_are_toml_and_else_strings) {
  const struct {
    const char* assignment;
    const char* key;
    Json value;
  } rows[] = {
      {"model=\"o3\"", "model", "o3"},
      {"model=o3", "model", "o3"},
      {"model='gpt-5'", "model", "gpt-5"},
      {" model = gpt 5 ", "model", "gpt 5"},
      {"a.b=true", "a.b", true},
      {"a=3", "a", 3},
      {"a=[\"x\", \"y\"]", "a", Json::strings({"x", "y"})},
      {"a={b={c=1}}", "a.b.c", 1},
      {"a=https://x/v1?b=c", "a", "https://x/v1?b=c"},
      {"a=", "a", ""},
      {"a=1\nb=2", "a", "1\nb=2"},
  };
  for (const auto& row : rows) {
    ConfigValues values;
    add_assignment(row.assignment, values);
    BOOST_TEST_REQUIRE(values.count(row.key) == 1u, row.assignment);
    BOOST_TEST((values.at(row.key) == row.value), row.assignment);
  }
  ConfigValues values;
  BOOST_CHECK_THROW(add_assignment("model", values), InputError);
  BOOST_CHECK_THROW(add_assignment("=x", values), InputError);
}

BOOST_AUTO_TEST_CASE(the_last_value_of_a_key_counts_and_replaces_its_table) {
  ConfigValues values;
  for (const char* one : {"a={b=1,c=2}", "a.b=3", "a={d=4}"}) add_assignment(one, values);
  BOOST_TEST(values.size() == 1u);
  BOOST_TEST((values.at("a.d") == Json(4)));
}

BOOST_AUTO_TEST_CASE(known_keys_become_settings_and_others_are_named) {
  Words unknown;
  const ExecSettings settings =
      settings_of({"model=m", "model_provider=x", "model_providers.x.base_url=\"http://h/v1\"",
                   "model_providers.x.http_headers={A=\"b\"}", "model_reasoning_effort=xhigh",
                   "sandbox_workspace_write.network_access=true", "web_search=live",
                   "mcp_servers.s.args=[\"a\"]", "mcp_servers.s.command=prog",
                   "mcp_servers.s.tool_timeout_sec=1.5", "shell_environment_policy.set={A=\"1\"}",
                   "approval_policy=never", "tui.theme=dark"},
                  &unknown);
  BOOST_TEST(settings.model == "m");
  BOOST_TEST(settings.providers.at("x").base_url == "http://h/v1");
  BOOST_TEST(settings.providers.at("x").headers.at("A") == "b");
  BOOST_TEST((settings.effort == Effort::xhigh));
  BOOST_TEST((settings.network && settings.web_search));
  BOOST_TEST(shown(settings.mcp.at("s").command) == "[prog][a]");
  BOOST_TEST(settings.mcp.at("s").tool_timeout.count() == 1500);
  BOOST_TEST(settings.set.at("A") == "1");
  BOOST_TEST(shown(unknown) == "[tui.theme]");
}

BOOST_AUTO_TEST_CASE(an_effort_is_one_of_those_of_codex) {
  for (const char* word : {"none", "minimal", "low", "medium", "high", "xhigh", "max"})
    BOOST_TEST(name_of(*settings_of({std::string("model_reasoning_effort=") + word}).effort) ==
               word);
  BOOST_TEST((settings_of({"model_reasoning_effort=\"ultra\""}).effort == Effort::max));
  for (const char* word : {"persistent", "highest", "", "3"})
    BOOST_CHECK_EXCEPTION(
        settings_of({std::string("model_reasoning_effort=") + word}), InputError,
        [](const InputError& error) {
          return std::string(error.what()).starts_with("-c model_reasoning_effort: expected ");
        });
}

BOOST_AUTO_TEST_CASE(each_key_of_a_provider_is_taken_or_refused_with_what_to_write) {
  Words unknown;
  const ExecSettings settings = settings_of(
      {"model_providers.x={name=\"X\", base_url=\"http://h/v1\", env_key=\"K\", wire_api=\"chat\","
       "query_params={api-version=\"1\", team=\"a b\"}, http_headers={X-Team=\"ci\"},"
       "env_http_headers={X-Org=\"ORG\"}, request_max_retries=1, stream_max_retries=200,"
       "stream_idle_timeout_ms=1500, supports_websockets=true, requires_openai_auth=false,"
       "experimental_bearer_token=\"t\", env_key_instructions=\"see the wiki\"}"},
      &unknown);
  const ConfiguredProvider& x = settings.providers.at("x");
  BOOST_TEST(shown(unknown) == "");
  BOOST_TEST(x.query.at("team") == "a b");
  BOOST_TEST(x.headers.at("X-Team") == "ci");
  BOOST_TEST(x.variable_headers.at("X-Org") == "ORG");
  BOOST_TEST(x.bearer_token == "t");
  BOOST_TEST(x.retries.value_or(-1) == 100);
  BOOST_TEST(x.idle_timeout->count() == 1500);
  const struct {
    const char* given;
    const char* says;
  } rows[] = {
      {"model_providers.x.auth.command=get-token", "env_key=VARIABLE"},
      {"model_providers.x.aws.profile=p", "env_key=VARIABLE"},
      {"model_providers.x.http_headers.Host=h", "sortie itself writes this header"},
      {"model_providers.x.env_http_headers.Content-Length=L", "sortie itself writes this header"},
      {"model_providers.x.http_headers={\"a b\"=\"c\"}", "not the name of an HTTP header"},
      {"model_providers.x.http_headers.A=\"b\\r\\nc: d\"", "control characters"},
      {"model_providers.x.query_params.a=1", "expected a string"},
      {"model_providers.x.stream_idle_timeout_ms=-1", "milliseconds"},
      {"model_providers.x.wire_api=soap", "one of responses, chat"},
  };
  for (const auto& row : rows)
    BOOST_CHECK_EXCEPTION(settings_of({row.given}), InputError, [&row](const InputError& error) {
      return std::string(error.what()).find(row.says) != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(values_of_another_kind_are_refused) {
  for (const char* one :
       {"model=3", "model_reasoning_effort=huge", "sandbox_mode=none",
        "sandbox_workspace_write.network_access=\"maybe\"", "mcp_servers.s.enabled_tools=x",
        "mcp_servers.s.env={A=\"b\"}", "project_doc_max_bytes=-1", "web_search=yes"})
    BOOST_CHECK_THROW(settings_of({one}), InputError);
}

BOOST_AUTO_TEST_CASE(a_file_of_toml_is_read_with_the_place_of_its_error) {
  const ConfigValues values = config_of("[profiles.ci]\nmodel = \"m\"\n", "config.toml");
  BOOST_TEST((values.at("profiles.ci.model") == Json("m")));
  BOOST_CHECK_EXCEPTION(config_of("a = 1\nb = = 2\n", "config.toml"), InputError,
                        [](const InputError& error) {
                          return std::string(error.what()).starts_with("config.toml:2:");
                        });
}

BOOST_AUTO_TEST_SUITE_END()

#include "app/setup/run_secrets.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

/// Variables of this process for as long as it lives.
class Variables {
 public:
  explicit Variables(const Environment& variables) : names_(variables) {
    for (const auto& [name, value] : names_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Variables(const Variables&) = delete;
  ~Variables() {
    for (const auto& [name, value] : names_) ::unsetenv(name.c_str());
  }

 private:
  Environment names_;
};

struct NoticeList : Notices {
  std::vector<std::string> lines;
  void say(const std::string& line) override { lines.push_back(line); }
  void warn(const std::string& line) override { lines.push_back(line); }
};

constexpr const char* kKey = "sk-test-5f0c2a7d9e1b4c6f";

RunInputs inputs_in(const test::TemporaryFolder& folder) {
  RunInputs inputs;
  inputs.workspace = folder.path();
  inputs.task.model.provider = "openai";
  inputs.task.model.name = "gpt-5";
  return inputs;
}

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_secrets)

BOOST_AUTO_TEST_CASE(a_key_is_known_and_gone_from_the_environment) {
  const Variables variables(Environment{{"OPENAI_API_KEY", kKey}});
  const test::TemporaryFolder folder;
  const RunInputs inputs = inputs_in(folder);
  const RunOptions options;
  NoticeList notices;
  RunSecrets secrets(inputs, options);

  secrets.take_credentials(SandboxProfile{}, notices);
  secrets.collect(std::vector<std::filesystem::path>{});
  secrets.learn();

  BOOST_TEST(secrets.redactor().find(std::string("a ") + kKey) == "OPENAI_API_KEY");
  BOOST_REQUIRE_EQUAL(secrets.keys().keys.size(), 1u);
  BOOST_TEST(secrets.keys().keys[0].value.value_or("") == kKey);
  BOOST_TEST(has(secrets.kept_from_commands(), kKey));
  BOOST_TEST(::getenv("OPENAI_API_KEY") == nullptr);
}

BOOST_AUTO_TEST_CASE(commands_inherit_no_key_whatever_its_variable_is_called) {
  const Variables variables(
      {{"MY_WORD", kKey}, {"MY_TOKEN_OF_TOOLS", "t"}, {"EDITOR_OF_MINE", "ed"}});
  const test::TemporaryFolder folder;
  RunInputs inputs = inputs_in(folder);
  inputs.task.model.api_key_env = "MY_WORD";
  inputs.task.mcp.push_back({.name = "docs", .bearer_token_env = "MY_TOKEN_OF_TOOLS"});
  const RunOptions options;

  const RunSecrets secrets(inputs, options);

  const Environment commands = secrets.for_commands();
  BOOST_TEST(commands.count("MY_WORD") == 0u);
  BOOST_TEST(commands.count("MY_TOKEN_OF_TOOLS") == 0u);
  BOOST_TEST(commands.at("EDITOR_OF_MINE") == "ed");
  BOOST_TEST(secrets.own().count("MY_TOKEN_OF_TOOLS") == 1u);
}

BOOST_AUTO_TEST_CASE(
    credential_variables_are_secrets_and_erased_but_what_commands_are_given_is_not_looked_for) {
  const Variables variables(Environment{{"DEPLOY_TOKEN", "tok-93h2k8s1m4"},
                                        {"NPM_TOKEN", "tok-given-77a1c2"},
                                        {"MIRROR_OF_MINE", "https://me:pass-w0rd-77@example.com/"},
                                        {"SHORT_TOKEN", "abc"}});
  const test::TemporaryFolder folder;
  RunInputs inputs = inputs_in(folder);
  inputs.policy.environment_include = {"NPM_TOKEN"};
  const RunOptions options;
  RunSecrets secrets(inputs, options);

  secrets.collect(std::vector<std::filesystem::path>{});
  secrets.learn();

  const Redactor& redactor = secrets.redactor();
  BOOST_TEST(redactor.find("tok-93h2k8s1m4") == "DEPLOY_TOKEN");
  BOOST_TEST(redactor.find("tok-given-77a1c2") == "NPM_TOKEN");
  BOOST_TEST(redactor.find("pass-w0rd-77") != "");
  BOOST_TEST(has(secrets.kept_from_commands(), "tok-93h2k8s1m4"));
  BOOST_TEST(!has(secrets.kept_from_commands(), "tok-given-77a1c2"));
  BOOST_TEST(has(secrets.not_searched_for(), "SHORT_TOKEN"));
  for (const char* name : {"DEPLOY_TOKEN", "NPM_TOKEN", "MIRROR_OF_MINE"})
    BOOST_TEST(::getenv(name) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_value_has_the_name_of_the_key_that_it_is_before_others) {
  const Variables variables(Environment{{"A_TOKEN", kKey}, {"OPENAI_API_KEY", kKey}});
  const test::TemporaryFolder folder;
  const RunInputs inputs = inputs_in(folder);
  const RunOptions options;
  NoticeList notices;
  RunSecrets secrets(inputs, options);

  secrets.learn_environment();

  BOOST_TEST(secrets.redactor().find(std::string("a ") + kKey) == "OPENAI_API_KEY");
  BOOST_TEST(::getenv("A_TOKEN") != nullptr);  // erased once all are collected
  secrets.take_credentials(SandboxProfile{}, notices);
  secrets.collect(std::vector<std::filesystem::path>{});
  secrets.learn();
  BOOST_TEST(secrets.redactor().find(std::string("a ") + kKey) == "OPENAI_API_KEY");
  BOOST_TEST(::getenv("A_TOKEN") == nullptr);
}

BOOST_AUTO_TEST_CASE(only_the_first_call_collects_secrets) {
  const test::TemporaryFolder folder;
  const RunInputs inputs = inputs_in(folder);
  const RunOptions options;
  RunSecrets secrets(inputs, options);
  secrets.collect(std::vector<std::filesystem::path>{});
  secrets.learn();
  const Variables late(Environment{{"LATE_TOKEN", "tok-93h2k8s1m4"}});

  secrets.collect(std::nullopt);
  secrets.learn();

  BOOST_TEST(secrets.redactor().find("tok-93h2k8s1m4") == "");
  BOOST_TEST(::getenv("LATE_TOKEN") != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

#include "policies/environment/environment.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace sortie {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kExclude = {"*KEY*", "*TOKEN*", "*SECRET*"};

Policy policy_with(const std::string& inherit) {
  Policy policy;
  policy.environment_inherit = value_named<InheritedVariables>(inherit).value();
  policy.environment_exclude = kExclude;
  return policy;
}

EnvironmentPlaces places() { return {.home = "/home/run", .path = {"/usr/local/bin", "/usr/bin"}}; }

std::string value_of(const Environment& environment, const std::string& name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "(none)" : it->second;
}

BOOST_AUTO_TEST_CASE(each_variable_is_let_in_or_held_back) {
  const Environment own = {{"USER", "ada"},
                           {"LC_ALL", "de_DE.UTF-8"},
                           {"CARGO_HOME", "/cargo"},
                           {"API_KEY", "k"},
                           {"my_secret_place", "s"},
                           {"LD_PRELOAD", "/evil.so"},
                           {"BASH_ENV", "/evil.sh"},
                           {"BASH_FUNC_ls%%", "() { id; }"},
                           {"GIT_DIR", "/elsewhere"},
                           {"GIT_AUTHOR_NAME", "Ada"},
                           {"DEPLOY", "d"}};
  const struct {
    const char* name;
    std::string inherit;
    std::vector<std::string> include;
    std::string variable;
    std::string value;
  } rows[] = {
      {"core has USER", "core", {}, "USER", "ada"},
      {"core has LC_*", "core", {}, "LC_ALL", "de_DE.UTF-8"},
      {"core has nothing else", "core", {}, "CARGO_HOME", "(none)"},
      {"none has not even core", "none", {}, "USER", "(none)"},
      {"included by name", "none", {"CARGO_HOME"}, "CARGO_HOME", "/cargo"},
      {"included by glob in other letters", "none", {"cargo_*"}, "CARGO_HOME", "/cargo"},
      {"all has it", "all", {}, "CARGO_HOME", "/cargo"},
      {"all holds keys back", "all", {}, "API_KEY", "(none)"},
      {"exclusion ignores case", "all", {}, "my_secret_place", "(none)"},
      {"a glob lifts no exclusion", "all", {"API_*"}, "API_KEY", "(none)"},
      {"its own name does", "core", {"API_KEY"}, "API_KEY", "k"},
      {"a credential variable by another name", "all", {}, "DEPLOY", "(none)"},
      {"never the loader's", "all", {"LD_PRELOAD"}, "LD_PRELOAD", "(none)"},
      {"never a shell's start file", "all", {"BASH_ENV"}, "BASH_ENV", "(none)"},
      {"never an exported function", "all", {"*"}, "BASH_FUNC_ls%%", "(none)"},
      {"never git's places", "all", {"GIT_DIR"}, "GIT_DIR", "(none)"},
      {"who commits is no place", "all", {}, "GIT_AUTHOR_NAME", "Ada"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Policy policy = policy_with(row.inherit);
      policy.environment_include = row.include;
      policy.credentials = {{"DEPLOY", {"deploy.example.com"}}};
      BOOST_TEST(value_of(command_environment(policy, own, places()), row.variable) == row.value);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_environment_has_the_programs_own_settings_alone) {
  const Environment expected = {{"HOME", "/home/run"},
                                {"TMPDIR", "/tmp"},
                                {"PATH", "/usr/local/bin:/usr/bin"},
                                {"PAGER", "cat"},
                                {"TERM", "dumb"},
                                {"NO_COLOR", "1"},
                                {"CI", "true"},
                                {"DEBIAN_FRONTEND", "noninteractive"},
                                {"LANG", "C.UTF-8"},
                                {"LSAN_OPTIONS", "detect_leaks=0"},
                                {"GIT_PAGER", "cat"},
                                {"GIT_TERMINAL_PROMPT", "0"},
                                {"GIT_OPTIONAL_LOCKS", "0"},
                                {"GIT_CONFIG_COUNT", "1"},
                                {"GIT_CONFIG_KEY_0", "safe.directory"},
                                {"GIT_CONFIG_VALUE_0", "*"}};

  const Environment environment = command_environment(policy_with("none"), {}, places());

  BOOST_TEST((environment == expected));
}

BOOST_AUTO_TEST_CASE(git_that_only_reads_has_one_repository_and_runs_nothing_of_it) {
  const Environment expected = {{"GIT_DIR", "/w/.git"},
                                {"GIT_WORK_TREE", "/w"},
                                {"GIT_NO_LAZY_FETCH", "1"},
                                {"HOME", "/nonexistent"},
                                {"GIT_PAGER", "cat"},
                                {"GIT_TERMINAL_PROMPT", "0"},
                                {"GIT_ATTR_NOSYSTEM", "1"},
                                {"GIT_CONFIG_NOSYSTEM", "1"},
                                {"GIT_CONFIG_GLOBAL", "/dev/null"},
                                {"GIT_OPTIONAL_LOCKS", "0"},
                                {"GIT_CONFIG_COUNT", "6"},
                                {"GIT_CONFIG_KEY_0", "safe.directory"},
                                {"GIT_CONFIG_VALUE_0", "*"},
                                {"GIT_CONFIG_KEY_1", "core.hooksPath"},
                                {"GIT_CONFIG_VALUE_1", "/dev/null"},
                                {"GIT_CONFIG_KEY_2", "core.fsmonitor"},
                                {"GIT_CONFIG_VALUE_2", "false"},
                                {"GIT_CONFIG_KEY_3", "core.pager"},
                                {"GIT_CONFIG_VALUE_3", "cat"},
                                {"GIT_CONFIG_KEY_4", "diff.ignoreSubmodules"},
                                {"GIT_CONFIG_VALUE_4", "all"},
                                {"GIT_CONFIG_KEY_5", "filter.x.clean"},
                                {"GIT_CONFIG_VALUE_5", ""}};
  BOOST_TEST((one_repository("/w", {{"filter.x.clean", ""}}) == expected));
}

BOOST_AUTO_TEST_CASE(what_the_policy_sets_wins_but_for_the_path) {
  Policy policy = policy_with("core");
  policy.environment_set = {{"CI", "yes"},         {"TERM", "xterm"},
                            {"BASH_ENV", "/x"},    {"PATH", "/workspace/bin"},
                            {"GIT_PAGER", "less"}, {"OWN", "1"}};

  const Environment environment =
      command_environment(policy, {{"TERM", "vt100"}, {"HOME", "/root"}}, places());

  BOOST_TEST(value_of(environment, "CI") == "yes");
  BOOST_TEST(value_of(environment, "TERM") == "xterm");
  BOOST_TEST(value_of(environment, "OWN") == "1");
  BOOST_TEST(value_of(environment, "HOME") == "/home/run");
  BOOST_TEST(value_of(environment, "BASH_ENV") == "(none)");
  BOOST_TEST(value_of(environment, "PATH") == "/usr/local/bin:/usr/bin");
  BOOST_TEST(value_of(environment, "GIT_PAGER") == "less");
}

BOOST_AUTO_TEST_CASE(secrets_are_all_that_exclude_matches_and_all_credentials) {
  Policy policy = policy_with("core");
  policy.environment_include = {"API_KEY"};
  policy.credentials = {{"DEPLOY", {"deploy.example.com"}}};
  const Environment own = {{"API_KEY", "one"},
                           {"DEPLOY", "two"},
                           {"EMPTY_TOKEN", ""},
                           {"USER", "ada"},
                           {"my_token", "three"}};

  const std::vector<Secret> secrets = environment_secrets(policy, own);

  std::vector<std::string> found;
  for (const Secret& secret : secrets) found.push_back(secret.name + "=" + secret.value);
  const std::vector<std::string> expected = {"API_KEY=one", "DEPLOY=two", "my_token=three"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
}

}  // namespace
}  // namespace sortie

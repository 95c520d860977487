#include "policies/environment/known_secrets.h"

#include <boost/test/unit_test.hpp>

#include <set>

using namespace sortie;

namespace {

std::set<std::string> looked_for(const Environment& own, const Policy& policy = {}) {
  std::set<std::string> found;
  for (const Secret& secret : known_secrets(policy, own).values)
    found.insert(secret.name + "=" + secret.value);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(known_secret_values)

BOOST_AUTO_TEST_CASE(values_that_would_shred_the_output_are_left_out_and_said) {
  const struct {
    const char* name;
    std::string value;
    bool looked_for;
  } rows[] = {
      {"short", "abc", false},
      {"a flag", "true", false},
      {"a number", "1048576", false},
      {"a long number", "12345678", true},
      {"a word", "banana", false},
      {"a word in capitals", "ENABLED", false},
      {"a word with a digit", "hunter2", true},
      {"a long word", "supersecret", true},
      {"a usual long word", "localhost", false},
      {"the user's name", "ada.lovelace", false},
      {"a path that exists", "/usr/bin", false},
      {"a path that does not", "/run/no/such/file", true},
      {"blanks around", "  s3cr3t-value \n", true},
      {"a key", "0123456789abcdef", true},
      {"a local server's key", "ollama", false},
      {"a long local server's key", "sk-no-key-required", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const KnownSecrets known =
          known_secrets({}, {{"MY_TOKEN", row.value}, {"USER", "ada.lovelace"}});

      BOOST_TEST(known.values.size() == (row.looked_for ? 1 : 0));
      BOOST_TEST(known.left_out.size() == (row.looked_for ? 0 : 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_names_under_which_ci_systems_and_services_hand_out_secrets_are_known) {
  for (const char* name : {"CI_JOB_JWT", "CI_JOB_JWT_V2", "GITHUB_PAT", "PAT", "DB_PASS", "PASS",
                           "MYSQL_PWD", "DOCKER_AUTH_CONFIG", "SSH_PRIVATE_PEM", "PRIVATE_PEM",
                           "npm_config__auth", "GPG_PASSPHRASE", "AzureWebJobsConnectionString",
                           "APP_CONNECTION_STRING", "DB_PASSWD", "NPM_TOKEN"})
    BOOST_TEST(looked_for({{name, "s3cret-v4lue"}}).size() == 1, name);
  for (const char* name : {"GOPRIVATE", "PATH", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "PATTERN",
                           "BYPASS_CACHE", "COMPASS", "AUTHOR", "CI_COMMIT_AUTHOR"})
    BOOST_TEST(looked_for({{name, "s3cret-v4lue"}}).empty(), name);
}

BOOST_AUTO_TEST_CASE(a_credential_is_judged_as_any_other_value) {
  Policy policy;
  policy.credentials["MY_PLACE"] = {};

  BOOST_TEST(looked_for({{"MY_PLACE", "ollama"}}, policy) == std::set<std::string>(),
             boost::test_tools::per_element());
  BOOST_TEST(looked_for({{"MY_PLACE", "sk-0123456789"}}, policy) ==
                 std::set<std::string>{"MY_PLACE=sk-0123456789"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(keys_of_gits_configuration_in_the_environment_are_no_secrets) {
  const KnownSecrets known = known_secrets({}, {{"GIT_CONFIG_COUNT", "1"},
                                                {"GIT_CONFIG_KEY_0", "url.git@host:.insteadOf"},
                                                {"GIT_CONFIG_VALUE_0", "https://host/"}});

  BOOST_TEST(known.values.empty());
  BOOST_TEST(known.left_out.empty());
}

BOOST_AUTO_TEST_CASE(passwords_in_addresses_are_secrets_of_any_variable) {
  const std::set<std::string> expected = {"DATABASE_URL=pg-s3cret", "https_proxy=pr%40xy-pw",
                                          "https_proxy=pr@xy-pw"};
  BOOST_TEST(looked_for({{"https_proxy", "http://ada:pr%40xy-pw@proxy:3128"},
                         {"DATABASE_URL", "postgres://app:pg-s3cret@db:5432/app"},
                         {"HOMEPAGE", "https://example.com/"}}) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lines_and_members_of_a_value_are_secrets_too) {
  const std::string line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
  const std::string pem = "-----BEGIN X-----\n" + line + "\n-----END X-----";
  const std::string json =
      R"({"type":"service_account","project_id":"my-project-of-long-name","private_key":"s3cret-k3y"})";

  BOOST_TEST((looked_for({{"DEPLOY_KEY", pem}}) ==
              std::set<std::string>{"DEPLOY_KEY=" + pem, "DEPLOY_KEY=" + line}));
  BOOST_TEST((looked_for({{"GCP_CREDENTIALS", json}}) ==
              std::set<std::string>{"GCP_CREDENTIALS=" + json, "GCP_CREDENTIALS=s3cret-k3y"}));
}

BOOST_AUTO_TEST_CASE(
    what_the_policy_sets_under_such_a_name_and_what_its_patterns_match_are_secrets) {
  Policy policy;
  policy.environment_set = {{"APP_TOKEN", "set-by-policy-1"}, {"CI", "true"}};
  policy.redact_patterns = {"ACME-[0-9]{8}"};

  BOOST_TEST((looked_for({{"LICENCE", "x ACME-12345678 y"}}, policy) ==
              std::set<std::string>{"APP_TOKEN=set-by-policy-1", "pattern-1=ACME-12345678"}));
}

BOOST_AUTO_TEST_CASE(a_programs_words_and_variables_have_secrets_by_their_names) {
  const struct {
    std::vector<std::string> argv;
    Environment variables;
    std::set<std::string> found;
  } rows[] = {
      {{"server", "--token", "t0ken-of-mine"}, {}, {"token=t0ken-of-mine"}},
      {{"server", "--api-key=k3y-of-mine"}, {}, {"api-key=k3y-of-mine"}},
      {{"server", "-key", "k3y-of-mine", "x"}, {}, {"key=k3y-of-mine"}},
      {{"curl", "-H", "Authorization: Bearer b3arer-of-mine"}, {}, {"header=b3arer-of-mine"}},
      {{"db", "postgres://ada:p4ss-of-mine@h/x"}, {}, {"argument=p4ss-of-mine"}},
      {{"server"},
       {{"MY_TOKEN", "t0ken-of-mine"}, {"MODE", "m0de-of-mine"}},
       {"MY_TOKEN=t0ken-of-mine"}},
      {{"server"}, {{"URL", "https://ada:p4ss-of-mine@h/"}}, {"URL=p4ss-of-mine"}},
      {{"server", "--token", "--verbose"}, {}, {}},
      {{"server", "--max-tokens", "12345678", "--sort-key", "created_at"}, {}, {}},
      {{"server", "--key", "/usr/bin", "--token-file", "/x/y/t0ken", "Note: n0te-of-mine"}, {}, {}},
  };
  for (const auto& row : rows) {
    std::set<std::string> found;
    for (const Secret& secret : program_secrets({}, {}, row.argv, row.variables))
      found.insert(secret.name + "=" + secret.value);
    BOOST_TEST_CONTEXT(row.argv.back()) { BOOST_TEST((found == row.found)); }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/provider/sign_in/auth_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/provider/sign_in/sign_in.h"
#include "tests/support/sign_in_file.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

template <typename Act>
std::string error_of(Act act) {
  try {
    act();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

AuthFile parsed(const std::string& text) { return parse_auth_file(text, "auth.json"); }

std::int64_t seconds(AuthFile::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(auth_file)

BOOST_AUTO_TEST_CASE(a_sign_in_is_read_with_its_account_plan_and_times) {
  const SignInFile sign_in;

  const AuthFile file = parsed(sign_in.text());

  BOOST_TEST(file.is_sign_in());
  BOOST_TEST(file.tokens.access == sign_in.access_token());
  BOOST_TEST(file.tokens.refresh == sign_in.refresh_token());
  BOOST_TEST(file.tokens.id == sign_in.id_token());
  BOOST_TEST(file.account_id == sign_in.account);
  BOOST_TEST(file.plan == "plus");
  BOOST_TEST(file.api_key == "");
  BOOST_REQUIRE(file.expires.has_value());
  BOOST_TEST(seconds(*file.expires) == 2000000000);
  BOOST_REQUIRE(file.last_refresh.has_value());
  BOOST_TEST(seconds(*file.last_refresh) == 1795144455);
  BOOST_TEST(file.secrets().size() == 4u);
}

BOOST_AUTO_TEST_CASE(the_account_is_the_id_tokens_where_the_file_names_none) {
  BOOST_TEST(parsed(SignInFile{.account_in_file = false}.text()).account_id == "acct-0123456789");
}

BOOST_AUTO_TEST_CASE(a_key_is_taken_from_a_file_without_tokens) {
  const AuthFile file = parsed(R"({"OPENAI_API_KEY":"sk-abc","tokens":null})");

  BOOST_TEST(!file.is_sign_in());
  BOOST_TEST(file.api_key == "sk-abc");
}

BOOST_AUTO_TEST_CASE(times_are_read_in_every_zone_and_else_not_known) {
  const struct {
    const char* text;
    std::int64_t seconds;  ///< -1: not known
  } rows[] = {
      {"2026-11-20T03:14:15Z", 1795144455},
      {"2026-11-20T03:14:15.926535897Z", 1795144455},
      {"2026-11-20T04:14:15+01:00", 1795144455},
      {"2026-11-19T23:44:15.5-03:30", 1795144455},
      {"2026-11-20", -1},
      {"yesterday", -1},
      {"2026-11-20T03:14:15", -1},
      {"2026-11-20T03:14:15 UTC", -1},
      {"9999-11-20T03:14:15Z", -1},
      {"", -1},
  };
  for (const auto& row : rows) {
    const auto time = parsed(SignInFile{.last_refresh = row.text}.text()).last_refresh;
    BOOST_TEST((time ? seconds(*time) : -1) == row.seconds, row.text);
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_file_is_said_without_its_text) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"{\"tokens\":\n {\"access_token\": s3cret}}", "auth.json:2:19: error: "},
      {"{\"tokens\": {\"access_token\": \"s3cret\"", "auth.json:1:37: error: "},
      {"", "auth.json:1:1: error: "},
      {"[\"s3cret\"]", "not a JSON object"},
      {"{\"OPENAI_API_KEY\":null}", "has neither tokens nor an OPENAI_API_KEY"},
      {"{\"tokens\":\"s3cret\"}", "'tokens' is not an object"},
      {"{\"tokens\":{\"refresh_token\":\"s3cret\"}}", "'tokens' has no access_token"},
      {"{\"tokens\":{\"access_token\":\"s3cret\\r\\nX: y\"}}",
       "'access_token' must be a string without"},
      {"{\"tokens\":{\"access_token\":[\"s3cret\"]}}", "'access_token' must be a string without"},
      {"{\"tokens\":{\"access_token\":\"a\",\"account_id\":\"s3cret b\"}}", "'account_id' must be"},
      {"{\"OPENAI_API_KEY\":\"s3cret\\n\"}", "'OPENAI_API_KEY' must be a string without"},
  };
  for (const auto& row : rows) {
    const std::string error = error_of([&] { parsed(row.text); });
    BOOST_TEST(holds(error, row.error), row.text << ": " << error);
    BOOST_TEST(!holds(error, "s3cret"), error);
  }
  const std::string long_token = std::string(kMaxTokenBytes - 5, 'x') + "s3cret";
  const std::string error =
      error_of([&] { parsed("{\"tokens\":{\"access_token\":\"" + long_token + "\"}}"); });
  BOOST_TEST(holds(error, "'access_token' is too long for a token"), error);
  BOOST_TEST(!holds(error, "s3cret"));
}

BOOST_AUTO_TEST_CASE(claims_are_read_and_never_trusted_to_be_more_than_words) {
  const auto token = [](const std::string& claims) { return web_token(parse_json(claims), "s"); };
  const struct {
    std::string token;
    std::string plan;
    std::string account;
  } rows[] = {
      {token(R"({"https://api.openai.com/auth":{"chatgpt_plan_type":"pro",)"
             R"("chatgpt_account_id":"a-1"}})"),
       "pro", "a-1"},
      {token(R"({"https://api.openai.com/auth":{"chatgpt_plan_type":"a\r\nb"}})"), "", ""},
      {token(R"({"https://api.openai.com/auth":"pro","chatgpt_plan_type":"pro"})"), "", ""},
      {token(R"({"exp":1e300})"), "", ""},
      {"no token", "", ""},
      {"a.b", "", ""},
      {"a.!.c", "", ""},
      {"..", "", ""},
      {"", "", ""},
  };
  for (const auto& row : rows) {
    const TokenClaims claims = read_claims(row.token);
    BOOST_TEST(claims.plan == row.plan, row.token);
    BOOST_TEST(claims.account_id == row.account, row.token);
    BOOST_TEST(!claims.expires.has_value());
  }
}

BOOST_AUTO_TEST_CASE(renewed_text_changes_tokens_and_time_and_nothing_else) {
  const SignInFile sign_in;
  const SignInFile next{.name = "second", .last_refresh = "2026-12-24T18:00:00.000Z"};
  const AuthFile file = parsed(sign_in.text());

  const std::string text =
      renewed_auth_file(file, {next.id_token(), next.access_token(), next.refresh_token()},
                        AuthFile::Time(1798135200s));
  const std::string partly =
      renewed_auth_file(file, {"", next.access_token(), ""}, AuthFile::Time(1798135200s));

  BOOST_TEST(text == next.text());
  BOOST_TEST(parsed(partly).tokens.access == next.access_token());
  BOOST_TEST(parsed(partly).tokens.refresh == sign_in.refresh_token());
  BOOST_TEST(parsed(partly).tokens.id == sign_in.id_token());
}

BOOST_AUTO_TEST_CASE(a_file_that_others_may_read_or_write_is_refused) {
  const TemporaryFolder folder;
  const fs::path path = folder / "auth.json";
  const struct {
    unsigned mode;
    const char* error;  ///< "": taken
  } rows[] = {{0600, ""},
              {0400, ""},
              {0700, ""},
              {0640, "others may read it (mode 0640)"},
              {0604, "others may read it (mode 0604)"},
              {0644, "others may read it (mode 0644)"},
              {0620, "others may write it (mode 0620)"},
              {0602, "others may write it (mode 0602)"}};
  for (const auto& row : rows) {
    SignInFile().save(path);
    BOOST_REQUIRE(::chmod(path.c_str(), row.mode) == 0);
    const std::string error = error_of([&] { open_auth_file(path); });
    BOOST_TEST((*row.error == '\0' ? error.empty() : holds(error, row.error)), error);
    if (!error.empty()) BOOST_TEST(holds(error, "chmod 600 "), error);
  }
  BOOST_TEST(holds(error_of([&] { open_auth_file(folder / "none"); }), "No such file"));
  BOOST_TEST(holds(error_of([&] { open_auth_file(folder.path()); }), "not a regular file"));
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  BOOST_TEST(holds(error_of([&] { open_auth_file(folder / "pipe"); }), "not a regular file"));
}

BOOST_AUTO_TEST_CASE(a_summary_has_no_secret_and_the_same_errors) {
  const TemporaryFolder folder;
  const fs::path path = folder / "auth.json";
  SignInFile().save(path);

  const AuthFileSummary summary = summarize_auth_file(path);

  BOOST_TEST(summary.is_sign_in);
  BOOST_TEST(summary.can_refresh);
  BOOST_TEST(summary.can_write);
  BOOST_TEST(summary.plan == "plus");
  BOOST_REQUIRE(summary.expires.has_value());
  BOOST_TEST(seconds(*summary.expires) == 2000000000);
  BOOST_REQUIRE(summary.last_refresh.has_value());
  BOOST_TEST(seconds(*summary.last_refresh) == 1795144455);

  write_file(path, "{\"tokens\": s3cret}", 0600);
  const std::string error = error_of([&] { summarize_auth_file(path); });
  BOOST_TEST(holds(error, "auth.json:1:12: error: "), error);
  BOOST_TEST(holds(error_of([&] { summarize_auth_file(folder / "none"); }), "No such file"));
}

BOOST_AUTO_TEST_CASE(refresh_tokens_go_by_https_or_to_loopback) {
  BOOST_TEST(refresh_address("").text() == "https://auth.openai.com/oauth/token");
  BOOST_TEST(refresh_address("http://127.0.0.1:1/token").text() == "http://127.0.0.1:1/token");
  BOOST_TEST(
      holds(error_of([] { refresh_address("http://auth.example/token"); }), "SORTIE_AUTH_URL"));
  BOOST_TEST(!error_of([] { refresh_address("nonsense"); }).empty());
}

BOOST_AUTO_TEST_SUITE_END()

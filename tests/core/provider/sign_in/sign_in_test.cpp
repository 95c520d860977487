#include "core/provider/sign_in/sign_in.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/model/model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/immutable_folder.h"
#include "tests/support/sign_in_file.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

/// FakeClock begins on 2027-01-15.
const std::string kFresh = "2027-01-01T00:00:00Z";
const std::string kOld = "2026-12-17T00:00:00Z";

FakeHttp::Reply answer(int status, const std::string& body) {
  return {.head = {status, {{"Content-Type", "application/json"}}}, .body = body};
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A sign-in on a file, a fake endpoint and a fake clock.
struct Bench {
  TemporaryFolder folder;
  fs::path path = folder / "auth.json";
  FakeHttp http;
  FakeClock clock;
  SignInFile first{.last_refresh = kFresh};
  SignInFile second{.name = "second", .last_refresh = "2027-01-15T08:00:00.000Z"};
  std::vector<Secret> learned;
  std::vector<std::string> said;
  std::vector<std::string> warned;

  SignIn open() {
    return SignIn(http, clock,
                  {.file = path,
                   .address = refresh_address("https://auth.example/token"),
                   .learn =
                       [this](const std::vector<Secret>& secrets) {
                         learned.insert(learned.end(), secrets.begin(), secrets.end());
                       },
                   .say = [this](const std::string& line) { said.push_back(line); },
                   .warn = [this](const std::string& line) { warned.push_back(line); }},
                  read_auth_file(open_auth_file(path), "auth.json"));
  }
  std::optional<ModelFailure> prepare(SignIn& sign_in) {
    return sign_in.prepare(clock.steady() + 1h, {});
  }
  bool knows(const std::string& value) const {
    return std::any_of(learned.begin(), learned.end(),
                       [&](const Secret& secret) { return secret.value == value; });
  }
};

std::string authorization(const SignIn& sign_in) {
  return std::string(header_value(sign_in.headers(), "Authorization"));
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sign_in)

BOOST_AUTO_TEST_CASE(tokens_are_sent_as_they_are_while_they_are_fresh) {
  Bench bench;
  bench.first.save(bench.path);
  SignIn sign_in = bench.open();

  BOOST_TEST(!bench.prepare(sign_in));

  BOOST_TEST(authorization(sign_in) == "Bearer " + bench.first.access_token());
  BOOST_TEST(header_value(sign_in.headers(), "chatgpt-account-id") == bench.first.account);
  BOOST_TEST(sign_in.plan() == "plus");
  BOOST_TEST(bench.http.bodies.empty());
  BOOST_TEST(read_file(bench.path) == bench.first.text());
}

BOOST_AUTO_TEST_CASE(old_or_refused_tokens_are_refreshed_and_written_back) {
  for (const bool old : {true, false}) {
    BOOST_TEST_CONTEXT((old ? "old" : "refused")) {
      Bench bench;
      if (old) bench.first.last_refresh = kOld;
      bench.first.save(bench.path);
      bench.http.replies = {answer(200, bench.second.answer())};
      SignIn sign_in = bench.open();
      if (!old) BOOST_TEST(sign_in.refused());

      BOOST_TEST(!bench.prepare(sign_in));
      BOOST_TEST(!bench.prepare(sign_in));

      BOOST_TEST(authorization(sign_in) == "Bearer " + bench.second.access_token());
      BOOST_TEST(read_file(bench.path) == bench.second.text() + "\n");
      BOOST_TEST(mode_of(bench.path) == 0600u);
      BOOST_REQUIRE(bench.http.bodies.size() == 1u);
      BOOST_TEST(bench.http.bodies[0] ==
                 R"({"client_id":"app_EMoamEEZ73f0CkXaXp7hrann","grant_type":"refresh_token",)"
                 R"("refresh_token":")" +
                     bench.first.refresh_token() + R"(","scope":"openid profile email"})");
      for (const auto& token :
           {bench.second.access_token(), bench.second.refresh_token(), bench.second.id_token()})
        BOOST_TEST(bench.knows(token));
      BOOST_TEST(bench.warned.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(tokens_whose_age_is_not_known_are_used_until_they_are_refused) {
  Bench bench;
  bench.first.last_refresh = "";
  bench.first.save(bench.path);
  SignIn sign_in = bench.open();

  BOOST_TEST(!bench.prepare(sign_in));
  BOOST_TEST(bench.http.bodies.empty());
}

BOOST_AUTO_TEST_CASE(what_another_process_has_refreshed_is_taken) {
  Bench bench;
  bench.first.save(bench.path);
  SignIn sign_in = bench.open();
  bench.second.save(bench.path);
  sign_in.refused();

  BOOST_TEST(!bench.prepare(sign_in));

  BOOST_TEST(authorization(sign_in) == "Bearer " + bench.second.access_token());
  BOOST_TEST(bench.http.bodies.empty());
  BOOST_TEST(bench.knows(bench.second.access_token()));
  BOOST_TEST(read_file(bench.path) == bench.second.text());
}

BOOST_AUTO_TEST_CASE(a_link_is_followed_and_stays) {
  Bench bench;
  fs::create_directory(bench.folder / "real");
  bench.first.save(bench.folder / "real/auth.json");
  fs::create_symlink("real/auth.json", bench.path);
  bench.http.replies = {answer(200, bench.second.answer())};
  SignIn sign_in = bench.open();
  sign_in.refused();

  BOOST_TEST(!bench.prepare(sign_in));

  BOOST_TEST(fs::is_symlink(bench.path));
  BOOST_TEST(read_file(bench.folder / "real/auth.json") == bench.second.text() + "\n");
}

BOOST_AUTO_TEST_CASE(each_refusal_ends_with_auth_and_what_to_do) {
  const struct {
    int status;
    const char* body;
    const char* words;
  } rows[] = {
      {401, R"({"error":{"code":"refresh_token_expired"}})", "has expired"},
      {400, R"({"error":"refresh_token_reused"})", "was used before"},
      {401, R"({"code":"refresh_token_invalidated"})", "was revoked"},
      {400, R"({"error":"invalid_grant"})", "HTTP status 400 (invalid_grant)"},
      {403, "<html>", "HTTP status 403;"},
      {404, "", "HTTP status 404;"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.body) {
      Bench bench;
      bench.first.save(bench.path);
      bench.http.replies = {answer(row.status, row.body)};
      SignIn sign_in = bench.open();
      sign_in.refused();

      const auto failure = bench.prepare(sign_in);
      const auto again = bench.prepare(sign_in);

      BOOST_REQUIRE(failure.has_value());
      BOOST_TEST(!failure->transient);
      BOOST_TEST((failure->code == ExitCode::auth));
      BOOST_TEST(holds(failure->message, row.words), failure->message);
      BOOST_TEST(holds(failure->message, "sign in again with 'codex login'"), failure->message);
      BOOST_TEST((again && again->message == failure->message));
      BOOST_TEST(bench.http.bodies.size() == 1u);
      BOOST_TEST(read_file(bench.path) == bench.first.text());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_endpoint_in_trouble_is_tried_again) {
  using Ending = HttpResult::Ending;
  const struct {
    const char* name;
    FakeHttp::Reply reply;
  } rows[] = {
      {"no connection", {.result = {Ending::no_connection, "refused"}}},
      {"no answer", {.result = {Ending::first_byte_timeout, "waited"}}},
      {"cut", {.head = {200, {}}, .body = "{", .result = {Ending::cut, "cut"}}},
      {"500", answer(500, "oops")},
      {"429", answer(429, "{}")},
      {"no tokens", answer(200, "{}")},
      {"no JSON", answer(200, "<html>")},
      {"an odd token", answer(200, R"({"access_token":"a\r\nb"})")},
      {"a token beyond all measure",
       answer(200, R"({"access_token":")" + std::string(20'000, 'x') + R"("})")},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.first.save(bench.path);
      bench.http.replies = {row.reply, answer(200, bench.second.answer())};
      SignIn sign_in = bench.open();
      sign_in.refused();

      const auto failure = bench.prepare(sign_in);
      BOOST_REQUIRE(failure.has_value());
      BOOST_TEST(failure->transient);
      BOOST_TEST(holds(failure->message, "could not be refreshed at auth.example"),
                 failure->message);
      BOOST_TEST(read_file(bench.path) == bench.first.text());

      BOOST_TEST(!bench.prepare(sign_in));
      BOOST_TEST(authorization(sign_in) == "Bearer " + bench.second.access_token());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_redirect_of_the_refresh_is_the_end) {
  Bench bench;
  bench.first.save(bench.path);
  bench.http.replies = {{.result = {HttpResult::Ending::redirect_refused, "to evil.example"}}};
  SignIn sign_in = bench.open();
  sign_in.refused();

  const auto failure = bench.prepare(sign_in);

  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(!failure->transient);
  BOOST_TEST((failure->code == ExitCode::auth));
}

BOOST_AUTO_TEST_CASE(what_happens_to_the_file_meanwhile_is_noticed) {
  const struct {
    const char* name;
    std::string text;  ///< "": removed
    const char* words;
  } rows[] = {
      {"removed", "", "No such file"},
      {"signed out", R"({"OPENAI_API_KEY":"sk-abcdef"})", "has been signed out"},
      {"another account", SignInFile{.name = "second", .account = "acct-other"}.text(),
       "another account"},
      {"no JSON", "{", "error: "},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Bench bench;
      bench.first.save(bench.path);
      SignIn sign_in = bench.open();
      if (row.text.empty())
        fs::remove(bench.path);
      else
        write_file(bench.path, row.text, 0600);
      sign_in.refused();

      const auto failure = bench.prepare(sign_in);

      BOOST_REQUIRE(failure.has_value());
      BOOST_TEST(!failure->transient);
      BOOST_TEST((failure->code == ExitCode::auth));
      BOOST_TEST(holds(failure->message, row.words), failure->message);
      BOOST_TEST(bench.http.bodies.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_refresh_token_a_refused_sign_in_is_the_end) {
  Bench bench;
  write_file(bench.path, R"({"tokens":{"access_token":"abcdefgh"},"last_refresh":")" + kOld + "\"}",
             0600);
  SignIn sign_in = bench.open();

  BOOST_TEST(!bench.prepare(sign_in));
  BOOST_TEST(header_value(sign_in.headers(), "chatgpt-account-id") == "");
  sign_in.refused();
  const auto failure = bench.prepare(sign_in);

  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(holds(failure->message, "has no refresh token"), failure->message);
}

BOOST_AUTO_TEST_CASE(tokens_that_cannot_be_written_are_used_and_said_loudly) {
  Bench bench;
  bench.first.save(bench.path);
  const ImmutableFolder folder(bench.folder.path());
  if (!folder.works()) {
    BOOST_TEST_MESSAGE("no folder can be made immutable here: skipped");
    return;
  }
  const SignInFile third{.name = "third"};
  bench.http.replies = {answer(200, bench.second.answer()), answer(200, third.answer())};
  SignIn sign_in = bench.open();

  sign_in.refused();
  BOOST_TEST(!bench.prepare(sign_in));
  BOOST_TEST(authorization(sign_in) == "Bearer " + bench.second.access_token());
  BOOST_REQUIRE(bench.warned.size() == 1u);
  BOOST_TEST(holds(bench.warned[0], "THE SIGN-IN IN IT IS SPENT"), bench.warned[0]);
  BOOST_TEST(read_file(bench.path) == bench.first.text());

  // The file's own tokens are not taken for news.
  sign_in.refused();
  BOOST_TEST(!bench.prepare(sign_in));
  BOOST_TEST(authorization(sign_in) == "Bearer " + third.access_token());
  BOOST_REQUIRE(bench.http.bodies.size() == 2u);
  BOOST_TEST(holds(bench.http.bodies[1], bench.second.refresh_token()));
}

BOOST_AUTO_TEST_CASE(a_lock_is_waited_for_as_long_as_allowed_and_until_a_stop) {
  Bench bench;
  bench.first.save(bench.path);
  SignIn sign_in = bench.open();
  sign_in.refused();
  const Fd other(::open(bench.path.c_str(), O_RDONLY | O_CLOEXEC));
  BOOST_REQUIRE(::flock(other.get(), LOCK_EX) == 0);

  const auto failure = bench.prepare(sign_in);
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->transient);
  BOOST_TEST(holds(failure->message, "holds the lock of "), failure->message);
  BOOST_TEST(bench.http.bodies.empty());

  std::stop_source source;
  source.request_stop();
  BOOST_CHECK_THROW(sign_in.prepare(bench.clock.steady() + 1h, source.get_token()), Stopped);
}

BOOST_AUTO_TEST_SUITE_END()

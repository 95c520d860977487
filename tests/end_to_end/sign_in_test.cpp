#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/end_to_end/sign_in_run.h"
#include "tests/support/immutable_folder.h"
#include "tests/support/sign_in_file.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(sign_in_end_to_end)

BOOST_AUTO_TEST_CASE(a_fresh_sign_in_goes_with_each_request_and_is_left_alone) {
  const SignedRun run;
  run.first.save(run.file());
  const ModelServer model(served(CassetteWriter().shell({"true"}).next().message("done")));

  ProgramStart start = run.start(model, nobody_listens());
  start.environment["OPENAI_API_KEY"] = "sk-of-the-environment-0123456789";
  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  BOOST_REQUIRE(model.requests().size() == 2u);
  for (const auto& request : model.requests()) {
    BOOST_TEST(header_value(request.headers, "Authorization") ==
               "Bearer " + run.first.access_token());
    BOOST_TEST(header_value(request.headers, "chatgpt-account-id") == run.first.account);
    const Json body = parse_json(request.body);
    BOOST_TEST(body.find("max_output_tokens") == nullptr);
    BOOST_TEST(!body["store"].boolean(true));
    BOOST_TEST(holds(write_json(body["include"]), "reasoning.encrypted_content"));
    check_unseen(request.body, run);
  }
  BOOST_TEST(read_file(run.file()) == run.first.text());
}

BOOST_AUTO_TEST_CASE(old_and_refused_tokens_are_refreshed_once_and_written_back) {
  for (const bool old : {true, false}) {
    BOOST_TEST_CONTEXT((old ? "28 days" : "401")) {
      SignedRun run;
      if (old) run.first.last_refresh = kOld;
      run.first.save(run.file());
      auto responses = served(CassetteWriter().shell({"true"}).next().message("done"));
      const ModelServer model(old ? responses : behind(unauthorized(), responses));
      const ModelServer refresh(refreshing(run.second));

      const ProgramEnd end = run_program(run.start(model, refresh_url(refresh)));

      check_end(run, end, 0, "success");
      const std::string before = "Bearer " + run.first.access_token();
      const std::string after = "Bearer " + run.second.access_token();
      BOOST_TEST(authorizations(model) == (old ? Sent{after, after} : Sent{before, after, after}),
                 boost::test_tools::per_element());
      BOOST_REQUIRE(refresh.requests().size() == 1u);
      const ReceivedRequest request = refresh.requests()[0];
      BOOST_TEST(request.line == "POST /oauth/token HTTP/1.1");
      BOOST_TEST(header_value(request.headers, "Authorization") == "");
      BOOST_TEST(parse_json(request.body).string_at("refresh_token") == run.first.refresh_token());
      BOOST_TEST(run.records("model.retry").empty());
      BOOST_TEST((without_time(read_file(run.file())) == without_time(run.second.text())));
      BOOST_TEST(!holds(read_file(run.file()), old ? kOld : run.first.last_refresh + "\""));
      BOOST_TEST(mode_of(run.file()) == 0600u);
      BOOST_TEST(std::distance(fs::directory_iterator(run.file().parent_path()), {}) == 1);
      check_unseen(run.all_written(end), run);
    }
  }
}

BOOST_AUTO_TEST_CASE(tokens_that_expire_again_and_again_are_refreshed_each_time) {
  const SignedRun run;
  const SignInFile third{.name = "third"};
  run.first.save(run.file());
  auto responses =
      served(CassetteWriter().shell({"true"}).next().shell({"true"}).next().message("done"));
  responses.insert(responses.begin() + 2, unauthorized());
  responses.insert(responses.begin() + 1, unauthorized());
  const ModelServer model(responses);
  const ModelServer refresh(
      {served_status(200, kJson, run.second.answer()), served_status(200, kJson, third.answer())});

  const ProgramEnd end = run_program(run.start(model, refresh_url(refresh)));

  check_end(run, end, 0, "success");
  Sent expected;
  for (const SignInFile* file : {&run.first, &run.first, &run.second, &run.second, &third})
    expected.push_back("Bearer " + file->access_token());
  BOOST_TEST(authorizations(model) == expected, boost::test_tools::per_element());
  BOOST_REQUIRE(refresh.requests().size() == 2u);
  BOOST_TEST(parse_json(refresh.requests()[1].body).string_at("refresh_token") ==
             run.second.refresh_token());
  BOOST_TEST((without_time(read_file(run.file())) == without_time(third.text())));
  // What was done before is not done again.
  BOOST_TEST(run.records("tool.call").size() == 2u);
  BOOST_TEST(run.records("model.retry").empty());
}

BOOST_AUTO_TEST_CASE(two_runs_at_once_that_are_refused_refresh_once) {
  const SignedRun run;
  run.first.save(run.file());
  const auto answers = behind(unauthorized(), served(CassetteWriter().message("done")));
  const ModelServer one(answers);
  const ModelServer other(answers);
  const ModelServer refresh(refreshing(run.second));
  TwoRuns both(run, one, other, refresh);
  BOOST_TEST(wait_until([&] { return one.requests().size() + other.requests().size() == 2; }));
  BOOST_TEST(refresh.connections() == 0);
  both.let_go();

  BOOST_TEST(refresh.requests().size() == 1u);
  const Sent sent = {"Bearer " + run.first.access_token(), "Bearer " + run.second.access_token()};
  for (const ModelServer* model : {&one, &other})
    BOOST_TEST(authorizations(*model) == sent, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(two_runs_at_once_refresh_once) {
  SignedRun run;
  run.first.last_refresh = kOld;
  run.first.save(run.file());
  const ModelServer one(served(CassetteWriter().message("done")));
  const ModelServer other(served(CassetteWriter().message("done")));
  const ModelServer refresh(refreshing(run.second));
  TwoRuns both(run, one, other, refresh);
  const auto has_begun = [&](const std::string& out) {
    return wait_until([&] { return fs::exists(run.path(out) / "transcript.jsonl"); });
  };
  BOOST_TEST((has_begun("out-1") && has_begun("out-2")));
  BOOST_TEST(refresh.connections() == 0);
  both.let_go();

  BOOST_TEST(refresh.requests().size() == 1u);
  for (const ModelServer* model : {&one, &other})
    BOOST_TEST(authorizations(*model) == Sent{"Bearer " + run.second.access_token()},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refresh_that_is_refused_ends_with_auth_and_one_that_fails_with_unavailable) {
  const struct {
    const char* name;
    std::vector<ServedResponse> answers;
    int code;
    const char* status;
    const char* words;
    std::size_t requests;
  } rows[] = {
      {"expired",
       {served_status(401, kJson, R"({"error":{"code":"refresh_token_expired"}})")},
       6,
       "auth",
       "the sign-in has expired; sign in again with 'codex login'",
       1},
      {"used before",
       {served_status(400, kJson, R"({"error":{"code":"refresh_token_reused"}})")},
       6,
       "auth",
       "was used before",
       1},
      {"down", {served_status(503, {}, "down")}, 10, "unavailable", "could not be refreshed", 2},
  };
  for (const auto& row : rows) {
    for (const bool old : {false, true}) {
      BOOST_TEST_CONTEXT(row.name << (old ? ", by age" : ", by 401")) {
        SignedRun run;
        if (old) run.first.last_refresh = kOld;
        run.first.save(run.file());
        const ModelServer model({unauthorized()});
        auto answers = row.answers;
        while (answers.size() < row.requests) answers.push_back(row.answers.front());
        const ModelServer refresh(answers);

        const ProgramEnd end = run_program(run.start(model, refresh_url(refresh)));

        check_end(run, end, row.code, row.status);
        BOOST_TEST(holds(end.errors, row.words), end.errors);
        BOOST_TEST(refresh.requests().size() == row.requests);
        BOOST_TEST(model.requests().size() == (old ? 0u : 1u));
        BOOST_TEST(read_file(run.file()) == run.first.text());
        check_unseen(run.all_written(end), run);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_connection_to_refresh_by_the_run_is_unavailable) {
  SignedRun run;
  run.first.last_refresh = kOld;
  run.first.save(run.file());
  const ModelServer model(served(CassetteWriter().message("done")));

  const ProgramEnd end = run_program(run.start(model, nobody_listens()));

  check_end(run, end, 10, "unavailable");
  BOOST_TEST(run.records("model.retry").size() == 1u);
  BOOST_TEST(model.requests().empty());
}

BOOST_AUTO_TEST_CASE(tokens_refused_after_a_refresh_end_the_run) {
  SignedRun run;
  run.first.save(run.file());
  // The server repeats what it was sent: the new token has to be known by then.
  const ModelServer model(
      {unauthorized(), unauthorized("no account for " + run.second.access_token())});
  const ModelServer refresh(refreshing(run.second));

  const ProgramEnd end = run_program(run.start(model, refresh_url(refresh)));

  check_end(run, end, 6, "auth");
  BOOST_TEST(holds(end.errors, "no account for [REDACTED:CHATGPT_ACCESS_TOKEN]"), end.errors);
  BOOST_TEST(refresh.requests().size() == 1u);
  check_unseen(run.all_written(end), run);
}

BOOST_AUTO_TEST_SUITE_END()

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/immutable_folder.h"
#include "tests/support/sign_in_file.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

const std::string kOld = "2020-01-01T00:00:00Z";
const HttpHeaders kJson = {{"Content-Type", "application/json"}};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Fresh as long as nobody sets the clock of this machine back.
std::string now_text() {
  char text[40];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::vector<ServedResponse> refreshing(const SignInFile& file) {
  return {served_status(200, kJson, file.answer())};
}

ServedResponse unauthorized(const std::string& words = "expired") {
  return served_status(401, kJson, R"({"error":{"message":")" + words + "\"}}");
}

/// Responses behind one that is refused.
std::vector<ServedResponse> behind(ServedResponse first, std::vector<ServedResponse> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

/// A run that is signed in by a file beside its workspace.
class SignedRun : public ProviderRun {
 public:
  SignInFile first{.last_refresh = now_text()};
  SignInFile second{.name = "second"};

  SignedRun() { fs::create_directory(path("home")); }
  fs::path file() const { return path("home/auth.json"); }
  ProgramStart start(const ModelServer& model, const std::string& refresh,
                     std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--auth-file", file()});
    ProgramStart made = ProviderRun::start(base_url(model), flags);
    made.environment["SORTIE_AUTH_URL"] = refresh;
    return made;
  }
};

std::string refresh_url(const ModelServer& server) { return server.url() + "/oauth/token"; }

std::string nobody_listens() { return ModelServer({}).url() + "/oauth/token"; }

std::vector<std::string> authorizations(const ModelServer& server) {
  std::vector<std::string> sent;
  for (const auto& request : server.requests())
    sent.emplace_back(header_value(request.headers, "Authorization"));
  return sent;
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

/// Two runs with one sign-in, the file of which is locked until they are let go.
class TwoRuns {
 public:
  TwoRuns(const SignedRun& run, const ModelServer& one, const ModelServer& other,
          const ModelServer& refresh)
      : held_(locked(run.file())),
        first_(run.start(one, refresh_url(refresh), {"--out", run.path("out-1")})),
        second_(run.start(other, refresh_url(refresh), {"--out", run.path("out-2")})) {}
  /// Both end well.
  void let_go() {
    held_.reset();
    for (Program* program : {&first_, &second_}) {
      const ProgramEnd end = program->finish();
      BOOST_TEST(end.status == 0, end.errors);
    }
  }

 private:
  static Fd locked(const fs::path& file) {
    Fd held(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    BOOST_REQUIRE(::flock(held.get(), LOCK_EX) == 0);
    return held;
  }

  Fd held_;
  Program first_;
  Program second_;
};

/// What is in the file, but for the time of its refresh.
Json without_time(const std::string& text) {
  Json document = parse_json(text);
  document.set("last_refresh", "");
  return document;
}

/// The parts of tokens that nobody else has.
std::vector<std::string> marks() {
  std::vector<std::string> found;
  for (const std::string name : {"first", "second"})
    for (const std::string kind : {"access-", "id-", "refresh-"}) found.push_back(kind + name);
  return found;
}

void check_unseen(const std::string& text, const SignedRun& run) {
  for (const std::string& mark : marks()) BOOST_TEST(!holds(text, mark), mark);
  for (const SignInFile& file : {run.first, run.second})
    for (const std::string& token : {file.access_token(), file.id_token(), file.account})
      BOOST_TEST(!holds(text, token), token);
}

using Sent = std::vector<std::string>;

}  // namespace

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

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_replaced_is_said_loudly_and_the_run_goes_on) {
  SignedRun run;
  run.first.save(run.file());
  const ImmutableFolder folder(run.file().parent_path());
  if (!folder.works()) {
    BOOST_TEST_MESSAGE("no folder can be made immutable here: skipped");
    return;
  }
  const ModelServer model(behind(unauthorized(), served(CassetteWriter().message("done"))));
  const ModelServer refresh(refreshing(run.second));

  const ProgramEnd end = run_program(run.start(model, refresh_url(refresh)));

  check_end(run, end, 0, "success");
  BOOST_TEST(holds(end.errors, "THE SIGN-IN IN IT IS SPENT"), end.errors);
  BOOST_TEST(holds(write_json(run.result()["warnings"]), "THE SIGN-IN IN IT IS SPENT"));
  BOOST_TEST(read_file(run.file()) == run.first.text());
  check_unseen(run.all_written(end), run);
}

BOOST_AUTO_TEST_CASE(tokens_are_out_of_reach_of_tools_before_and_after_a_refresh) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const SignedRun run;
      run.first.save(run.file());
      const std::string search =
          "{ env; cat /proc/*/environ /proc/*/cmdline; cat " + run.file().string() +
          "; grep -ras 'signature' /tmp $HOME /etc " + run.file().parent_path().string() +
          "; } 2>/dev/null | grep -ace '[-]first-[s]ignature' -e '[-]second-[s]ignature'";
      auto responses =
          served(CassetteWriter()
                     .shell({"sh", "-c", search})
                     .next()
                     .shell({"sh", "-c", search})
                     .call("read_file", Json::object({{"path", run.file().string()}}))
                     .shell({"sh", "-c", "export X=x-first; X=$X-signature; " + search})
                     .next()
                     .message("done"));
      responses.insert(responses.begin() + 1, unauthorized());
      const ModelServer model(responses);
      const ModelServer refresh(refreshing(run.second));

      const ProgramEnd end =
          run.run_as(caller, run.start(model, refresh_url(refresh),
                                       {"--isolation", "copy", "--record", run.path("rec.jsonl")}));

      check_end(run, end, 0, "success");
      BOOST_TEST(refresh.requests().size() == 1u);
      for (const std::size_t call : {0u, 1u})
        BOOST_TEST(run.output(call) == "0\n", run.output(call));
      BOOST_TEST(!holds(run.output(2), "token"), run.output(2));
      BOOST_TEST(run.output(3) != "0\n");  // the search works: it finds what is there
      check_unseen(run.all_written(end) + read_file(run.path("rec.jsonl")), run);
      for (const auto& request : model.requests()) check_unseen(request.body, run);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_other_host_gets_a_token) {
  const ModelServer elsewhere({});
  const ServedResponse away =
      served_status(307, {{"Location", elsewhere.url("localhost") + "/v1/responses"}}, "");
  {
    const SignedRun run;
    run.first.save(run.file());
    const ModelServer model({away});
    check_end(run, run_program(run.start(model, nobody_listens())), 5, "refused");
  }
  {
    const SignedRun run;
    run.first.save(run.file());
    const ModelServer model({unauthorized()});
    const ModelServer refresh({away});
    check_end(run, run_program(run.start(model, refresh_url(refresh))), 6, "auth");
  }
  BOOST_TEST(elsewhere.connections() == 0);
}

BOOST_AUTO_TEST_CASE(the_policy_and_the_operator_say_where_a_sign_in_may_go) {
  const SignedRun run;
  run.first.save(run.file());
  const ModelServer model(served(CassetteWriter().message("done")));
  run.write("strict.yaml",
            "version: 1\nextends: auto\nbounds: {credentials: {OPENAI_API_KEY: "
            "[api.openai.com]}}\n");
  run.write("wide.yaml", "version: 1\nextends: auto\nbounds: {credentials: {CHATGPT: ['127.0.0.1:" +
                             std::to_string(model.port()) + "']}}\n");
  const auto start = [&](const std::string& policy) {
    ProgramStart made = run.RunFolder::start({"--auth-file", run.file(), "--policy", policy});
    made.environment["SORTIE_AUTH_URL"] = nobody_listens();
    return made;
  };

  const ProgramEnd by_default = run_program(start(run.path("strict.yaml")));
  BOOST_TEST(by_default.status == 2, by_default.errors);
  BOOST_TEST(holds(by_default.errors, "CHATGPT may not go to chatgpt.com"), by_default.errors);

  run.write_task("base_url: '" + base_url(model) + "'");
  const ProgramEnd by_task = run_program(start("auto"));
  BOOST_TEST(by_task.status == 2, by_task.errors);
  BOOST_TEST(holds(by_task.errors, "CHATGPT may not go to 127.0.0.1"), by_task.errors);
  BOOST_TEST(model.connections() == 0);

  check_end(run, run_program(start(run.path("wide.yaml"))), 0, "success");
}

BOOST_AUTO_TEST_CASE(a_key_in_the_file_is_used_where_it_has_no_tokens) {
  const SignedRun run;
  const std::string key = "sk-in-the-file-0123456789";
  write_file(run.file(), R"({"OPENAI_API_KEY":")" + key + R"(","tokens":null})", 0600);
  const ModelServer model(served(CassetteWriter().message("done")));

  const ProgramEnd end = run_program(run.start(model, nobody_listens()));

  check_end(run, end, 0, "success");
  BOOST_TEST(authorizations(model) == Sent{"Bearer " + key}, boost::test_tools::per_element());
  BOOST_TEST(header_value(model.requests()[0].headers, "chatgpt-account-id") == "");
  BOOST_TEST(!holds(run.all_written(end), key));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_an_auth_file_is_a_usage_error) {
  const SignedRun run;
  run.first.save(run.file());
  run.first.save(run.path("open.json"));
  fs::permissions(run.path("open.json"), fs::perms(0644));
  write_file(run.path("broken.json"), "{\n \"tokens\": s3cret}", 0600);
  write_file(run.path("empty.json"), "{}", 0600);
  run.first.save(run.path("work/auth.json"));
  run.first.save(run.path("read/auth.json").parent_path().parent_path() / "seen.json");
  run.write("key.txt", "sk-0123456789\n");
  fs::create_directory(run.path("readable"));
  run.first.save(run.path("readable/auth.json"));
  run.write("reads.yaml", "version: 1\nextends: auto\npaths: {read: ['" +
                              run.path("readable").string() + "']}\n");
  const ModelServer model({});
  const struct {
    const char* name;
    std::vector<std::string> flags;
    const char* words;
  } rows[] = {
      {"none", {"--auth-file", "none.json"}, "auth file none.json: No such file"},
      {"others read it", {"--auth-file", "open.json"}, "others may read it (mode 0644)"},
      {"no JSON", {"--auth-file", "broken.json"}, "broken.json:2:12: error: "},
      {"nothing in it", {"--auth-file", "empty.json"}, "has neither tokens nor"},
      {"workspace", {"--auth-file", "work/auth.json"}, "lies in the workspace"},
      {"commands may read it",
       {"--auth-file", "readable/auth.json", "--policy", run.path("reads.yaml")},
       "which commands may read"},
      {"a key too", {"--auth-file", run.file(), "--api-key-file", "key.txt"}, "one credential"},
      {"a descriptor too", {"--auth-file", run.file(), "--api-key-fd", "0"}, "one credential"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end = run_program(run.ProviderRun::start(base_url(model), row.flags));

      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(holds(end.errors, row.words), end.errors);
      BOOST_TEST(!holds(end.errors, "s3cret"), end.errors);
      check_unseen(end.errors, run);
    }
  }
  ProgramStart start = run.start(model, "http://auth.example/oauth/token");
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, "SORTIE_AUTH_URL"), end.errors);
  BOOST_TEST(model.connections() == 0);
}

BOOST_AUTO_TEST_CASE(doctor_says_which_credential_would_be_used_and_never_its_value) {
  SignedRun run;
  run.first.last_refresh = kOld;
  run.first.save(run.file());
  run.write("open.json", run.first.text());
  run.write("key.txt", "sk-0123456789\n");
  run.write("none.yaml", "version: 1\nextends: auto\nbounds: {credentials: {}}\n");
  const auto ask = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {sortie_binary(), "doctor"});
    ProgramStart start = run.ProviderRun::start("");
    start.argv = flags;
    start.environment["ANTHROPIC_API_KEY"] = "sk-never-shown-0123456789";
    const ProgramEnd end = run_program(start);
    check_unseen(end.printed(), run);
    BOOST_TEST(!holds(end.printed(), "never-shown"));
    return end.output;
  };
  const auto credentials = [&](std::vector<std::string> flags) {
    flags.emplace_back("--json");
    return parse_json(ask(std::move(flags)))["credentials"];
  };

  const Json by_environment = credentials({});
  BOOST_TEST(by_environment["openai"].string_at("from") == "variable OPENAI_API_KEY");
  BOOST_TEST(!by_environment["openai"]["available"].boolean(true));
  BOOST_TEST(by_environment["anthropic"]["available"].boolean());
  BOOST_TEST(by_environment["anthropic"]["may_go_there"].boolean());
  BOOST_TEST(!by_environment["azure"]["may_go_there"].boolean(true));
  BOOST_TEST(by_environment["local"]["from"].is_null());

  const Json signed_in = credentials({"--auth-file", run.file()});
  const Json& openai = signed_in["openai"];
  BOOST_TEST(openai.string_at("credential") == "CHATGPT");
  BOOST_TEST(openai.string_at("address") == "https://chatgpt.com/backend-api/codex");
  BOOST_TEST(openai["may_go_there"].boolean());
  BOOST_TEST(openai["sign_in"].string_at("plan") == "plus");
  BOOST_TEST(openai["sign_in"].string_at("last_refresh") == "2020-01-01T00:00:00.000Z");
  BOOST_TEST(openai["sign_in"]["refresh_due"].boolean());
  BOOST_TEST(!openai["sign_in"]["expired"].boolean(true));
  BOOST_TEST(openai["sign_in"]["can_refresh"].boolean());
  BOOST_TEST(openai["sign_in"]["can_write"].boolean());
  BOOST_TEST(signed_in["openai-chat"].string_at("from") == "variable OPENAI_API_KEY");
  BOOST_TEST(read_file(run.file()) == run.first.text());

  const Json others = credentials({"--auth-file", run.path("open.json")});
  BOOST_TEST(holds(others["openai"].string_at("problem"), "others may read it"));
  const Json bound = credentials({"--api-key-file", "key.txt", "--policy", run.path("none.yaml")});
  BOOST_TEST(bound["openai"].string_at("from") == "--api-key-file key.txt");
  BOOST_TEST(bound["openai"]["available"].boolean());
  BOOST_TEST(!bound["openai"]["may_go_there"].boolean(true));

  const std::string text = ask({"--auth-file", run.file()});
  BOOST_TEST(holds(text, "sign-in, plan plus, refreshed "), text);
  BOOST_TEST(holds(text, "(a refresh is due)"), text);
}

BOOST_AUTO_TEST_CASE(a_refresh_that_hangs_is_ended_by_the_time_budget_and_by_a_stop) {
  SignedRun run;
  run.first.last_refresh = kOld;
  run.first.save(run.file());
  const ModelServer model({});
  const ModelServer refresh(
      {{.then = ServedResponse::Then::hang}, {.then = ServedResponse::Then::hang}});
  {
    const ProgramEnd end = run_program(run.start(model, refresh_url(refresh), {"--timeout", "3s"}));
    check_end(run, end, 4, "budget");
  }
  Program program(run.start(model, refresh_url(refresh), {"--fresh"}));
  BOOST_TEST(wait_until([&] { return refresh.requests().size() == 2; }));
  program.signal(SIGTERM);
  BOOST_TEST(program.finish().status == 143);
  BOOST_TEST(model.connections() == 0);
  BOOST_TEST(read_file(run.file()) == run.first.text());
}

BOOST_AUTO_TEST_SUITE_END()

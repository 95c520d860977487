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

BOOST_AUTO_TEST_SUITE(auth_file_end_to_end)

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
          // What the run has written; toolchains below HOME are too large to be searched.
          "{ env; cat /proc/*/environ /proc/*/cmdline; cat " + run.file().string() +
          "; find /tmp $HOME /etc " + run.file().parent_path().string() +
          " -type f -mmin -60 -exec grep -as signature {} +; } 2>/dev/null"
          " | grep -ace '[-]first-[s]ignature' -e '[-]second-[s]ignature'";
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
      {"a key too", {"--auth-file", run.file(), "--api-key-file", "key.txt"}, "give one of them"},
      {"a descriptor too", {"--auth-file", run.file(), "--api-key-fd", "0"}, "give one of them"},
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
  std::map<std::string, std::string> variables;
  const auto ask = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {sortie_binary(), "doctor"});
    ProgramStart start = run.ProviderRun::start("");
    start.argv = flags;
    start.environment["ANTHROPIC_API_KEY"] = "sk-never-shown-0123456789";
    for (const auto& [name, value] : variables) start.environment[name] = value;
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

  // An address that can't be used is told with what is wrong with it.
  const struct {
    const char* variable;
    const char* address;
    const char* provider;
    const char* problem;
  } addresses[] = {
      {"OPENAI_BASE_URL", "http://vllm:8000/v1", "openai",
       "OPENAI_BASE_URL: address 'http://vllm:8000/v1': plain http is for loopback hosts only"},
      {"OPENAI_BASE_URL", "https://models.example/v1?team=a", "openai", "OPENAI_BASE_URL: "},
      {"SORTIE_BASE_URL", "http://vllm:8000/v1", "openai-chat", "SORTIE_BASE_URL: address"},
      {"SORTIE_BASE_URL", "http://vllm:8000/v1", "local", nullptr},
      {"OPENAI_BASE_URL", "https://models.example/v1", "openai", nullptr},
      {"SORTIE_BASE_URL", "", "azure", nullptr},  // has none of its own
  };
  for (const auto& row : addresses) {
    BOOST_TEST_CONTEXT(row.variable << "=" << row.address) {
      variables = {{row.variable, row.address}};
      const Json one = credentials({})[row.provider];
      const std::string shown = ask({});
      if (row.problem == nullptr) {
        BOOST_TEST(one["problem"].is_null(), write_json(one));
        continue;
      }
      BOOST_TEST(one["address"].is_null());
      BOOST_TEST(one.string_at("address_from") == row.variable);
      BOOST_TEST(one.string_at("problem").starts_with(row.problem), one.string_at("problem"));
      BOOST_TEST(holds(shown, one.string_at("problem")), shown);
    }
  }
  variables.clear();

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

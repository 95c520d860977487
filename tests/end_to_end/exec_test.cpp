// `sortie exec`, as scripts call it that were written for `codex exec`.
#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/exec_run.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

CassetteWriter answer(const std::string& text = "Done.") {
  CassetteWriter cassette;
  cassette.message(text);
  return cassette;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec)

BOOST_AUTO_TEST_CASE(a_turn_is_shown_as_codex_shows_it) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"bash", "-lc", "echo hi; exit 3"}).next();
  cassette.patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n").next();
  cassette.call("update_plan", parse_json(R"({"plan":[{"step":"one","status":"completed"}]})"));
  cassette.next().message("All done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"--json", "-s", "workspace-write", "Do {{it}}."});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(story_of(end.output) ==
             "thread.started turn.started item.started:command_execution(in_progress) "
             "item.completed:command_execution(failed) item.started:file_change(in_progress) "
             "item.completed:file_change(completed) item.started:todo_list "
             "item.completed:agent_message item.completed:todo_list turn.completed");
  const auto events = events_of(end.output);
  BOOST_TEST(events.front().members().size() == 2u);
  const Json& usage = events.back()["usage"];
  for (const char* name : {"input_tokens", "cached_input_tokens", "cache_write_input_tokens",
                           "output_tokens", "reasoning_output_tokens"})
    BOOST_TEST(usage[name].is_number(), name);
  for (const Json& event : events)
    for (const auto& [name, value] : event.members())
      BOOST_TEST((name == "type" || name == "item" || name == "thread_id" || name == "usage"),
                 name);
  BOOST_TEST(read_file(run.workspace() / "b.txt") == "b\n");
  BOOST_TEST(message_texts(server.requests().front()).back() == "Do {{it}}.");
  BOOST_TEST(end.errors == "");
}

BOOST_AUTO_TEST_CASE(a_denied_call_is_an_item_with_its_reason) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n").next().message("No.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"--json", "Write."});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const auto changes = completed(end.output, "file_change");
  BOOST_TEST_REQUIRE(changes.size() == 1u);
  BOOST_TEST(changes[0].string_at("status") == "declined");
  BOOST_TEST(changes[0].string_at("reason") != "");
  BOOST_TEST(!fs::exists(run.workspace() / "b.txt"));
}

BOOST_AUTO_TEST_CASE(the_final_message_is_on_stdout_and_what_is_piped_belongs_to_the_prompt) {
  const ExecRun run;
  const ModelServer server(served(answer("The answer.")));

  const ProgramEnd end =
      run.exec(server, {"Sum up", "-o", run.path("last").string()}, "some log\n");

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(end.output == "The answer.\n");
  BOOST_TEST(read_file(run.path("last")) == "The answer.");
  BOOST_TEST(message_texts(server.requests().front()).back() ==
             "Sum up\n\n<stdin>\nsome log\n</stdin>");
  BOOST_TEST(fs::is_empty(run.path("caller")));
}

BOOST_AUTO_TEST_CASE(the_sandbox_is_read_only_unless_the_flag_says_otherwise) {
  const struct {
    std::vector<std::string> flags;
    bool here = false;
    bool there = false;
  } rows[] = {
      {{}},
      {{"-s", "read-only"}},
      {{"--sandbox", "workspace-write"}, true},
      {{"--full-auto"}, true},
      {{"-c", "sandbox_mode=\"workspace-write\""}, true},
      {{"-c", "sandbox_mode=\"workspace-write\"", "-s", "read-only"}},
      {{"-s", "workspace-write", "--add-dir", "../beside"}, true, true},
      {{"-s", "danger-full-access"}, true, true},
      {{"--dangerously-bypass-approvals-and-sandbox"}, true, true},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    fs::create_directory(run.path("beside"));
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo x > here; echo x > ../beside/there"}).next().message("Done.");
    const ModelServer server(served(cassette));
    std::vector<std::string> words = {"Write."};
    words.insert(words.begin(), row.flags.begin(), row.flags.end());
    BOOST_TEST_CONTEXT((row.flags.empty() ? std::string("no flag") : row.flags.back())) {
      const ProgramEnd end = run.exec(server, words);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(fs::exists(run.workspace() / "here") == row.here);
      BOOST_TEST(fs::exists(run.path("beside/there")) == row.there);
    }
  }
}

BOOST_AUTO_TEST_CASE(it_works_in_the_tree_for_every_caller) {
  for (const Caller& caller : all_callers())
    for (const char* sandbox : {"read-only", "workspace-write"}) {
      BOOST_TEST_CONTEXT(caller.name << " " << sandbox) {
        const ExecRun run;
        CassetteWriter cassette;
        cassette.shell({"sh", "-c", "cat a.txt; echo x > new.txt"}).next().message("Done.");
        const ModelServer server(served(cassette));

        const ProgramEnd end =
            run.run_as(caller, run.exec({"-s", sandbox, "Go."}, base_url(server)));

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(holds(outputs_in(server.requests().back()), "a\\n"));
        BOOST_TEST(fs::exists(run.workspace() / "new.txt") ==
                   (sandbox == std::string("workspace-write")));
      }
    }
}

BOOST_AUTO_TEST_CASE(commands_never_reach_the_record_of_their_own_turn) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const ExecRun run;
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo forged >> out/transcript.jsonl"}).next().message("Done.");
      const ModelServer server(served(cassette));

      const ProgramEnd end = run.run_as(
          caller, run.exec({"-s", "workspace-write", "--out", "out", "Go."}, base_url(server)));

      const fs::path record = run.workspace() / "out/transcript.jsonl";
      BOOST_TEST((!fs::exists(record) || !holds(read_file(record), "\nforged")));
      BOOST_TEST(end.status == (caller.namespaces ? 0 : 1), end.errors);
      if (!caller.namespaces) BOOST_TEST(holds(end.errors, "name a folder elsewhere"), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_fails_before_the_turn_has_its_status_and_sends_nothing) {
  const ExecRun run;
  fs::create_directory(run.path("plain"));
  run.write("broken.json", "{");
  run.write("no.png", "no image");
  const std::string plain = run.path("plain").string();
  const struct {
    std::vector<std::string> words;
    int status;
    const char* says;
  } rows[] = {
      {{"-C", plain, "go"}, 1, "--skip-git-repo-check"},
      {{"-C", run.path("nowhere").string(), "go"}, 1, "nowhere"},
      {{"-i", "missing.png", "--json", "go"}, 1, "missing.png"},
      {{"go", "-i", run.path("no.png").string()}, 1, "not a PNG"},
      {{"--output-schema", "missing.json", "go"}, 1, "missing.json"},
      {{"--output-schema", run.path("broken.json").string(), "go"}, 1, "--output-schema"},
      {{"resume", "0199a0a0-0000-7000-8000-000000000000", "go"}, 1, "no such thread"},
      {{"resume", "my-thread", "go"}, 1, "no such thread"},
      {{"resume", "../../etc", "go"}, 1, "no such thread"},
      {{"resume", "--last", "go"}, 1, "no thread"},
      {{}, 1, "no prompt"},
      {{"-"}, 1, "no prompt"},
      {{"-i", "a.png", "describe"}, 1, "-i takes all words behind it as images, also 'describe'"},
      {{"-i", "a.png,describe"}, 1, "the prompt stands before it"},
      {{""}, 1, "empty"},
      {{"-p", "nobody", "go"}, 1, "nobody"},
      {{"--policy", "missing.yaml", "go"}, 2, "missing.yaml"},
      {{"-c", "model_provider=none", "go"}, 2, "model_providers.none"},
      {{"resume"}, 2, "--last"},
      {{"--nope", "go"}, 2, "--nope"},
      {{"one", "two"}, 2, "two"},
      {{"-s", "none", "go"}, 2, "-s"},
      {{"-c", "model", "go"}, 2, "KEY=VALUE"},
      {{"-c", "model=3", "go"}, 2, "expected a string"},
      {{"--strict-config", "-c", "modle=x", "go"}, 2, "modle (did you mean model?)"},
      {{"--json", "--diff", "-", "go"}, 2, "stdout"},
  };
  for (const auto& row : rows) {
    const ModelServer server({});
    run.write("last", "of yesterday");
    std::vector<std::string> words = row.words;
    words.insert(words.begin(), {"-o", run.path("last").string()});
    BOOST_TEST_CONTEXT(row.says) {
      const ProgramEnd end = run.exec(server, words);

      BOOST_TEST(end.status == row.status);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      BOOST_TEST(end.output == "");
      BOOST_TEST(server.requests().empty());
      if (row.status == 1) BOOST_TEST(!fs::exists(run.path("last")));
      BOOST_TEST(run.threads().empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_writer_of_stdin_never_fails) {
  const ExecRun run;
  for (const char* words : {"--nope", "resume 0199a0a0-0000-7000-8000-000000000000 go", "-s no go",
                            "-i missing.png -"}) {
    ProgramStart start = run.exec({});
    start.argv = {"bash", "-c",
                  "head -c 3000000 /dev/zero | tr '\\0' 'x' | \"$0\" exec " + std::string(words) +
                      " > /dev/null 2>&1; echo ${PIPESTATUS[1]} ${PIPESTATUS[2]}",
                  sortie_binary()};
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.output.starts_with("0 "), words);
    BOOST_TEST(end.output != "0 0\n", words);
  }
}

BOOST_AUTO_TEST_CASE(a_failed_turn_says_why_and_leaves_no_stale_answer) {
  const ExecRun run;
  run.write("last", "of yesterday");
  const ModelServer server({served_status(
      400, {}, R"({"error":{"message":"no such model","code":"model_not_found"}})")});

  const ProgramEnd end = run.exec(server, {"--json", "-o", run.path("last").string(), "go"});

  BOOST_TEST(end.status == 1);
  BOOST_TEST(story_of(end.output) == "thread.started turn.started turn.failed");
  BOOST_TEST(holds(events_of(end.output).back()["error"].string_at("message"), "no such model"));
  BOOST_TEST(holds(end.errors, "no such model"));
  BOOST_TEST(!fs::exists(run.path("last")));
}

BOOST_AUTO_TEST_CASE(diff_and_artifacts_are_there_where_they_are_asked_for) {
  const ExecRun run;
  run.write("work/a.txt", "changed before\n");
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo more >> a.txt; echo x > new.txt"}).next().message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"-s", "workspace-write", "--out", run.out().string(),
                                           "--diff", run.path("the.diff").string(), "Go."});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const std::string diff = run.artifact("changes.diff");
  BOOST_TEST(diff == read_file(run.path("the.diff")));
  BOOST_TEST(holds(diff, "+more"));
  BOOST_TEST(holds(diff, "+++ b/new.txt"));
  BOOST_TEST(!holds(diff, "+changed before"));
  BOOST_TEST(run_program({.argv = {sortie_binary(), "verify", run.out().string()}}).status == 0);
  // It stays: nothing of exec is undone, and its thread outlives --out.
  BOOST_TEST(read_file(run.workspace() / "a.txt") == "changed before\nmore\n");
  fs::remove_all(run.out());
  const ModelServer next(served(answer()));
  BOOST_TEST(run.exec(next, {"resume", "--last", "and?"}).status == 0);
  BOOST_TEST(holds(outputs_in(next.requests().front()), "Exit code: 0"));
}

BOOST_AUTO_TEST_CASE(a_failure_undoes_nothing_and_the_next_exec_in_out_neither) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo more >> a.txt"}).next();
  auto responses = served(cassette);
  responses.push_back(served_status(400, {}, R"({"error":{"message":"no"}})"));
  const std::vector<std::string> words = {"-s", "workspace-write", "--out", run.out().string(),
                                          "Go."};
  const ModelServer first(responses);
  BOOST_TEST(run.exec(first, words).status == 1);
  BOOST_TEST(read_file(run.workspace() / "a.txt") == "a\nmore\n");
  BOOST_TEST(holds(run.artifact("partial.diff"), "+more"));

  const ModelServer second(served(answer()));
  BOOST_TEST(run.exec(second, words).status == 0);
  BOOST_TEST(read_file(run.workspace() / "a.txt") == "a\nmore\n");
  BOOST_TEST(run.artifact("changes.diff") == "");
}

BOOST_AUTO_TEST_CASE(requests_name_the_caller_that_names_itself) {
  const struct {
    const char* caller;
    const char* originator;
  } rows[] = {{"", "sortie"}, {"codex_sdk_ts", "codex_sdk_ts"}, {"a\nHost: b", "sortie"}};
  for (const auto& row : rows) {
    const ExecRun run;
    const ModelServer server(served(CassetteWriter().message("Done.")));
    ProgramStart start = run.exec({"go"}, base_url(server));
    start.environment["CODEX_INTERNAL_ORIGINATOR_OVERRIDE"] = row.caller;

    const ProgramEnd end = run_program(start);

    BOOST_TEST_REQUIRE(end.status == 0, end.errors);
    const ReceivedRequest request = server.requests().front();
    BOOST_TEST(header_value(request.headers, "originator") == row.originator);
    BOOST_TEST(header_value(request.headers, "User-Agent").starts_with("sortie/"));
  }
}

BOOST_AUTO_TEST_CASE(a_schema_images_effort_and_summary_reach_the_model) {
  const ExecRun run;
  run.write("s.json", R"({"type":"object","properties":{"n":{"type":"integer"}},)"
                      R"("required":["n"],"additionalProperties":false})");
  run.write("one.png", images::kPng);
  run.write("two.png", images::kPng);
  const ModelServer server(served(answer(R"({"n":3})")));

  const ProgramEnd end = run.exec(
      server, {"--output-schema", run.path("s.json").string(), "-c", "model_reasoning_effort=low",
               "-c", "model_reasoning_summary=\"detailed\"", "-m", "gpt-5", "Count.", "-i",
               run.path("one.png").string() + "," + run.path("two.png").string()});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(end.output == "{\"n\":3}\n");
  const Json body = parse_json(server.requests().front().body);
  BOOST_TEST(body.string_at("model") == "gpt-5");
  BOOST_TEST(body["reasoning"].string_at("effort") == "low");
  BOOST_TEST(body["reasoning"].string_at("summary") == "detailed");
  BOOST_TEST(body["text"]["format"]["schema"]["required"].items().size() == 1u);
  BOOST_TEST(body["text"]["format"].string_at("name") == "codex_output_schema");
  int images = 0;
  for (const Json& part : body["input"].items().back()["content"].items())
    images += part.string_at("type") == "input_image" ? 1 : 0;
  BOOST_TEST(images == 2);
}

BOOST_AUTO_TEST_CASE(keys_and_providers_are_those_of_codex) {
  const auto header = [](const ReceivedRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers)
      if (ascii_lower(key) == name) return value;
    return std::string();
  };
  const struct {
    const char* name;
    std::map<std::string, std::string> environment;
    std::vector<std::string> words;
    std::string key;
  } rows[] = {
      {"codex's first",
       {{"OPENAI_API_KEY", "sk-of-openai-000000"}},
       {},
       "sk-test-of-exec-0123456789"},
      {"else OpenAI's",
       {{"OPENAI_API_KEY", "sk-of-openai-000000"}, {"CODEX_API_KEY", ""}},
       {},
       "sk-of-openai-000000"},
      {"a provider's own",
       {{"MY_KEY", "my-own-key-000000"}},
       {"-c", "model_provider=mine", "-c", "model_providers.mine.env_key=MY_KEY", "-c",
        "model_providers.mine.base_url="},
       "my-own-key-000000"},
      {"a provider without one gets none",
       {{"OPENAI_API_KEY", "sk-of-openai-000000"}},
       {"-c", "model_provider=mine", "-c", "model_providers.mine.base_url="},
       ""},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    const ModelServer server(served(answer()));
    std::vector<std::string> words = row.words;
    if (!words.empty()) words.back() += base_url(server);
    words.emplace_back("go");
    ProgramStart start = run.exec(words, row.words.empty() ? base_url(server) : "");
    for (const auto& [name, value] : row.environment) start.environment[name] = value;
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end = run_program(start);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(header(server.requests().front(), "authorization") ==
                 (row.key.empty() ? "" : "Bearer " + row.key));
      BOOST_TEST(!holds(end.printed(), row.key.empty() ? "sk-" : row.key));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_providers_query_and_headers_are_sent_and_kept_out_of_records) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "env; echo header-secret-1234 query-secret-1234"}).next();
  cassette.message("Done.");
  const ModelServer server(served(cassette));
  ProgramStart start = run.exec(
      {"--out", run.out().string(), "-c", "model_provider=mine", "-c",
       "model_providers.mine={base_url=\"" + base_url(server) +
           "\", query_params={team=\"a b&c\", key=\"query-secret-1234\"}, http_headers={X-Team=\"ci\","
           "X-Gateway-Token=\"header-secret-1234\"}, env_http_headers={X-Org-Key=\"ORG_VALUE\","
           "X-None=\"UNSET_VALUE\"}}",
       "-c", "shell_environment_policy.inherit=all", "-c", "model_reasoning_effort=xhigh", "go"});
  start.environment["ORG_VALUE"] = "variable-secret-1234";
  start.environment["MINE_API_KEY"] = "key-of-mine-1234";

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const ReceivedRequest request = server.requests().front();
  BOOST_TEST(holds(request.line, "/responses?key=query-secret-1234&team=a%20b%26c HTTP"),
             request.line);
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.headers) headers[ascii_lower(name)] = value;
  BOOST_TEST(headers["x-team"] == "ci");
  BOOST_TEST(headers["x-gateway-token"] == "header-secret-1234");
  BOOST_TEST(headers["x-org-key"] == "variable-secret-1234");
  BOOST_TEST(headers.count("x-none") == 0u);
  BOOST_TEST(headers["authorization"] == "Bearer key-of-mine-1234");
  BOOST_TEST(parse_json(request.body)["reasoning"].string_at("effort") == "xhigh");
  for (const auto& file : fs::recursive_directory_iterator(run.out()))
    if (file.is_regular_file())
      for (const char* secret :
           {"header-secret-1234", "query-secret-1234", "variable-secret-1234", "key-of-mine-1234"})
        BOOST_TEST(!holds(read_file(file.path()), secret), file.path() << " " << secret);
  BOOST_TEST(!holds(outputs_in(server.requests().back()), "ORG_VALUE"));
}

BOOST_AUTO_TEST_CASE(a_header_of_sign_in_stands_in_for_the_key) {
  const ExecRun run;
  const ModelServer server(served(answer()));

  const ProgramEnd end = run_program(
      run.exec({"-c", "model_provider=mine", "-c",
                "model_providers.mine={base_url=\"" + base_url(server) +
                    "\", requires_openai_auth=true, experimental_bearer_token=\"bearer-1234567\"}",
                "go"}));

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  std::string sent;
  const ReceivedRequest request = server.requests().front();
  for (const auto& [name, value] : request.headers)
    if (ascii_lower(name) == "authorization") sent += value + ";";
  BOOST_TEST(sent == "Bearer bearer-1234567;");
}

BOOST_AUTO_TEST_CASE(a_provider_without_a_variable_for_its_key_is_asked_without_one) {
  const ExecRun run;
  for (const bool named : {false, true}) {
    std::vector<std::string> words = {"-c", "model_provider=m",
                                      "-c", "model_providers.m.base_url=https://0.0.0.0:9/v1",
                                      "-c", "model_providers.m.request_max_retries=0"};
    if (named) words.insert(words.end(), {"-c", "model_providers.m.env_key=NOT_SET"});
    words.emplace_back("go");

    const ProgramEnd end = run_program(run.exec(words));

    BOOST_TEST(end.status == 1);
    BOOST_TEST(holds(end.errors, "unavailable (10)") == !named, end.errors);
    BOOST_TEST(holds(end.errors, "auth (6)") == named, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(flags_of_codex_that_mean_nothing_here_are_accepted) {
  const ExecRun run;
  const ModelServer server(served(answer()));

  const ProgramEnd end = run.exec(server, {"--thread-source",
                                           "ci",
                                           "--enable",
                                           "x",
                                           "--disable",
                                           "y",
                                           "--cyber-access-program",
                                           "z",
                                           "--approve-for-me",
                                           "--ignore-user-config",
                                           "--ignore-rules",
                                           "--trust",
                                           "--color",
                                           "never",
                                           "-p",
                                           "ci",
                                           "-c",
                                           "tui.theme=dark",
                                           "-m",
                                           "a",
                                           "-m",
                                           "gpt-5-codex",
                                           "go"});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "warning: -c tui.theme: means nothing here"));
  BOOST_TEST(parse_json(server.requests().front().body).string_at("model") == "gpt-5-codex");
}

BOOST_AUTO_TEST_CASE(a_profile_of_codex_gives_its_values) {
  const ExecRun run;
  const ModelServer server(served(answer()));

  BOOST_TEST(run.exec(server, {"-p", "ci", "go"}).status == 0);

  BOOST_TEST(parse_json(server.requests().front().body).string_at("model") == "gpt-5.1-codex");
}

BOOST_AUTO_TEST_CASE(own_events_are_there_if_they_are_asked_for) {
  const ExecRun run;
  const ModelServer server(served(answer()));

  const ProgramEnd end = run.exec(server, {"--json", "--sortie-events", "go"});

  const auto events = events_of(end.output);
  BOOST_TEST(events.back().string_at("type") == "run.completed");
  BOOST_TEST(events[events.size() - 2].string_at("type") == "turn.completed");
}

BOOST_AUTO_TEST_SUITE_END()

// Every flag of `codex exec`, each accepted with what it does, or refused with what to write instead;
// and scripts that were written for it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/files/files.h"
#include "tests/end_to_end/exec_run.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

/// What came of a call.
struct Seen {
  const ExecRun& run;
  const ProgramEnd& end;
  Json body;  ///< of the last request
};

using Check = std::function<bool(const Seen&)>;

bool any(const Seen&) { return true; }

/// A model that writes a file, and answers.
std::vector<ServedResponse> writer() {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo x > made.txt"}).next().message("{\"n\":1}");
  return served(cassette);
}

bool wrote(const Seen& seen) { return fs::exists(seen.run.workspace() / "made.txt"); }

Check said_on_stderr(const std::string& text) {
  return [text](const Seen& seen) { return holds(seen.end.errors, text); };
}

Check says_nothing_of(const std::string& text) {
  return [text](const Seen& seen) { return !holds(seen.end.errors, text); };
}

std::string prompt_in(const Json& body) {
  std::string text;
  for (const Json& item : body["input"].items())
    if (item.string_at("role") == "user")
      for (const Json& part : item["content"].items()) text += part.string_at("text") + "\n";
  return text;
}

bool offers_search(const Seen& seen) {
  const auto& tools = seen.body["tools"].items();
  return std::any_of(tools.begin(), tools.end(),
                     [](const Json& tool) { return tool.string_at("type") == "web_search"; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_flags)

BOOST_AUTO_TEST_CASE(each_flag_of_codex_exec_is_accepted_or_says_what_to_write) {
  const std::string image = "one.png";
  const Check writes = wrote;
  const Check writes_not = [](const Seen& seen) { return !wrote(seen); };
  const Check keeps_none = [](const Seen& seen) { return seen.run.threads().empty(); };
  const Check shows_events = [](const Seen& seen) {
    return events_of(seen.end.output).back().string_at("type") == "turn.completed";
  };
  const auto model_is = [](const std::string& name) {
    return Check([name](const Seen& seen) { return seen.body.string_at("model") == name; });
  };
  const Check has_image = [](const Seen& seen) {
    return holds(write_json(seen.body), "data:image\\/png;base64,") ||
           holds(write_json(seen.body), "data:image/png;base64,");
  };
  const Check wrote_last = [](const Seen& seen) {
    return read_file(seen.run.path("last.txt")) == "{\"n\":1}";
  };
  const auto prompt_has = [](const std::string& text) {
    return Check([text](const Seen& seen) { return holds(prompt_in(seen.body), text); });
  };
  const struct {
    std::vector<std::string> words;  ///< LAST is a file, SCHEMA one too
    int status;
    Check check;
  } rows[] = {
      {{"go"}, 0, writes_not},
      {{"--json", "go"}, 0, shows_events},
      {{"--experimental-json", "go"}, 0, shows_events},
      {{"-m", "gpt-5.1", "go"}, 0, model_is("gpt-5.1")},
      {{"--model=gpt-5.1", "go"}, 0, model_is("gpt-5.1")},
      {{"-s", "read-only", "go"}, 0, writes_not},
      {{"-s", "workspace-write", "go"}, 0, writes},
      {{"--sandbox=workspace-write", "go"}, 0, writes},
      {{"--sandbox", "danger-full-access", "go"}, 0, writes},
      {{"--full-auto", "go"}, 0, writes},
      {{"--full-auto", "-s", "workspace-write", "go"}, 0, says_nothing_of("stricter")},
      {{"-s", "danger-full-access", "--full-auto", "go"},
       0,
       said_on_stderr("the stricter one counts, workspace-write")},
      {{"--full-auto", "-s", "read-only", "go"}, 0, writes_not},
      {{"--full-auto", "--yolo", "go"}, 2, said_on_stderr("give it one of them")},
      {{"--yolo", "go"}, 0, writes},
      {{"--dangerously-bypass-approvals-and-sandbox", "go"}, 0, writes},
      {{"-C", ".", "go"}, 0, any},
      {{"--cd", ".", "go"}, 0, any},
      {{"--add-dir", "/tmp", "go"}, 0, said_on_stderr("a /tmp of their own")},
      {{"--add-dir", "DIR", "go"}, 0, said_on_stderr("-s workspace-write lets it be written")},
      {{"--add-dir", "DIR", "-s", "workspace-write", "go"}, 0, writes},
      {{"go", "-i", image}, 0, has_image},
      {{"--image", image, "--", "go"}, 0, has_image},
      {{"-o", "LAST", "go"}, 0, wrote_last},
      {{"--output-last-message", "LAST", "go"}, 0, wrote_last},
      {{"--output-schema", "SCHEMA", "go"}, 0, any},
      {{"--skip-git-repo-check", "go"}, 0, any},
      {{"--ephemeral", "go"}, 0, keeps_none},
      {{"--color", "never", "go"}, 0, any},
      {{"--color", "always", "go"}, 0, any},
      {{"-c", "model=\"gpt-5.1\"", "go"}, 0, model_is("gpt-5.1")},
      {{"--config", "model=gpt-5.1", "go"}, 0, model_is("gpt-5.1")},
      {{"-p", "ci", "go"}, 0, model_is("gpt-5.1-codex")},
      {{"--profile", "ci", "go"}, 0, model_is("gpt-5.1-codex")},
      {{"--strict-config", "go"}, 0, any},
      {{"--search", "go"}, 0, offers_search},
      {{"-c", "web_search=live", "go"}, 0, offers_search},
      {{"-c", "web_search=disabled", "go"},
       0,
       [](const Seen& seen) { return !offers_search(seen); }},
      {{"-a", "never", "go"}, 0, any},
      {{"--ask-for-approval=never", "go"}, 0, says_nothing_of("nobody is asked")},
      {{"--ask-for-approval", "on-request", "go"}, 0, said_on_stderr("nobody is asked")},
      {{"--trust", "go"}, 0, said_on_stderr("-s workspace-write lets the folder be written to")},
      {{"--approve-for-me", "go"}, 0, said_on_stderr("the sandbox is read-only")},
      {{"--thread-source", "ci", "go"}, 0, any},
      {{"--cyber-access-program", "standard", "go"}, 0, any},
      {{"--approve-for-me", "go"}, 0, any},
      {{"--not-so-yolo", "go"}, 0, any},
      {{"--enable", "x", "--disable", "y", "go"}, 0, any},
      {{"--ignore-user-config", "--ignore-rules", "--trust", "go"}, 0, any},
      {{"--dangerously-bypass-hook-trust", "go"}, 0, any},
      {{"--include-plan-tool", "--progress-cursor", "go"}, 0, any},
      {{"review", "--uncommitted"}, 0, prompt_has("git diff HEAD")},
      {{"review", "--base", "main"}, 0, prompt_has("git diff main...HEAD")},
      {{"review", "--commit", "abc123", "--title", "Mend it"}, 0, prompt_has("git show abc123")},
      {{"--json", "review", "only the tests", "-m", "gpt-5.1"}, 0, prompt_has("only the tests")},
      // Refused, with what to write instead.
      {{"review"}, 2, said_on_stderr("--uncommitted, --base BRANCH, --commit SHA")},
      {{"review", "--base", "main", "--uncommitted"}, 2, said_on_stderr("give it one of")},
      {{"review", "--uncommitted", "--title", "x"}, 2, said_on_stderr("--title is that of")},
      {{"-a", "sometimes", "go"}, 2, said_on_stderr("never")},
      // Nothing goes to a provider that was not meant.
      {{"--local-provider", "ollama", "go"}, 2, said_on_stderr("write: --oss --local-provider")},
      {{"-s", "none", "go"}, 2, said_on_stderr("read-only")},
      {{"--color", "sometimes", "go"}, 2, said_on_stderr("auto")},
      {{"--local-provider", "other", "--oss", "go"}, 2, said_on_stderr("ollama")},
      {{"--remote", "ws://h:1", "go"}, 2, said_on_stderr("write instead: not needed")},
      {{"--output-format", "json", "go"}, 2, said_on_stderr("--json, with other events")},
      {{"--sanbox", "x", "go"}, 2, said_on_stderr("did you mean '--sandbox'")},
      {{"fix", "the", "test"}, 2, said_on_stderr("stands in quotes")},
      {{"resume"}, 2, said_on_stderr("--last")},
      {{"-c", "modle=x", "--strict-config", "go"}, 2, said_on_stderr("did you mean model?")},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    run.write("work/one.png", images::kPng);
    fs::create_directory(run.path("beside"));
    run.write("schema.json", R"({"type":"object","properties":{"n":{"type":"integer"}},)"
                             R"("required":["n"],"additionalProperties":false})");
    const ModelServer server(writer());
    std::vector<std::string> words = row.words;
    for (std::string& word : words) {
      if (word == "LAST") word = run.path("last.txt").string();
      if (word == "DIR") word = run.path("beside").string();
      if (word == "SCHEMA") word = run.path("schema.json").string();
    }
    std::string shown;
    for (const std::string& word : row.words) shown += word + " ";
    BOOST_TEST_CONTEXT(shown) {
      const ProgramEnd end = run.exec(server, words);

      BOOST_TEST(end.status == row.status, end.errors);
      const auto requests = server.requests();
      if (row.status != 0) BOOST_TEST(requests.empty());
      const Json body = requests.empty() ? Json() : parse_json(requests.back().body);
      BOOST_TEST(row.check({run, end, body}), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(options_before_exec_are_those_behind_it) {
  const ExecRun run;
  const struct {
    std::vector<std::string> before;
    const char* has;
  } rows[] = {
      {{"-m", "gpt-5.1"}, "\"model\":\"gpt-5.1\""},
      {{"--model=gpt-5.1", "-a", "never"}, "\"model\":\"gpt-5.1\""},
      {{"--search"}, "web_search"},
      {{"-c", "model_reasoning_effort=xhigh", "--full-auto"}, "\"effort\":\"xhigh\""},
  };
  for (const auto& row : rows) {
    const ModelServer server(writer());
    ProgramStart start = run.exec({"go"}, base_url(server));
    start.argv.insert(start.argv.begin() + 1, row.before.begin(), row.before.end());
    const ProgramEnd end = run_program(start);
    BOOST_TEST_REQUIRE(end.status == 0, end.errors);
    BOOST_TEST(holds(server.requests().front().body, row.has));
  }
  const ProgramEnd other = run_program({.argv = {sortie_binary(), "--nope", "exec", "go"}});
  BOOST_TEST(other.status == 2);
}

BOOST_AUTO_TEST_CASE(the_version_is_printed_for_exec_too) {
  const ExecRun run;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--version"}, {"-V"}, {"exec", "--version"}, {"e", "-V"}}) {
    ProgramStart start = run.exec({});
    start.argv.resize(1);
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(end.output.starts_with("sortie "), words.back());
  }
}

BOOST_AUTO_TEST_CASE(other_commands_of_codex_are_answered_with_what_to_write) {
  const ExecRun run;
  const struct {
    std::vector<std::string> words;
    const char* instead;
  } rows[] = {{{"login", "status"}, "--auth-file"},
              {{"login", "--with-api-key"}, "OPENAI_API_KEY"},
              {{"review", "now"}, "'sortie exec review'"},
              {{"resume"}, "'sortie exec resume'"},
              {{"apply"}, "git apply"}};
  for (const auto& row : rows) {
    ProgramStart start = run.exec({});
    start.argv.resize(1);
    start.argv.insert(start.argv.end(), row.words.begin(), row.words.end());
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 2);
    BOOST_TEST(holds(end.errors, "write instead: "), end.errors);
    BOOST_TEST(holds(end.errors, row.instead), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(scripts_for_codex_exec_run_unchanged) {
  const ExecRun run;
  run.write("work/task.md", "Summarise the log.\n");
  run.write("schema.json", R"({"type":"object","properties":{"n":{"type":"integer"}},)"
                           R"("required":["n"],"additionalProperties":false})");
  // As the documentation of codex, and what people write about it, have them.
  const struct {
    const char* script;
    const char* prints;
    const char* prompt;  ///< of the last request
  } rows[] = {
      {"codex exec \"summarize the repository\"", "{\"n\":1}\n", "summarize the repository"},
      {"codex exec \"release notes\" | tee notes.md > /dev/null; cat notes.md", "{\"n\":1}\n",
       "release notes"},
      {"echo 'fix it' | codex exec -", "{\"n\":1}\n", "fix it"},
      {"codex exec - < task.md", "{\"n\":1}\n", "Summarise the log."},
      {"codex exec < task.md", "{\"n\":1}\n", "Summarise the log."},
      {"echo 'error: x' | codex exec 'explain this log'", "{\"n\":1}\n",
       "<stdin>\nerror: x\n</stdin>"},
      {"codex exec \"$(cat task.md)\" 2>/dev/null", "{\"n\":1}\n", "Summarise the log."},
      {"codex exec --json go | tail -n 1 | cut -c 2-24", "\"type\":\"turn.completed\"\n", "go"},
      {"codex exec --json go 2>/dev/null | grep -c '\"type\":\"agent_message\"'", "1\n", "go"},
      {"codex exec -o \"$HOME_OF_TEST/out.txt\" go > /dev/null && cat \"$HOME_OF_TEST/out.txt\"",
       "{\"n\":1}", "go"},
      {"codex exec --output-schema \"$HOME_OF_TEST/schema.json\" -o \"$HOME_OF_TEST/o.json\" go "
       "> /dev/null; python3 -c \"import json; "
       "print(json.load(open('$HOME_OF_TEST/o.json'))['n'])\"",
       "1\n", "go"},
      {"codex exec --skip-git-repo-check -s read-only --color never --ephemeral go", "{\"n\":1}\n",
       "go"},
      {"codex exec --full-auto -C . go > /dev/null; cat made.txt", "x\n", "go"},
      {"answer=$(codex exec go) && echo \"got $answer\"", "got {\"n\":1}\n", "go"},
      {"codex exec one > /dev/null; codex exec resume --last two", "{\"n\":1}\n", "two"},
      {"id=$(codex exec --json one | head -n 1 | sed 's/.*thread_id\":\"\\([^\"]*\\).*/\\1/'); "
       "codex exec resume \"$id\" two",
       "{\"n\":1}\n", "two"},
      {"codex exec --json go 2>/dev/null | grep -o '\"usage\":{\"input_tokens\":[0-9]*,"
       "\"cached_input_tokens\":[0-9]*,\"cache_write_input_tokens\":' | wc -l",
       "1\n", "go"},
      {"codex e go", "{\"n\":1}\n", "go"},
      {"codex -m gpt-5.1 e --json go | grep -c turn.completed", "1\n", "go"},
      {"codex e one > /dev/null; codex e resume --last two", "{\"n\":1}\n", "two"},
      {"codex -a never exec -s workspace-write go > /dev/null && cat made.txt", "x\n", "go"},
      {"timeout 60 codex exec go </dev/null", "{\"n\":1}\n", "go"},
      {"codex exec --yolo go >/dev/null 2>&1; echo $?", "0\n", "go"},
      {"if ! codex exec -i missing.png -- go 2>/dev/null; then echo failed; fi", "failed\n", ""},
  };
  for (const auto& row : rows) {
    std::vector<ServedResponse> responses = writer();
    const auto more = writer();
    responses.insert(responses.end(), more.begin(), more.end());
    const ModelServer server(responses);
    // A provider of the configuration, as a user's script of that name would have it.
    run.write("bin/codex", "#!/bin/sh\nexec '" + sortie_binary() + "' \"$@\"\n");
    fs::permissions(run.path("bin/codex"), fs::perms::owner_all);
    ProgramStart start = run.exec({});
    start.argv = {"bash", "-c", row.script};
    start.environment["PATH"] = run.path("bin").string() + ":/usr/local/bin:/usr/bin:/bin";
    start.environment["OPENAI_BASE_URL"] = base_url(server);
    start.environment["HOME_OF_TEST"] = run.path("").string();
    BOOST_TEST_CONTEXT(row.script) {
      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.output == row.prints, end.errors);
      const auto requests = server.requests();
      BOOST_TEST(requests.empty() == (*row.prompt == '\0'));
      if (!requests.empty())
        BOOST_TEST(holds(prompt_in(parse_json(requests.back().body)), row.prompt));
    }
    fs::remove(run.workspace() / "made.txt");
    fs::remove(run.workspace() / "notes.md");
  }
}

BOOST_AUTO_TEST_CASE(commands_get_the_variables_that_the_configuration_leaves) {
  const struct {
    const char* name;
    std::vector<std::string> config;
    std::vector<std::string> there;
    std::vector<std::string> not_there;
  } rows[] = {
      {"core", {}, {}, {"A_ONE", "B_TWO", "MY_TOKEN"}},
      {"all", {"inherit=all"}, {"A_ONE=1", "B_TWO=2"}, {"MY_TOKEN", "CODEX_API_KEY"}},
      {"none", {"inherit=none"}, {}, {"A_ONE", "LANGUAGE_OF_TEST"}},
      {"exclude", {"inherit=all", "exclude=[\"A_*\"]"}, {"B_TWO=2"}, {"A_ONE"}},
      {"letter case", {"inherit=all", "exclude=[\"a_*\"]"}, {"B_TWO=2"}, {"A_ONE"}},
      {"include_only", {"include_only=[\"A_*\"]"}, {"A_ONE=1"}, {"B_TWO", "MY_TOKEN"}},
      {"include_only with all", {"inherit=all", "include_only=[\"B*\"]"}, {"B_TWO=2"}, {"A_ONE"}},
      {"include_only of core",
       {"inherit=core", "include_only=[\"A_*\", \"LC_*\"]"},
       {"LC_TEST=de"},
       {"A_ONE", "B_TWO"}},
      {"include_only of none", {"inherit=none", "include_only=[\"A_*\"]"}, {}, {"A_ONE"}},
      {"a secret by its name", {"include_only=[\"MY_TOKEN\"]"}, {"MY_TOKEN="}, {"A_ONE"}},
      {"not one that is excluded, too",
       {"exclude=[\"MY_*\"]", "include_only=[\"MY_TOKEN\"]"},
       {},
       {"MY_TOKEN"}},
      {"set", {"set={NEW_ONE=\"n\", A_ONE=\"other\"}"}, {"NEW_ONE=n", "A_ONE=other"}, {"B_TWO"}},
      {"set, and include_only after it",
       {"set={NEW_ONE=\"n\", OTHER=\"o\"}", "include_only=[\"NEW*\"]"},
       {"NEW_ONE=n"},
       {"OTHER=o", "A_ONE"}},
      {"ignore_default_excludes",
       {"inherit=all", "ignore_default_excludes=true"},
       {"MY_TOKEN="},
       {"CODEX_API_KEY"}},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    CassetteWriter cassette;
    cassette.shell({"env"}).next().message("Done.");
    const ModelServer server(served(cassette));
    std::vector<std::string> words;
    for (const std::string& one : row.config)
      words.insert(words.end(), {"-c", "shell_environment_policy." + one});
    words.emplace_back("go");
    ProgramStart start = run.exec(words, base_url(server));
    start.environment["A_ONE"] = "1";
    start.environment["B_TWO"] = "2";
    start.environment["LC_TEST"] = "de";
    start.environment["MY_TOKEN"] = "token-of-mine-1234";
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end = run_program(start);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const std::string seen = outputs_in(server.requests().back());
      for (const std::string& variable : row.there) BOOST_TEST(holds(seen, variable), variable);
      for (const std::string& variable : row.not_there)
        BOOST_TEST(!holds(seen, "\\n" + variable), variable);
      // What no glob excludes is no secret.
      BOOST_TEST(holds(seen, "token-of-mine-1234") ==
                 (std::string(row.name) == "ignore_default_excludes"));
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_the_prompt_that_are_wrong_are_refused_before_anything_is_sent) {
  const ExecRun run;
  run.write("list.json", "[1]");
  run.write("unknown.json", R"({"type":"object","unevaluatedThing":{"$ref":"http://x/y"}})");
  run.write("outside.json", R"({"$ref":"https://example.org/schema.json"})");
  run.write("binary.json", std::string("\xff\xfe\x00", 3));
  run.write("empty.json", "");
  run.write("long.json", "{\"description\":\"" + std::string(2u << 20, 'x') + "\"}");
  run.write("text.png", "no image");
  run.write("large.png", images::kPng + std::string(64u << 20, '\0'));
  fs::create_directory(run.path("folder.png"));
  const struct {
    const char* flag;
    const char* file;
  } rows[] = {
      {"--output-schema", "missing.json"},
      {"--output-schema", "list.json"},
      {"--output-schema", "outside.json"},
      {"--output-schema", "binary.json"},
      {"--output-schema", "empty.json"},
      {"--output-schema", "long.json"},
      {"--image", "missing.png"},
      {"--image", "text.png"},
      {"--image", "large.png"},
      {"--image", "folder.png"},
  };
  for (const auto& row : rows) {
    const ModelServer server({});
    const ProgramEnd end =
        run.exec(server, {row.flag, run.path(row.file).string(), "--json", "go"});
    BOOST_TEST_CONTEXT(row.file) {
      BOOST_TEST(end.status == 1);
      BOOST_TEST(holds(end.errors, row.flag), end.errors);
      BOOST_TEST(holds(end.errors, row.file), end.errors);
      BOOST_TEST(end.errors.size() < 2000u);
      BOOST_TEST(end.output == "");
      BOOST_TEST(server.requests().empty());
      BOOST_TEST(run.threads().empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

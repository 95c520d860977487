// The threads of `sortie exec`: where they are kept, and what goes on with them.
#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/exec_run.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

CassetteWriter reply(const std::string& text) {
  CassetteWriter cassette;
  cassette.message(text);
  return cassette;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string mode_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "none";
  char text[8];
  std::snprintf(text, sizeof text, "%o", static_cast<unsigned>(status.st_mode & 07777));
  return text;
}

/// The messages of a request without what sortie itself says.
std::string said_in(const ReceivedRequest& request) {
  std::string text;
  for (const std::string& one : message_texts(request))
    if (!one.starts_with("<")) text += (text.empty() ? "" : " | ") + one;
  return text;
}

std::string thread_of(const ProgramEnd& end) {
  return events_of(end.output).front().string_at("thread_id");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_threads)

BOOST_AUTO_TEST_CASE(each_run_of_a_thread_begins_with_its_whole_history) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"echo", "marked-output"}).next().message("One.");
  const ModelServer first(served(cassette));
  const ProgramEnd one = run.exec(first, {"--json", "first"});
  BOOST_TEST_REQUIRE(one.status == 0, one.errors);
  const std::string id = thread_of(one);

  const ModelServer second(served(reply("Two.")));
  const ProgramEnd two = run.exec(second, {"--json", "resume", id, "second"});
  const ModelServer third(served(reply("Three.")));
  const ProgramEnd three = run.exec(third, {"resume", "--last", "-m", "gpt-5", "third"});

  BOOST_TEST_REQUIRE(two.status == 0, two.errors);
  BOOST_TEST(thread_of(two) == id);
  BOOST_TEST(events_of(two.output).back()["usage"].integer_at("input_tokens") <
             events_of(one.output).back()["usage"].integer_at("input_tokens"));
  BOOST_TEST(said_in(second.requests().front()) == "first | One. | second");
  BOOST_TEST_REQUIRE(three.status == 0, three.errors);
  BOOST_TEST(three.output == "Three.\n");
  const ReceivedRequest last = third.requests().front();
  BOOST_TEST(said_in(last) == "first | One. | second | Two. | third");
  BOOST_TEST(has(last.body, "marked-output"));
  BOOST_TEST(parse_json(last.body).string_at("model") == "gpt-5");
  BOOST_TEST(parse_json(last.body).string_at("prompt_cache_key") == id);
  // What the provider cached is sent again byte for byte.
  const std::string before = write_json(parse_json(first.requests().back().body)["input"]);
  const std::string after = write_json(parse_json(last.body)["input"]);
  BOOST_TEST(after.starts_with(before.substr(0, before.size() - 1)));
  BOOST_TEST(run.threads().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_thread_goes_on_after_an_abort) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"echo", "done-before"}).next().shell({"sleep", "600"}).next();
  const ModelServer first(served(cassette));
  ProgramStart start = run.exec({"--json", "first"}, base_url(first));
  Program program(start);
  BOOST_REQUIRE(program.wait_for_output_text("sleep 600"));
  program.signal(SIGTERM);
  const ProgramEnd one = program.finish();
  BOOST_TEST(one.status == 143);
  BOOST_TEST(has(story_of(one.output), "item.completed:command_execution(failed) turn.failed"));

  const ModelServer second(served(reply("Two.")));
  const ProgramEnd two = run.exec(second, {"--json", "resume", thread_of(one), "second"});

  BOOST_TEST_REQUIRE(two.status == 0, two.errors);
  BOOST_TEST(said_in(second.requests().front()) == "first | second");
  BOOST_TEST(has(second.requests().front().body, "done-before"));
}

BOOST_AUTO_TEST_CASE(a_thread_goes_on_after_its_process_was_killed) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"echo", "done-before"}).next().shell({"sleep", "600"}).next();
  const ModelServer first(served(cassette));
  Program program(run.exec({"--json", "first"}, base_url(first)));
  BOOST_REQUIRE(program.wait_for_output_text("sleep 600"));
  program.signal(SIGKILL);
  program.finish();

  const ModelServer second(served(reply("Two.")));
  const ProgramEnd two = run.exec(second, {"resume", "--last", "second"});

  BOOST_TEST_REQUIRE(two.status == 0, two.errors);
  BOOST_TEST(has(second.requests().front().body, "Interrupted: the run was stopped"));
}

// A turn that ends, or is killed, before its first request leaves its prompt to the next one.
BOOST_AUTO_TEST_CASE(a_prompt_that_was_not_sent_is_in_the_next_request) {
  const ExecRun run;
  const ModelServer server(served(reply("Done.")));
  const std::vector<std::string> fails = {"--json",
                                          "-c",
                                          "mcp_servers.own.command=/bin/false",
                                          "-c",
                                          "mcp_servers.own.required=true"};
  auto words = fails;
  write_file(run.path("image.png"), images::kPng);
  words.insert(words.end(), {"-i", run.path("image.png").string(), "--", "first {{it}}"});
  const ProgramEnd one = run.exec(server, words);
  BOOST_TEST_REQUIRE(one.status == 1, one.errors);
  BOOST_TEST_REQUIRE(server.requests().empty());
  words = fails;
  words.insert(words.end(), {"resume", "--last", "second"});
  const ProgramEnd two = run.exec(server, words);
  BOOST_TEST_REQUIRE(two.status == 1, two.errors);
  BOOST_TEST(thread_of(two) == thread_of(one));

  const ProgramEnd three = run.exec(server, {"--json", "resume", "--last", "third"});
  BOOST_TEST_REQUIRE(three.status == 0, three.errors);
  BOOST_TEST(said_in(server.requests().front()) ==
             "first {{it}}\n\n(The images of this message were not kept.) | second | third");
  BOOST_TEST(message_texts(server.requests().front()).front().starts_with("<environment_context>"));
  const ModelServer later(served(reply("Again.")));
  BOOST_TEST(run.exec(later, {"resume", "--last", "fourth"}).status == 0);
  BOOST_TEST(said_in(later.requests().front()) ==
             "first {{it}}\n\n(The images of this message were not kept.) | second | third | Done. | "
             "fourth");
}

BOOST_AUTO_TEST_CASE(the_last_thread_is_that_of_this_workspace) {
  const ExecRun run;
  fs::create_directory(run.path("other"));
  const std::vector<std::string> there = {"-C", run.path("other").string(),
                                          "--skip-git-repo-check"};
  const auto with = [&there](std::vector<std::string> words) {
    words.insert(words.begin(), there.begin(), there.end());
    return words;
  };
  const ModelServer first(served(reply("Here.")));
  BOOST_TEST(run.exec(first, {"first here"}).status == 0);
  const ModelServer other(served(reply("There.")));
  BOOST_TEST(run.exec(other, with({"first there"})).status == 0);

  const ModelServer second(served(reply("Again.")));
  BOOST_TEST(run.exec(second, {"resume", "--last", "second"}).status == 0);
  BOOST_TEST(said_in(second.requests().front()) == "first here | Here. | second");
  const ModelServer third(served(reply("Again.")));
  BOOST_TEST(run.exec(third, with({"resume", "--last", "third"})).status == 0);
  BOOST_TEST(said_in(third.requests().front()) == "first there | There. | third");
  const ModelServer fourth(served(reply("Again.")));
  BOOST_TEST(run.exec(fourth, {"resume", "--last", "--all", "fourth"}).status == 0);
  BOOST_TEST(has(said_in(fourth.requests().front()), "third"));
}

BOOST_AUTO_TEST_CASE(the_words_of_resume_stand_in_any_order) {
  const ExecRun run;
  const ModelServer first(served(reply("One.")));
  BOOST_TEST(run.exec(first, {"--", "-first"}).status == 0);
  BOOST_TEST(said_in(first.requests().front()) == "-first");
  const std::string id = run.threads().front();
  const struct {
    std::vector<std::string> words;
    const char* piped;
  } rows[] = {
      {{"resume", id, "go on"}, ""},
      {{"resume", "--last", "go on"}, ""},
      {{"resume", "go on", "--last"}, ""},
      {{"--json", "resume", "-m", "gpt-5", id, "go on", "--skip-git-repo-check"}, ""},
      {{"resume", "--last", "--", "go on"}, ""},
      {{"resume", "--last"}, "go on"},
      {{"resume", id, "-"}, "go on"},
  };
  for (const auto& row : rows) {
    const ModelServer server(served(reply("Two.")));
    BOOST_TEST_CONTEXT(row.words.back()) {
      const ProgramEnd end = run.exec(server, row.words, row.piped);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      BOOST_TEST(said_in(server.requests().front()).ends_with(" | go on"));
    }
  }
}

BOOST_AUTO_TEST_CASE(images_of_a_resumed_turn_are_at_its_prompt) {
  const ExecRun run;
  run.write("a.png", images::kPng);
  const ModelServer first(served(reply("One.")));
  BOOST_TEST(run.exec(first, {"first"}).status == 0);
  const ModelServer second(served(reply("Two.")));

  BOOST_TEST(
      run.exec(second, {"resume", "--last", "-i", run.path("a.png").string()}, "look").status == 0);

  const Json body = parse_json(second.requests().front().body);
  const Json& parts = body["input"].items().back()["content"];
  BOOST_TEST(parts.items().size() == 2u);
  BOOST_TEST(parts.items().back().string_at("type") == "input_image");
}

BOOST_AUTO_TEST_CASE(threads_are_kept_private_in_the_first_home_that_is_named) {
  const struct {
    const char* name;
    std::map<std::string, std::string> homes;  ///< below the test's folder
    const char* threads;
  } rows[] = {
      {"codex's", {{"CODEX_HOME", "c"}, {"SORTIE_HOME", "s"}}, "c/threads"},
      {"sortie's", {{"SORTIE_HOME", "s"}, {"XDG_STATE_HOME", "x"}}, "s/threads"},
      {"the state folder", {{"XDG_STATE_HOME", "x"}}, "x/sortie/threads"},
      {"the user's", {{"HOME", "h"}}, "h/.local/state/sortie/threads"},
  };
  for (const auto& row : rows) {
    const ExecRun run;
    const ModelServer server(served(reply("One.")));
    ProgramStart start = run.exec({"--json", "go"}, base_url(server));
    start.environment["CODEX_HOME"] = "";
    for (const auto& [name, folder] : row.homes)
      start.environment[name] = run.path(folder).string();
    BOOST_TEST_CONTEXT(row.name) {
      const ProgramEnd end = run_program(start);

      BOOST_TEST_REQUIRE(end.status == 0, end.errors);
      const fs::path thread = run.path(row.threads) / thread_of(end);
      BOOST_TEST(mode_of(thread) == "700");
      BOOST_TEST(mode_of(thread.parent_path()) == "700");
      BOOST_TEST(mode_of(thread.parent_path().parent_path()) == "700");
      BOOST_TEST(fs::exists(thread / thread_of(end) / "transcript.jsonl"));
      BOOST_TEST(!fs::exists(thread / thread_of(end) / "state"));
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_place_nothing_is_kept_and_that_is_said) {
  const ExecRun run;
  run.write("home/threads", "a file, not a folder");
  const ModelServer server(served(reply("One.")));

  const ProgramEnd end = run.exec(server, {"--json", "go"});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(has(end.errors, "can't be resumed"));
  const ModelServer next({});
  BOOST_TEST(run.exec(next, {"resume", thread_of(end), "go"}).status == 1);
}

BOOST_AUTO_TEST_CASE(an_ephemeral_turn_leaves_nothing) {
  const ExecRun run;
  fs::create_directory(run.path("tmp"));
  const ModelServer server(served(reply("One.")));
  ProgramStart start = run.exec({"--ephemeral", "go"}, base_url(server));
  start.environment["TMPDIR"] = run.path("tmp").string();
  const auto before = read_tree(run.path("work"));

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(end.output == "One.\n");
  BOOST_TEST(!has(end.errors, "resume"));
  BOOST_TEST(run.threads().empty());
  BOOST_TEST(fs::is_empty(run.path("tmp")));
  BOOST_TEST((read_tree(run.path("work")) == before));
}

BOOST_AUTO_TEST_CASE(commands_do_not_see_threads_in_the_workspace) {
  const ExecRun run;
  const ModelServer first(served(reply("One.")));
  const auto start_in = [&run](const std::vector<std::string>& words, const ModelServer& server) {
    ProgramStart start = run.exec(words, base_url(server));
    start.environment["CODEX_HOME"] = (run.workspace() / "codex").string();
    return start;
  };
  BOOST_TEST(run_program(start_in({"a secret prompt"}, first)).status == 0);
  CassetteWriter cassette;
  cassette.shell({"grep", "-r", "a secret prompt", "."}).next().message("Two.");
  const ModelServer second(served(cassette));

  BOOST_TEST(run_program(start_in({"find it"}, second)).status == 0);

  const Json body = parse_json(second.requests().back().body);
  BOOST_TEST(has(write_json(body["input"].items().back()), "Exit code: 1"));
}

BOOST_AUTO_TEST_SUITE_END()

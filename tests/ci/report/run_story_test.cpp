#include "ci/report/run_story.h"

#include <boost/test/unit_test.hpp>

#include <fstream>

#include "ci/report/call_words.h"
#include "ci/report/diff_story.h"
#include "ci/report/read_story.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/record/event_codec.h"
#include "core/record/transcript.h"
#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/scripted_model.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kDiff =
    "diff --git a/a.txt b/a.txt\n"
    "index 78981922613b2afb6025042ff6bd878ac1994e85..61780798228d17af2d34fce4cfbdf35556832472 100644\n"
    "--- a/a.txt\n"
    "+++ b/a.txt\n"
    "@@ -1 +1,2 @@\n"
    "-a\n"
    "+b\n"
    "+c\n"
    "diff --git a/new.txt b/new.txt\n"
    "new file mode 100644\n"
    "index 0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n";

RunEvent run_started() {
  RunStart start;
  start.run_id = "run-1";
  start.task = {"sha256:1", "task.yaml", R"({"name":"mend"})"};
  start.policy = {"sha256:2", "policy.yaml", "{}"};
  start.model = Json::object({{"provider", "openai"}, {"name", "m"}});
  return {0, std::move(start)};
}

RunEvent answer(int turn, std::vector<Item> items, Usage usage = {}) {
  Response given = response(std::move(items), usage);
  given.raw_usage = Json::object();
  given.duration = 2s;
  return model_response_event(turn, given, {.cost = Cost::usd(0.5)});
}

RunEvent decided(int turn, const ToolCall& call, const char* decision, const char* word) {
  Json json = Json::object({{"decision", decision}, {"reason", "because"}});
  if (std::string(decision) == "deny") json.set("would_allow_yaml", "commands:\n  - allow: [x]\n");
  return approval_event(turn, call,
                        Json::array({Json::object({{"argv", Json::array({word, "now"})}})}), json);
}

RunEvent output(int turn, const std::string& id, std::string text, int code = 0) {
  ToolOutputRecord record{.call_id = id, .tool = "shell", .output = std::move(text)};
  record.exit = ExitStatus{.code = code};
  record.success = code == 0;
  record.duration = 1s;
  return {turn, std::move(record)};
}

std::vector<RunEvent> verified(const std::string& text, int code) {
  const VerificationRecord command{VerificationPhase::after, 1, "make test", {"make", "test"}};
  VerificationCompleted done;
  static_cast<VerificationRecord&>(done) = command;
  done.exit.code = code;
  done.passed = code == 0;
  done.output = text;
  return {{1, command}, {1, done}};
}

RunEvent run_ended() {
  RunEnd end;
  end.code = ExitCode::task_failed;
  end.reason = "verification failed";
  end.result = parse_json(
      R"({"status":"task-failed","exit_code":1,"reason":"verification failed: exit 2",)"
      R"("next":"read it","verified":false,"artifacts":{"last-message.txt":"sha256:1","partial.diff":"sha256:0",)"
      R"("submodules/../../x.diff":"sha256:0"},"ignored_changes":["build/x"],)"
      R"("verification":{"changed":["new.txt"]},"durations":{"own_ms":7},)"
      R"("guarantees":{"writes":{"proved":true,"detail":"tried"}},"warnings":["look"]})");
  return {1, std::move(end)};
}

/// A run with one turn, a denial, a failed verification, and a diff.
std::vector<RunEvent> failed_run() {
  const ToolCall one{"c1", "shell", R"({"command":["ls"]})"};
  const ToolCall two{"c2", "shell", R"({"command":["push"]})"};
  std::vector<RunEvent> events = {
      run_started(),
      {1, TurnStarted{1, 10, Json::object()}},
      answer(1, {assistant("I look."), Item{one}, Item{two}},
             {.input_tokens = 100, .cached_input_tokens = 40, .output_tokens = 5}),
      decided(1, one, "allow", "ls"),
      {1, ToolCalled{one}},
      output(1, "c1", "a.txt\n"),
      {1, FileChange{.path = "a.txt"}},
      decided(1, two, "deny", "push"),
  };
  for (RunEvent& event : verified("1 failed\n", 2)) events.push_back(std::move(event));
  return events;
}

void record(const TemporaryFolder& folder, const std::vector<RunEvent>& events) {
  FakeClock clock;
  Transcript transcript(folder.path(), clock);
  for (const RunEvent& event : events) transcript.on(to_record(event));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_story)

BOOST_AUTO_TEST_CASE(a_policy_is_named_by_its_file_or_its_preset) {
  const struct {
    SourceFile policy;
    const char* name;
  } rows[] = {{{"sha256:2", "ci/policy.yaml", R"({"name":"mine"})"}, "ci/policy.yaml"},
              {{"sha256:2", "", R"({"name":"auto"})"}, "preset auto"},
              {{"sha256:2", "", "not JSON"}, ""}};
  for (const auto& row : rows) {
    const TemporaryFolder folder;
    RunStart start;
    start.run_id = "run-1";
    start.policy = row.policy;
    record(folder, {{0, std::move(start)}, run_ended()});

    BOOST_TEST(read_run_story(folder.path()).setting.policy_name == row.name);
  }
}

BOOST_AUTO_TEST_CASE(a_call_is_told_without_its_tools_name_and_with_its_first_line) {
  const struct {
    const char* name;
    std::vector<std::string> argv;
    const char* words;
  } rows[] = {{"one word", {"rm", "-r", "build"}, "rm -r build"},
              {"a script", {"sh", "-c", "make"}, "make"},
              {"lines", {"bash", "-lc", "\nset -e\nmake\nmake test\n"}, "set -e … 2 more lines"}};
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      RecordedAction tool;
      tool.name = "shell";
      RecordedAction command;
      command.argv = row.argv;
      BOOST_TEST(words_of_actions({tool, command}, "shell") == row.words);
      BOOST_TEST(words_of_actions({tool}, "shell").empty());
      BOOST_TEST(words_of_actions({tool}, "mcp") == "shell");
    }
}

BOOST_AUTO_TEST_CASE(a_failed_run_is_told_from_its_transcript_and_its_diff) {
  const TemporaryFolder folder;
  std::vector<RunEvent> events = failed_run();
  events.push_back(run_ended());
  record(folder, events);
  write_file(folder / "partial.diff", kDiff);

  const RunStory story = read_run_story(folder.path());

  BOOST_TEST(story.problem == "");
  BOOST_TEST(story.verdict.ended);
  BOOST_TEST(story.verdict.code == 1);
  BOOST_TEST(story.verdict.cause == "verification failed: exit 2");
  BOOST_TEST(story.verdict.next == "read it");
  BOOST_TEST(story.setting.task_name == "mend");
  BOOST_TEST(story.setting.guarantees.at(0).proved);
  BOOST_REQUIRE(story.failing_round() != nullptr);
  BOOST_TEST(story.failing_round()->commands.at(0).output.head == "1 failed\n");
  BOOST_TEST(story.failing_round()->commands.at(0).ending == "exit 2");
  BOOST_TEST(story.denials.at(0).what == "push now");
  BOOST_TEST(story.denials.at(0).yaml == "commands:\n  - allow: [x]\n");
  BOOST_TEST(story.usage.fresh() == 60);
  BOOST_TEST(story.times.own.count() == 7);
  BOOST_TEST(story.message.empty());  // the only turn had calls
  BOOST_TEST(story.warnings.at(0) == "look");
  const StoryTurn& turn = story.turns.at(0);
  BOOST_TEST(turn.words.head == "I look.");
  BOOST_TEST(turn.calls.at(0).what == "ls now");
  BOOST_TEST(turn.calls.at(0).ran);
  BOOST_TEST(turn.calls.at(0).output.head == "a.txt\n");
  BOOST_TEST(!turn.calls.at(1).ran);
  BOOST_TEST(turn.times.model.count() == 2000);
}

BOOST_AUTO_TEST_CASE(denied_connections_are_denials_with_one_block_for_all) {
  const TemporaryFolder folder;
  std::vector<RunEvent> events = {run_started(), {1, TurnStarted{1, 10, Json::object()}}};
  const auto denied = [&](const char* host, const char* entry) {
    events.push_back({1, NetworkRecord{.host = host,
                                       .port = 443,
                                       .method = "CONNECT",
                                       .reason = "not listed",
                                       .would_allow = entry}});
  };
  for (int i = 0; i < 3; ++i) denied("a.example", "a.example:443");
  denied("10.0.0.1", "");
  for (const char* word : {"make", "push"}) {
    Json decision = Json::object({{"decision", "deny"}, {"reason", "no rule"}});
    decision.set("would_allow", Json::object({{"commands", Json::array({word})}}));
    decision.set("would_allow_yaml", std::string("commands: [") + word + "]");
    events.push_back(approval_event(1, {"c", "shell", "{}"},
                                    Json::array({Json::object({{"argv", Json::array({word})}})}),
                                    decision));
  }
  record(folder, events);

  const RunStory story = read_run_story(folder.path());

  BOOST_TEST(story.denied_words() == "2 calls, 4 connections");
  BOOST_REQUIRE(story.denials.size() == 4u);
  const StoryDenial& first = story.denials[0];
  BOOST_TEST(first.host);
  BOOST_TEST(first.what == "a.example:443");
  BOOST_TEST(first.count == 3);
  BOOST_TEST(first.yaml == "network: {allow: [\"a.example:443\"]}");
  BOOST_TEST((first.lists == std::vector<std::string>{"network.allow"}));
  BOOST_TEST(story.allowing_all == "commands: [make, push]\nnetwork: {allow: [\"a.example:443\"]}");
  // In the timeline they are one note where they happened.
  BOOST_REQUIRE(story.notes.size() == 2u);
  BOOST_TEST(story.notes[0].text == "no connection to a.example:443: not listed (3 times)");
}

BOOST_AUTO_TEST_CASE(each_changed_file_has_its_hunks_and_who_wrote_it) {
  const TemporaryFolder folder;
  std::vector<RunEvent> events = failed_run();
  events.push_back(run_ended());
  record(folder, events);
  write_file(folder / "partial.diff", kDiff);

  const StoryChanges changes = read_run_story(folder.path()).changes;

  BOOST_TEST(changes.problem == "");
  BOOST_REQUIRE(changes.files.size() == 2u);
  BOOST_TEST(changes.added == 2);
  BOOST_TEST(changes.removed == 1);
  const StoryFile& first = changes.files[0];
  BOOST_TEST(first.path == "a.txt");
  BOOST_TEST(first.by_agent);
  BOOST_TEST(!first.by_verification);
  BOOST_TEST(first.hunks.at(0).new_line == 1);
  BOOST_TEST(first.hunks.at(0).lines.at(2) == "+c");
  BOOST_TEST((changes.files[1].kind == StoryFileKind::added));
  BOOST_TEST(changes.files[1].by_verification);
  BOOST_TEST(changes.left_out.at(0).path == "build/x");
}

BOOST_AUTO_TEST_CASE(of_files_that_only_the_record_names_no_lines_are_claimed) {
  const TemporaryFolder folder;
  std::vector<RunEvent> events = failed_run();
  events.push_back({1, DiffWritten{.name = "partial.diff",
                                   .files = {{.path = "a.txt", .after = RecordedSide{}}}}});
  events.push_back(run_ended());
  record(folder, events);

  const StoryChanges changes = read_run_story(folder / kTranscriptName).changes;

  BOOST_REQUIRE(changes.files.size() == 1u);
  BOOST_TEST(words_of_lines(changes.added, changes.removed) == "lines unknown");
  BOOST_TEST(words_of_lines(changes.files[0].added, changes.files[0].removed) == "lines unknown");
  BOOST_TEST(words_of_lines(1200, 3) == "+1,200 -3");
}

BOOST_AUTO_TEST_CASE(a_plan_is_told_by_its_reason_or_by_its_step) {
  const TemporaryFolder folder;
  const Json steps = parse_json(
      R"([{"step":"look","status":"completed"},{"step":"write the test","status":"in_progress"}])");
  record(folder, {run_started(),
                  {1, TurnStarted{1, 10, Json::object()}},
                  {1, PlanUpdated{"", steps}},
                  {1, PlanUpdated{"it is harder", steps}},
                  {1, PlanUpdated{"", Json::array()}}});

  std::string texts;
  for (const StoryNote& note : read_run_story(folder.path()).notes) texts += note.text + "\n";

  BOOST_TEST(texts ==
             "plan, 1 of 2 steps done: write the test\nplan, 1 of 2 steps done: it is harder\n"
             "plan, 0 of 0 steps done\n");
}

BOOST_AUTO_TEST_CASE(of_a_long_message_both_ends_are_told) {
  std::vector<RunEvent> events = failed_run();
  events.push_back(run_ended());
  std::string lines;
  for (int i = 0; i < 400'000; ++i) lines += "line " + std::to_string(i) + "\n";
  for (const std::size_t size : {std::size_t{100}, std::size_t{600'000}, lines.size()}) {
    BOOST_TEST_CONTEXT(size) {
      const TemporaryFolder folder;
      record(folder, events);
      std::string text = lines.substr(0, size);
      text.back() = '\n';
      write_file(folder / "last-message.txt", text);
      const Excerpt whole = excerpt_of(trimmed(text), {.head = 64u << 10, .tail = 4096});

      const Excerpt told = read_run_story(folder.path()).message;

      BOOST_TEST(told.head == whole.head);
      BOOST_TEST(told.tail == whole.tail);
      BOOST_TEST(told.left_out == whole.left_out);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_without_an_end_is_told_as_far_as_it_went) {
  const TemporaryFolder folder;
  record(folder, failed_run());
  {
    std::ofstream torn(folder / kTranscriptName, std::ios::app);
    torn << R"({"seq":99,"ts":)";
  }

  const RunStory story = read_run_story(folder / kTranscriptName);

  BOOST_TEST(!story.verdict.ended);
  BOOST_TEST(story.verdict.status == "unfinished");
  BOOST_TEST(story.turns.size() == 1u);
  BOOST_TEST(story.denied_calls == 1);
}

BOOST_AUTO_TEST_CASE(a_record_that_can_not_be_read_ends_the_story_and_is_named) {
  const TemporaryFolder folder;
  record(folder, failed_run());
  {
    std::ofstream more(folder / kTranscriptName, std::ios::app);
    more << "not a record\n";
  }

  const RunStory story = read_run_story(folder.path());

  BOOST_TEST(story.problem.starts_with("transcript.jsonl:"));
  BOOST_TEST(story.turns.size() == 1u);
  const std::string number = std::to_string(failed_run().size() + 1);
  BOOST_TEST(story.verdict.cause == "cut: record " + number + " can't be read");
  BOOST_TEST(story.verdict.next == "");
  BOOST_CHECK_THROW(read_run_story(folder / "nothing"), Error);
}

BOOST_AUTO_TEST_CASE(a_record_that_is_too_long_is_told_as_that) {
  for (const char* type : {"tool.output", "model.request"}) {
    const TemporaryFolder folder;
    record(folder, failed_run());
    {
      std::ofstream more(folder / kTranscriptName, std::ios::app);
      more << R"({"seq":99,"ts":"2026-11-23T05:00:53.955Z","type":")" << type
           << R"(","turn":1,"prev":"","data":{"x":")" << std::string(9u << 20, 'x') << "\"}}\n";
    }

    const RunStory story = read_run_story(folder.path());

    BOOST_TEST(story.problem.ends_with(": is longer than 8 MiB, which no record is"),
               story.problem);
    BOOST_TEST(story.verdict.cause.starts_with("cut: record "), story.verdict.cause);
  }
}

BOOST_AUTO_TEST_CASE(of_a_long_output_only_the_ends_are_read) {
  const TemporaryFolder folder;
  const ToolCall one{"c1", "shell", "{}"};
  std::string text = "begin\n";
  for (int i = 0; i < 400'000; ++i) text += "line " + std::to_string(i) + "\n";
  record(folder, {run_started(),
                  {1, TurnStarted{}},
                  decided(1, one, "allow", "ls"),
                  {1, ToolCalled{one}},
                  output(1, "c1", text + "end\n")});

  const Excerpt shown = read_run_story(folder.path()).turns.at(0).calls.at(0).output;

  BOOST_TEST(shown.head.starts_with("begin\nline 0\n"));
  BOOST_TEST(shown.tail.ends_with("line 399999\nend\n"));
  BOOST_TEST(shown.head.size() + shown.tail.size() < 10'000u);
  BOOST_TEST(shown.head.size() + shown.left_out + shown.tail.size() == text.size() + 4);
}

BOOST_AUTO_TEST_CASE(a_blob_outside_of_the_folder_is_not_read) {
  const TemporaryFolder folder;
  write_file(folder / "secret", "outside");
  std::filesystem::create_directories(folder / "run" / "blobs");
  const std::string name = "sha256-" + std::string(64, 'a');
  std::filesystem::create_symlink("../../secret", folder / "run" / "blobs" / name);
  const ToolCall one{"c1", "shell", "{}"};
  {
    FakeClock clock;
    Transcript transcript(folder / "run", clock);
    transcript.on(to_record(run_started()));
    transcript.on(to_record({1, ToolCalled{one}}));
    for (const std::string& blob : {name, std::string("sha256-/../../../secret")}) {
      Record record = to_record(output(1, "c1", ""));
      record.data.set("output", Json::object({{"blob", blob}, {"bytes", 7}, {"head", "the head"}}));
      transcript.on(record);
    }
  }

  const RunStory story = read_run_story(folder / "run");

  for (const StoryCall& call : story.turns.at(0).calls) BOOST_TEST(call.output.head == "the head");
}

BOOST_AUTO_TEST_CASE(what_hides_or_turns_text_is_shown) {
  BOOST_TEST(visible_text("a\x1b[31mb\xe2\x80\xae c\xe2\x80\x8b\xff") ==
             "ab[U+202E] c[U+200B]\xef\xbf\xbd");
  BOOST_TEST(visible_text("h\xc3\xa9\tx\n") == "h\xc3\xa9\tx\n");
  BOOST_TEST(visible_line("a\nb", 10) == "a b");
}

BOOST_AUTO_TEST_CASE(a_diff_of_another_form_is_a_problem_not_an_end) {
  const TemporaryFolder folder;
  write_file(folder / "changes.diff", "hello\n");
  StoryChanges changes;
  add_diff(folder / "changes.diff", "", changes);
  BOOST_TEST(changes.problem.starts_with("changes.diff: "));
  add_diff(folder / "none.diff", "", changes);
  BOOST_TEST(changes.problem == "none.diff is missing, or is no regular file");
}

BOOST_AUTO_TEST_CASE(numbers_that_no_run_can_have_are_unknown) {
  for (const std::int64_t tokens : {std::int64_t{-6}, std::int64_t{9'000'000'000'000'000'000}}) {
    const TemporaryFolder folder;
    RunEvent answered =
        answer(1, {assistant("Done.")}, {.input_tokens = tokens, .output_tokens = 5});
    std::get<ModelAnswered>(answered.what).duration = -1ms;
    RunEnd end;
    end.result = parse_json(R"({"status":"success","exit_code":-1,"durations":{"own_ms":-7}})");
    record(folder, {run_started(),
                    {1, TurnStarted{1, 10, Json::object()}},
                    answered,
                    answered,
                    {1, std::move(end)}});

    const RunStory story = read_run_story(folder.path());

    BOOST_TEST(story.usage.input == kUnknown);
    BOOST_TEST(story.usage.output == 10);
    BOOST_TEST(story.usage.total() == kUnknown);
    BOOST_TEST((story.times.model == kUnknownTime && story.times.total() == kUnknownTime));
    BOOST_TEST(story.verdict.code == -1);
    BOOST_TEST(words_of_time(story.times.own) == "unknown");
  }
  for (const int code : {-1, 256}) {
    ExitStatus exit;
    exit.code = code;
    BOOST_TEST(words_of_ending(exit, false) == "exit code unknown");
  }
}

BOOST_AUTO_TEST_CASE(a_code_that_does_not_belong_to_the_status_is_unknown) {
  const struct {
    const char* result;
    int code;
  } rows[] = {{R"({"status":"success","exit_code":0})", 0},
              {R"({"status":"nothing-to-do","exit_code":0})", 0},
              {R"({"status":"success","exit_code":1})", -1},
              {R"({"status":"task-failed","exit_code":0})", -1},
              {R"({"status":"of its own","exit_code":1})", -1},
              {R"({"status":"task-failed"})", 1}};
  for (const auto& row : rows) {
    const TemporaryFolder folder;
    RunEnd end;
    end.code = ExitCode::task_failed;
    end.result = parse_json(row.result);
    record(folder, {run_started(), {1, std::move(end)}});
    BOOST_TEST(read_run_story(folder.path()).verdict.code == row.code, row.result);
  }
}

BOOST_AUTO_TEST_SUITE_END()

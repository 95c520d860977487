#include "tests/core/record/sample_run.h"

#include <boost/test/unit_test.hpp>

#include "core/agent/budget.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/record/event_codec.h"
#include "core/record/transcript.h"
#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/scripted_model.h"

namespace sortie::test {
namespace {

constexpr const char* kDiff = "--- a/x\n+++ b/x\n";

RunEvent start_event() {
  return {0, RunStart{.run_id = "run-1",
                      .run_key = "key",
                      .task = {"sha256:1", "task.yaml", "version: 1\n"},
                      .policy = {"sha256:2", "", "version: 1\n"},
                      .workspace = {.path = "/w"},
                      .model = Json::object({{"name", "m"}}),
                      .budget = to_json(TaskBudget{})}};
}

RunEvent end_event() {
  RunEnd end;
  end.reason = "done";
  end.usage = end.durations = end.counts = Json::object();
  end.artifacts = {{"changes.diff", "sha256:" + sha256_hex(kDiff)}};
  return {1, end};
}

}  // namespace

std::vector<RunEvent> sample_events() {
  const ToolCall one{"c1", "shell", R"({"command":["ls"]})"};
  const VerificationRecord verify{VerificationPhase::after,
                                  1,
                                  "make test",
                                  {"sh", "-c", "make test"},
                                  true,
                                  "fresh",
                                  "sha256:00"};
  ExitStatus failed;
  failed.code = 2;
  Response answer = response({assistant("hé"), Item{one}}, Usage{.input_tokens = 10});
  answer.raw_usage = Json::object({{"input_tokens", 10}});
  return {
      start_event(),
      {1, TurnStarted{3, 500, Json::object({{"turns", 200}})}},
      model_request_event(1, {.provider = "p", .wire = "w", .body_sha256 = "x"}, 1,
                          {user("Do it."), Item{ToolOutput{"c0", "ok"}}}),
      {1, RetryRecord{.status = 503, .kind = "status", .message = "later"}},
      {1, RetryRecord{.kind = "cut", .retry_after = std::chrono::seconds(3)}},
      {1,
       PacedWait{
           .limit = "openai", .cause = "queue", .ahead = 2, .expected = std::chrono::seconds(3)}},
      {1, PacedWait{.limit = "openai", .cause = "tokens", .waited = std::chrono::seconds(3)}},
      {1, ModelCutOff{1, "p m", Usage{.input_tokens = 10, .output_tokens = 4}, Cost::usd(1)}},
      model_response_event(1, answer),
      check_hit_event(1, "unusable_item", "a call without an id", "mend it"),
      approval_event(
          1, one,
          Json::array({Json::object({{"kind", "run_command"}, {"argv", Json::array({"ls"})}})}),
          Json::object(
              {{"decision", "allow"},
               {"rule",
                Json::object({{"file", "p.yaml"}, {"line", 3}, {"text", "allow: [ls]"}})}})),
      mcp_server_event(1, {.server = "docs",
                           .state = ServerState::started,
                           .protocol_version = "2025-11-25",
                           .identity = "docs 1.0",
                           .tools = Json::array({"search"}),
                           .pin = "sha256:00"}),
      mcp_message_event(1, "docs", "stderr", "ready"),
      tool_call_event(1, one),
      RunEvent{1, ToolOutputRecord{.call_id = "c1",
                                   .tool = "shell",
                                   .exit = ExitStatus{},
                                   .output = "a\nb\n",
                                   .shown = "a",
                                   .dropped_bytes = 2,
                                   .changed_files = {"M x"}}},
      RunEvent{1, PlanUpdated{"why", Json::array()}},
      RunEvent{
          1,
          FileChange{
              .path = "x", .kind = ChangeKind::update, .sha256_before = "1", .sha256_after = "2"}},
      {1,
       StartChanges{
           .digest = "sha256:" + sha256_hex("gone a.txt\n"), .changes = 1, .list = "gone a.txt\n"}},
      {1, DiffWritten{.name = "changes.diff",
                      .sha256 = sha256_hex(kDiff),
                      .base = "head",
                      .base_commit = std::string(40, 'a'),
                      .prefix = "sub/",
                      .files = {{.path = "x",
                                 .old_path = "w",
                                 .before = RecordedSide{"100644", sha256_hex("a"), 1},
                                 .after = RecordedSide{"100755", sha256_hex("b"), 1},
                                 .base_content = "YQ=="}}}},
      {1, NetworkRecord{.id = 1,
                        .state = ConnectionState::denied,
                        .host = "a.example",
                        .port = 443,
                        .method = "CONNECT",
                        .reason = "not listed",
                        .would_allow = "a.example:443"}},
      {1, NetworkRecord{.id = 2,
                        .state = ConnectionState::opened,
                        .host = "b.example",
                        .port = 443,
                        .method = "CONNECT",
                        .rule = "b.example"}},
      {1, verify},
      {1, VerificationCompleted{verify, failed, "no"}},
      {1, FallbackRecord{"openai a", "anthropic b", "HTTP status 503", 1}},
      {1, StageRecord{"plan", "Make a plan.", {"read_file"}, "read-only"}},
      {1, StageCompleted{"plan", "", 1}},
      {1, CompactionRecord{"compact_at", CompactionMethod::summary, "", 3, 1, 900, 200,
                           "what was done"}},
      {1, BudgetExhausted{BudgetKind::turns, 1, 1}},
      end_event(),
  };
}

void record_run(const std::filesystem::path& folder, const std::vector<RunEvent>& events) {
  FakeClock clock;
  Transcript transcript(folder, clock);
  for (const RunEvent& event : events) transcript.on(to_record(event));
  write_file(folder / "changes.diff", kDiff);
  write_file(
      folder / "result.json",
      R"({"status":"success","exit_code":0,"run_id":"run-1","digests":{"transcript":"sha256:)" +
          transcript.last_digest() + "\"}}");
}

void check_schema(const std::filesystem::path& folder) {
  const JsonSchema schema(transcript_schema());
  const std::string text = read_file(folder / kTranscriptName);
  for (const auto line : split_lines(text)) {
    const auto findings = schema.check(parse_json(line));
    BOOST_TEST(findings.empty(), describe(findings) << " in " << line.substr(0, 300));
  }
}

}  // namespace sortie::test

#include "tests/ci/report/sample_story.h"

namespace sortie::test {
namespace {

using namespace std::chrono_literals;

StoryCall call(std::string tool, std::string what, Excerpt output) {
  StoryCall made;
  made.id = "call_1";
  made.tool = std::move(tool);
  made.what = std::move(what);
  made.arguments = {.head = R"({"command":["bash","-lc","python3 -m unittest -q"]})"};
  made.ruling = Ruling::allow;
  made.rule = "policy.yaml:12: allow python3 -m unittest";
  made.ran = made.done = made.success = true;
  made.duration = 412ms;
  made.output = std::move(output);
  return made;
}

StoryTurn turn(int number, std::string words) {
  StoryTurn made;
  made.number = number;
  made.stage = "plan";
  made.model = "gpt-5-codex";
  made.answered = true;
  made.usage = {.input = 4200 + number * 1900,
                .cached = (number - 1) * 2300,
                .output = 310 + number * 83,
                .usd = 0.0123};
  made.times = {.model = 3200ms + number * 400ms, .tools = 512ms};
  made.stop_reason = "completed";
  made.words = {.head = std::move(words)};
  return made;
}

void add_settings(RunStory& story) {
  story.setting.run_id = "01a206c7-4b01-7949-b590-8e5052d12bb5";
  story.setting.sortie = "0.1.0";
  story.setting.task_name = "slug-length";
  story.setting.task_path = "task.yaml";
  story.setting.task_digest =
      "sha256:27920be8fcb2d248fdb65a4280b634043d9e683aec43b9a6b3ac15dc52be5c76";
  story.setting.policy_name = "policy.yaml";
  story.setting.policy_digest =
      "sha256:02365aed4267bcbcf2a17ebea0e9f9dc15430947912698d9fa4a0fbe4bddcbf4";
  story.setting.model_requested = story.setting.model_served = "gpt-5-codex";
  story.setting.approval = "deny-by-default";
  story.setting.workspace = "/build/project";
  story.setting.base_commit = "9f2c41e07a5d";
  story.setting.isolation = "overlay";
  story.setting.isolation_reason = "the first choice, and it works here";
  story.setting.sandbox_mode = "workspace-write";
  story.setting.network = "none";
  story.setting.missing_layers = {"cgroup: memory and pids are not handed down here"};
  story.setting.guarantees = {{"writes", true, "tried: write in /usr; write /etc/passwd"},
                              {"network", true, "tried: connect to the machine's loopback"},
                              {"kernel", false, "the system call filter could not be set"}};
  story.setting.started = "2026-11-23T05:00:53.955Z";
  story.setting.resumed = 1;
}

void add_changes(RunStory& story) {
  story.changes.name = "partial.diff";
  story.changes.added = 6;
  story.changes.removed = 2;
  StoryFile code{.path = "slug.py", .added = 5, .removed = 1};
  code.hunks.push_back(
      {.header = "@@ -1,5 +1,9 @@ def slugify(text):",
       .old_line = 1,
       .new_line = 1,
       .lines = {" import re", " ", "-def slugify(text):", "+def slugify(text, max_length=None):",
                 "+    # Words stay whole where one fits.", "     text = text.lower()",
                 "+    if max_length is not None and len(text) > 80:",
                 "+        text = text[:max_length].rstrip('-')",
                 "+    return re.sub(r\"[^a-z0-9]+\", \"-\", text)"}});
  code.by_agent = true;
  StoryFile lock{.path = "requirements.lock", .added = 1, .removed = 1};
  lock.hunks.push_back(
      {.header = "@@ -4 +4 @@",
       .old_line = 4,
       .new_line = 4,
       .lines = {"-pytest==8.1.0", "+pytest==8.2.1", "\\ No newline at end of file"}});
  lock.by_verification = true;
  StoryFile image{.path = "docs/logo.png", .kind = StoryFileKind::added, .binary = true};
  image.by_command = true;
  story.changes.files = {code, lock, image};
  story.changes.left_out = {{"__pycache__/slug.pyc", "ignored", ""}};
}

void add_timeline(RunStory& story) {
  const auto note = [&](StoryNote made) {
    story.timeline.push_back({StoryStep::Kind::note, story.notes.size()});
    story.notes.push_back(std::move(made));
  };
  const auto took = [&](StoryTurn made) {
    story.timeline.push_back({StoryStep::Kind::turn, story.turns.size()});
    story.turns.push_back(std::move(made));
  };
  note({.kind = StoryNote::Kind::stage,
        .text = "stage plan (read-only)",
        .detail = {.head = "Make a plan, and change nothing."}});
  auto first = turn(1, "I look at the tests first, then at the function.");
  first.reasoning = {.head = "The limit should cut at a word's end."};
  first.calls.push_back(call("shell", "python3 -m unittest -q", {.head = "Ran 5 tests\n\nOK\n"}));
  took(first);
  note({.kind = StoryNote::Kind::retry,
        .text = "HTTP 429 (rate limit): asked again after 2 s, attempt 2",
        .problem = true});
  auto second = turn(2, "");
  auto denied = call("shell", "git push origin main", {.head = "denied: git push is not allowed"});
  denied.ruling = Ruling::deny;
  denied.rule = "policy.yaml:21: deny git push";
  denied.reason = "a run leaves no trace outside of its diff";
  denied.ran = denied.done = denied.success = false;
  second.calls.push_back(denied);
  auto failed = call("shell", "python3 -m pytest",
                     {.head = "1 failed\n", .tail = "exit\n", .left_out = 51200});
  failed.success = false;
  failed.ending = "exit 1";
  failed.changed = {"M slug.py"};
  second.calls.push_back(failed);
  took(second);
  note({.kind = StoryNote::Kind::compaction,
        .text = "The conversation was summed up: 48,000 tokens became 6,100",
        .detail = {.head = "So far: the parameter is there, a test fails."}});
  note({.kind = StoryNote::Kind::stage_end, .text = "stage plan is done"});
  note({.kind = StoryNote::Kind::stage, .text = "stage execute (workspace-write)"});
  for (int i = 3; i <= 9; ++i) {
    took(turn(i, "A small step."));
    story.turns.back().stage = "execute";
  }
  story.timeline.push_back({StoryStep::Kind::round, 0});
}

}  // namespace

RunStory sample_story() {
  RunStory story;
  story.verdict = {.ended = true,
                   .status = "task-failed",
                   .code = 1,
                   .cause = "the verification failed: 1 of 6 tests, test_cuts_at_a_word",
                   .next = "read the failing test below; `sortie resume` goes on from here",
                   .verified = false};
  add_settings(story);
  StoryCommand passed{
      .command = "python3 -m compileall -q .", .done = true, .passed = true, .duration = 259ms};
  StoryCommand failing{
      .command = "python3 -m unittest -q", .done = true, .ending = "exit 1", .duration = 312ms};
  failing.output = {.head =
                        "FAIL: test_cuts_at_a_word (tests.test_slug.SlugTest)\n"
                        "Traceback (most recent call last):\n"
                        "  File \"tests/test_slug.py\", line 31, in test_cuts_at_a_word\n"
                        "AssertionError: 'one-two-' != 'one-two'\n\nRan 6 tests in 0.001s\n"};
  failing.compared = "it passed on the start state";
  story.rounds.push_back({.number = 2, .passed = false, .commands = {passed, failing}});
  story.denials.push_back({.tool = "shell",
                           .what = "git push origin main",
                           .rule = "policy.yaml:21: deny git push",
                           .reason = "a run leaves no trace outside of its diff",
                           .count = 3,
                           .yaml = "commands:\n  allow:\n    - git push origin main\n"});
  story.denials.push_back(
      {.tool = "network",
       .what = "registry.example.org:443",
       .host = true,
       .reason = "registry.example.org:443 is not in the policy's network.allow",
       .count = 2,
       .yaml = "network: {allow: [\"registry.example.org:443\"]}",
       .lists = {"network.allow"}});
  story.denied_calls = 3;
  story.denied_connections = 2;
  story.allowing_all =
      "commands:\n  allow:\n    - git push origin main\n"
      "network: {allow: [\"registry.example.org:443\"]}\n";
  add_changes(story);
  story.message = {
      .head = "I added max_length to slugify.\n\nOne test still fails: the cut leaves a hyphen."};
  story.usage = {.input = 123300, .cached = 82800, .output = 6525, .usd = 0.4187};
  story.times = {.model = 46800ms, .tools = 4608ms, .verification = 2333ms, .own = 389ms};
  add_timeline(story);
  story.stages = {{"plan", 2, "completed"}, {"execute", 7, "failed"}, {"tell", 0, "not-started"}};
  story.warnings = {"3 changed paths are ignored by git and not in the diff"};
  story.tool_calls = 12;
  story.retries = 1;
  story.records = 88;
  return story;
}

RunStory story_full_of(const std::string& text) {
  RunStory story = sample_story();
  const Excerpt excerpt{.head = text, .tail = text, .left_out = 100'000'000};
  story.verdict.status = story.verdict.cause = story.verdict.next = text;
  auto& setting = story.setting;
  for (auto* field :
       {&setting.run_id, &setting.sortie, &setting.task_name, &setting.task_path,
        &setting.policy_name, &setting.model_requested, &setting.approval, &setting.workspace,
        &setting.base_commit, &setting.isolation, &setting.isolation_reason, &setting.sandbox_mode,
        &setting.network, &setting.started, &setting.task_digest, &setting.policy_digest}) {
    *field = text;
  }
  setting.model_served = text + "2";
  setting.missing_layers = {text};
  for (auto& each : setting.guarantees) each.name = each.detail = text;
  for (auto& command : story.rounds[0].commands) {
    command.command = command.ending = command.compared = text;
    command.output = excerpt;
  }
  for (auto& denial : story.denials) {
    denial.tool = denial.what = denial.rule = denial.reason = denial.part = denial.yaml = text;
    denial.lists = {text, text, text};
  }
  story.changes.name = text;
  story.changes.conflicts = {text};
  story.changes.left_out = {{text, text, text}};
  for (auto& file : story.changes.files) {
    file.path = text + ".js";
    file.old_path = file.submodule = file.old_mode = file.new_mode = text;
    for (auto& hunk : file.hunks) {
      hunk.header = text;
      hunk.lines = {"+" + text,     "-" + text,  " " + text, "+ 'quoted" + text,
                    "+ /* " + text, "\\" + text, text};
    }
  }
  story.allowing_all = text;
  story.message = excerpt;
  for (auto& turn : story.turns) {
    turn.model = turn.stop_reason = turn.stage = text;
    turn.words = turn.reasoning = excerpt;
    for (auto& call : turn.calls) {
      call.id = call.tool = call.server = call.what = call.rule = call.reason = call.approver =
          text;
      call.ending = text;
      call.arguments = call.output = excerpt;
      call.changed = {text};
    }
  }
  for (auto& stage : story.stages) stage.name = stage.ended = text;
  for (auto& note : story.notes) {
    note.text = text;
    note.detail = excerpt;
  }
  story.warnings = {text};
  story.problem = text;
  return story;
}

RunStory long_story(int turns) {
  RunStory story = sample_story();
  story.turns.clear();
  story.notes.clear();
  story.timeline.clear();
  for (int i = 1; i <= turns; ++i) {
    StoryTurn made = turn(i, "Step " + std::to_string(i) + " of many, in the agent's own words.");
    for (int k = 0; k < 4; ++k) {
      made.calls.push_back(
          call("shell", "python3 -m unittest -q", {.head = std::string(2000, 'x') + "\nOK\n"}));
    }
    story.timeline.push_back({StoryStep::Kind::turn, story.turns.size()});
    story.turns.push_back(std::move(made));
  }
  return story;
}

}  // namespace sortie::test

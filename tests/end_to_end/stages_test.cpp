#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "ci/result.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/images/image_file.h"
#include "core/json/json_schema.h"
#include "core/text/base64.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kAddFile = "*** Begin Patch\n*** Add File: NAME\n+by patch\n*** End Patch";

std::string adding(const std::string& name) {
  std::string patch = kAddFile;
  return patch.replace(patch.find("NAME"), 4, name);
}

/// A run of these stages under the preset auto, whose model is a recording.
struct StagedRun : RunFolder {
  StagedRun() {
    write("work/a.txt", "a\n");
    commit_workspace();
  }
  ProgramEnd run(const CassetteWriter& cassette, const std::string& stages,
                 const std::string& more = "expect: {changes: any}\n",
                 const Caller& caller = {}) const {
    cassette.save(path("cassette.jsonl"));
    write("task.yaml",
          "version: 1\nworkspace: {path: work}\npolicy: auto\n"
          "model: {provider: replay, cassette: cassette.jsonl}\nstages:\n" +
              stages + more);
    return run_as(caller);
  }
  /// "plan completed 2, do failed 1, say not-started 0".
  std::string stages() const {
    std::string text;
    const Json whole = result();
    for (const Json& stage : whole["stages"].items())
      text += (text.empty() ? "" : ", ") + stage.string_at("name") + " " +
              stage.string_at("ended") + " " + std::to_string(stage.integer_at("turns"));
    return text;
  }
  int verifications() const { return static_cast<int>(records("verification.started").size()); }
};

/// The names of the tools in a request.
std::vector<std::string> tool_names(const ReceivedRequest& request) {
  std::vector<std::string> names;
  const Json body = parse_json(request.body);
  for (const Json& tool : body["tools"].items()) names.push_back(tool.string_at("name"));
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stages)

BOOST_AUTO_TEST_CASE(each_prompt_is_sent_once_the_stage_before_has_ended) {
  const ProviderRun run;
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\npolicy: auto\nexpect: {changes: any}\n"
            "vars: {part: {default: login}}\n"
            "stages:\n  - discover: Describe {{part}}.\n"
            "  - {name: plan, prompt: Plan., tools: [update_plan, read_file], sandbox: read-only}\n"
            "  - execute: Carry out.\n");
  CassetteWriter cassette;
  cassette.shell({"true"}).next().message("described").message("planned");
  cassette.patch(adding("new.txt")).next().message("carried out");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 5u);
  const struct {
    std::size_t request;
    const char* prompt;
  } rows[] = {{0, "Describe login."}, {2, "Plan."}, {3, "Carry out."}};
  std::size_t row = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto texts = message_texts(requests[i]);
    if (row < 3 && rows[row].request == i) BOOST_TEST(texts.back() == rows[row++].prompt);
    // A prompt that is to come is in none of the requests before.
    for (std::size_t later = row; later < 3; ++later)
      BOOST_TEST(!holds(requests[i].body, rows[later].prompt));
  }
  BOOST_TEST(row == 3u);

  // The model sees its stage's tools only, and is told of no others.
  const auto all = tool_names(requests[0]);
  BOOST_TEST(all.size() > 3u);
  BOOST_TEST((tool_names(requests[2]) == std::vector<std::string>{"update_plan", "read_file"}));
  BOOST_TEST((tool_names(requests[3]) == all));
  const std::string plan = parse_json(requests[2].body).string_at("instructions");
  BOOST_TEST(holds(plan, "update_plan, read_file"));
  BOOST_TEST(!holds(plan, "apply_patch"));
  BOOST_TEST(holds(plan, "The workspace is read-only in this stage"));
  BOOST_TEST(holds(plan, "A stage ends with your first message"));
  // Within a stage each request begins with the bytes of the one before; with the same tools and
  // sandbox the next stage's head is the same.
  BOOST_TEST(requests[1].body.starts_with(requests[0].body.substr(0, requests[0].body.size() - 2)));
  BOOST_TEST(parse_json(requests[3].body).string_at("instructions") ==
             parse_json(requests[0].body).string_at("instructions"));
  BOOST_TEST(end.output == "carried out\n");
}

BOOST_AUTO_TEST_CASE(stages_are_on_record_in_the_result_and_on_stderr) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.shell({"true"}).next().message("seen").message("said");

  const ProgramEnd end =
      run.run(cassette, "  - look: Look.\n  - {name: say, prompt: Say., tools: [read_file]}\n");

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.stages() == "look completed 2, say completed 1");
  const auto started = run.records("stage.started");
  BOOST_REQUIRE(started.size() == 2u);
  BOOST_TEST(started[0].string_at("prompt") == "Look.");
  BOOST_TEST(started[0].string_at("sandbox") == "workspace-write");
  BOOST_TEST(started[1]["tools"].items().size() == 1u);
  const auto completed = run.records("stage.completed");
  BOOST_REQUIRE(completed.size() == 2u);
  BOOST_TEST(completed[0].integer_at("turns") == 2);
  BOOST_TEST(completed[0]["reason"].is_null());
  BOOST_TEST(holds(end.errors, "stage look\n"));
  BOOST_TEST(holds(end.errors, "stage look: completed, 2 turns\n"));
  BOOST_TEST(JsonSchema(result_schema()).check(run.result()).empty());
}

// The kernel holds the command, the engine the patch; the next stage is as the policy says.
BOOST_AUTO_TEST_CASE(a_read_only_stage_can_not_write_and_the_next_one_can) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const StagedRun run;
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo x > by-shell; echo y >> a.txt; rm a.txt; mkdir d; ls"});
      cassette.shell({"sh", "-c", "echo x > $HOME/scratch && cat $HOME/scratch"});
      cassette.call("shell", Json::object({{"command", Json::array({"sh", "-c", "echo z > esc"})},
                                           {"with_escalated_permissions", true}}));
      cassette.patch(adding("by-patch")).next();
      cassette.shell({"apply_patch", adding("by-heredoc")}).next().message("read");
      cassette.shell({"sh", "-c", "echo x > by-shell-2"}).patch(adding("by-patch-2")).next();
      cassette.message("written");

      const ProgramEnd end =
          run.run(cassette, "  - {name: look, prompt: Look., sandbox: read-only}\n  - do: Do it.\n",
                  "expect: {changes: required}\n", caller);

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const std::string diff = run.artifact("changes.diff");
      for (const char* name : {"by-shell-2", "by-patch-2"}) BOOST_TEST(holds(diff, name), name);
      for (const char* name : {"by-shell\n", "by-patch\n", "by-heredoc", "esc\n", "a.txt"})
        BOOST_TEST(!holds(diff, name), name << diff);
      BOOST_TEST(run.output(0).find("a.txt") != std::string::npos);
      // Its home is the command's own, as in a run that only reads.
      BOOST_TEST(run.output(1) == "x\n");
      for (const std::size_t call : {3, 4})
        BOOST_TEST(holds(run.output(call), "the stage 'look' is read-only"), run.output(call));
      BOOST_TEST(run.records("stage.started").at(0).string_at("sandbox") == "read-only");
      BOOST_TEST(run.result()["counts"].integer_at("denials") == 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tool_of_the_run_that_is_not_the_stages_is_denied_in_every_way) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.patch(adding("one")).next();
  cassette.shell({"apply_patch", adding("two")});
  cassette.shell({"sh", "-c", "apply_patch <<'EOF'\n" + adding("three") + "\nEOF"}).next();
  cassette.call("read_file", Json::object({{"path", "a.txt"}})).next();
  cassette.message("done");

  const ProgramEnd end = run.run(cassette, "  - {name: look, prompt: Look., tools: [shell]}\n");

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.artifact("changes.diff") == "");
  for (std::size_t call = 0; call < 4; ++call)
    BOOST_TEST(holds(run.output(call), "the stage 'look' does not have this tool"),
               run.output(call));
}

BOOST_AUTO_TEST_CASE(the_last_message_of_a_stage_is_saved_without_secrets) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.message("1. read\n2. write to s3cr3t-value-of-the-test").message("said");
  cassette.save(run.path("cassette.jsonl"));
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\npolicy: auto\nexpect: {changes: any}\n"
            "model: {provider: replay, cassette: cassette.jsonl}\n"
            "stages:\n  - {name: plan, prompt: Plan., save: plan.md}\n  - say: Say.\n");
  ProgramStart start = run.start();
  start.environment["MY_TOKEN"] = "s3cr3t-value-of-the-test";

  const ProgramEnd end = run_program(start);

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const std::string saved = run.artifact("plan.md");
  BOOST_TEST(saved == "1. read\n2. write to [REDACTED:MY_TOKEN]\n");
  BOOST_TEST(run.result()["artifacts"].string_at("plan.md") == "sha256:" + sha256_hex(saved));
  BOOST_TEST(run.artifact("last-message.txt") == "said\n");
  BOOST_TEST(run_program({.argv = {sortie_binary(), "verify", run.out().string()}}).status == 0);
  write_file(run.out() / "plan.md", "another plan\n");
  BOOST_TEST(run_program({.argv = {sortie_binary(), "verify", run.out().string()}}).status == 8);
}

BOOST_AUTO_TEST_CASE(the_stage_verify_sends_a_failure_back_and_later_stages_go_on) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.patch(adding("wrong")).next().message("carried out");
  cassette.patch(adding("right")).next().message("mended");
  cassette.message("documented");

  const ProgramEnd end =
      run.run(cassette,
              "  - {name: execute, prompt: Do it., max_turns: 2}\n  - verify\n"
              "  - {name: document, prompt: Sum up., tools: [read_file], sandbox: read-only}\n",
              "verify: ['test -e right']\n");

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.stages() == "execute completed 2, verify completed 2, document completed 1");
  // Once it failed, once it passed; nothing was written to since.
  BOOST_TEST(run.verifications() == 2);
  const Json result = run.result();
  BOOST_TEST(result["verified"].boolean());
  BOOST_TEST(result["verification"].integer_at("rounds") == 2);
  BOOST_TEST(end.output == "documented\n");
  const auto started = run.records("stage.started");
  BOOST_TEST(started.at(1)["prompt"].is_null());
  // What is to be mended has the run's own tools.
  BOOST_TEST((started.at(1)["tools"] == started.at(0)["tools"]));
}

BOOST_AUTO_TEST_CASE(what_changes_after_the_stage_verify_is_verified_again) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.patch(adding("right")).next().message("carried out");
  cassette.shell({"rm", "right"}).next().message("documented");
  cassette.patch(adding("right")).next().message("mended");

  const ProgramEnd end =
      run.run(cassette, "  - execute: Do it.\n  - verify\n  - document: Sum up.\n",
              "verify: ['test -e right']\n");

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.verifications() == 3);
  BOOST_TEST(run.result()["verified"].boolean());
  BOOST_TEST(run.stages() == "execute completed 2, verify completed 0, document completed 2");
  BOOST_TEST(end.output == "mended\n");
}

BOOST_AUTO_TEST_CASE(a_run_that_ends_after_the_stage_verify_claims_nothing_of_another_tree) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.patch(adding("right")).next().message("carried out");
  cassette.shell({"rm", "right"}).next().shell({"true"}).next();

  const ProgramEnd end = run.run(
      cassette,
      "  - execute: Do it.\n  - verify\n  - {name: document, prompt: Sum up., max_turns: 1}\n",
      "verify: ['test -e right']\n");

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(run.result()["verified"].is_null());
}

BOOST_AUTO_TEST_CASE(the_rounds_of_the_stage_verify_are_those_of_the_task) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.message("one").message("two").message("three");

  const ProgramEnd end = run.run(cassette, "  - execute: Do it.\n  - verify\n  - say: Say.\n",
                                 "verify: {commands: ['false'], rounds: 2}\n");

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(run.verifications() == 3);
  const Json result = run.result();
  BOOST_TEST(result.string_at("reason").starts_with(
      "stage 'verify': verification failed after 3 rounds; no file was changed; the agent: "));
  BOOST_TEST(result["verified"].boolean(true) == false);
  BOOST_TEST(run.stages() == "execute completed 1, verify failed 2, say not-started 0");
  BOOST_TEST(run.records("stage.completed").back().string_at("reason") ==
             "verification failed after 3 rounds");
}

BOOST_AUTO_TEST_CASE(without_the_stage_verify_what_fails_at_the_end_has_the_runs_own_tools) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.message("looked").patch(adding("right")).next().message("mended");

  const ProgramEnd end =
      run.run(cassette, "  - {name: look, prompt: Look., tools: [read_file], sandbox: read-only}\n",
              "verify: ['test -e right']\nexpect: {changes: any}\n");

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(run.stages() == "look completed 1");
  BOOST_TEST(run.result()["verification"].integer_at("rounds") == 2);
}

BOOST_AUTO_TEST_CASE(stages_that_only_read_are_not_expected_to_change_anything) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.message("looked").message("said");

  const ProgramEnd end = run.run(cassette,
                                 "  - {name: look, prompt: Look., sandbox: read-only}\n"
                                 "  - {name: say, prompt: Say., sandbox: read-only}\n",
                                 "");

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(a_stage_that_does_not_end_within_its_turns_ends_the_run) {
  const StagedRun run;
  CassetteWriter cassette;
  cassette.message("looked");
  for (int i = 0; i < 3; ++i) cassette.shell({"true"}).next();

  const ProgramEnd end =
      run.run(cassette, "  - look: Look.\n  - {name: plan, prompt: Plan., max_turns: 2}\n");

  BOOST_TEST(end.status == 4, end.errors);
  const Json result = run.result();
  BOOST_TEST(result.string_at("reason") ==
             "stage 'plan': max_turns of the stage: 2 of 2 turns, and its work has not ended");
  BOOST_TEST(result.string_at("next") == "a larger max_turns of the stage 'plan' in the task");
  BOOST_TEST(run.stages() == "look completed 1, plan failed 2");
  BOOST_TEST(run.records("budget.exhausted").at(0).string_at("which") == "stage_turns");
}

BOOST_AUTO_TEST_CASE(a_stage_can_not_have_what_run_and_policy_do_not_have) {
  const struct {
    const char* policy;
    const char* stage;
    const char* problem;
  } rows[] = {
      {"version: 1\nextends: auto\nsandbox: {mode: read-only}\n",
       "{name: do, prompt: x, sandbox: workspace-write}",
       "task.yaml:5:5: error: the stage 'do' asks for sandbox: workspace-write, which is looser "
       "than the policy's sandbox.mode: read-only"},
      {"version: 1\nextends: unsandboxed\n", "{name: look, prompt: x, sandbox: read-only}",
       "task.yaml:5:5: error: the stage 'look' asks for sandbox: read-only, which nothing would "
       "enforce: the policy says sandbox.mode: none"},
      {"version: 1\nextends: auto\n", "{name: look, prompt: x, tools: [read_fil]}",
       "error: there is no tool 'read_fil'; did you mean 'read_file'?"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.stage) {
      const StagedRun run;
      CassetteWriter().message("x").save(run.path("cassette.jsonl"));
      run.write("policy.yaml", row.policy);
      run.write("task.yaml", std::string("version: 1\nworkspace: {path: work}\n"
                                         "policy: policy.yaml\nstages:\n  - ") +
                                 row.stage +
                                 "\nmodel: {provider: replay, cassette: cassette.jsonl}\n");

      const ProgramEnd end = run_program(run.start());

      BOOST_TEST(end.status == 2);
      BOOST_TEST(holds(end.errors, row.problem), end.errors);
      BOOST_TEST(!std::filesystem::exists(run.out() / "transcript.jsonl"));
    }
  }
}

BOOST_AUTO_TEST_CASE(task_check_shows_the_prompts_as_they_are_sent) {
  const StagedRun run;
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\nvars: {who: {default: us}}\n"
            "stages:\n  - look: For {{who}}.\n");

  const ProgramEnd end =
      run_program({.argv = {sortie_binary(), "task", "check", run.task().string()}});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(parse_json(end.output)["stages"].items().at(0).string_at("prompt") == "For us.");
}

BOOST_AUTO_TEST_CASE(images_go_with_the_first_message_and_are_protected) {
  const ProviderRun run;
  run.write("work/shot.bin", images::kPng);
  run.write("photo.gif", images::kGif);
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\npolicy: auto\nexpect: {changes: any}\n"
            "images: [work/shot.bin, photo.gif]\n"
            "stages:\n  - look: Look.\n  - say: Say.\n");
  CassetteWriter cassette;
  cassette.patch("*** Begin Patch\n*** Delete File: shot.bin\n*** End Patch");
  cassette.shell({"sh", "-c", "echo x > shot.bin"}).next().message("seen").message("said");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 3u);
  std::vector<std::string> urls;
  const Json body = parse_json(requests.back().body);
  std::string with;
  for (const Json& item : body["input"].items()) {
    for (const Json& part : item["content"].items()) {
      if (part.string_at("type") == "input_text") with = part.string_at("text");
      if (part.string_at("type") != "input_image") continue;
      urls.push_back(part.string_at("image_url"));
      BOOST_TEST(with == "Look.");
    }
  }
  BOOST_TEST(
      (urls == std::vector<std::string>{"data:image/png;base64," + base64_encoded(images::kPng),
                                        "data:image/gif;base64," + base64_encoded(images::kGif)}));
  BOOST_TEST(holds(run.output(0), "protected"), run.output(0));
  BOOST_TEST(read_file(run.path("work/shot.bin")) == images::kPng);
  BOOST_TEST(!holds(run.artifact("changes.diff"), "shot.bin"));
}

BOOST_AUTO_TEST_CASE(an_image_that_can_not_be_sent_starts_nothing) {
  const StagedRun run;
  CassetteWriter().message("x").save(run.path("cassette.jsonl"));
  run.write("shot.png", "no picture");
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\nprompt: Look.\nimages: [shot.png]\n"
            "model: {provider: replay, cassette: cassette.jsonl}\n");

  const ProgramEnd end = run_program(run.start());

  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "task.yaml:4:10: error: image '"), end.errors);
  BOOST_TEST(!std::filesystem::exists(run.out() / "transcript.jsonl"));
}

BOOST_AUTO_TEST_CASE(the_tasks_own_instructions_replace_the_system_prompt) {
  const ProviderRun run;
  run.write_task("name: some-model", "instructions: Only this.\ninstructions_replace: true\n");
  const ModelServer server(served(CassetteWriter().message("done")));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const Json body = parse_json(server.requests().at(0).body);
  BOOST_TEST(body.string_at("instructions") == "Only this.");
  BOOST_TEST(holds(server.requests().at(0).body, "<environment_context>"));
}

BOOST_AUTO_TEST_CASE(each_model_of_a_run_is_briefed_as_its_family_is) {
  const ProviderRun run;
  const std::string answer =
      "data: {\"id\":\"c\",\"model\":\"qwen3\",\"choices\":[{\"index\":0,\"delta\":{\"role\":"
      "\"assistant\",\"content\":\"done\"},\"finish_reason\":null}]}\n\n"
      "data: {\"id\":\"c\",\"model\":\"qwen3\",\"choices\":[{\"index\":0,\"delta\":{},"
      "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  // The server has one connection at a time, and each model of a run its own.
  ServedResponse failing = served_status(500, {}, "{}");
  failing.then = ServedResponse::Then::close;
  const ModelServer server({failing, served_stream(answer)});
  run.write("task.yaml",
            "version: 1\nworkspace: {path: work}\npolicy: auto\nexpect: {changes: any}\n"
            "model: {name: gpt-5-codex, retries: 0, fallback: [{provider: local, name: qwen3, "
            "base_url: '" +
                base_url(server) +
                "'}]}\nstages:\n  - {name: look, prompt: Look., tools: [read_file]}\n");

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  const std::string first = parse_json(requests[0].body).string_at("instructions");
  const Json second = parse_json(requests[1].body)["messages"].items().at(0);
  BOOST_TEST(holds(first, "No more: nobody is reading along."));
  BOOST_TEST(second.string_at("role") == "system");
  BOOST_TEST(holds(second.string_at("content"), "Work in this order:"));
  // It is the stage's briefing that each of them gets.
  for (const std::string& text : {first, second.string_at("content")})
    BOOST_TEST(holds(text, "The tools of this run: read_file."));
}

BOOST_AUTO_TEST_SUITE_END()

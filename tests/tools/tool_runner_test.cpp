#include <boost/test/unit_test.hpp>

#include "tests/tools/runner_bench.h"

using namespace sortie;
using namespace sortie::test;
using Types = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(tool_runner)

namespace {

struct PatientOnce : RunnerBench {
  PatientOnce() : RunnerBench({.max_denials = 2}) {}
};
struct StrictRunner : RunnerBench {
  StrictRunner() : RunnerBench({.abort_on_denied = true}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_allowed_call_is_on_record_before_it_runs, RunnerBench) {
  const auto result = call("shell", R"({"command":["ls"]})");

  BOOST_TEST(result.output.success);
  BOOST_TEST(result.output.call_id == "id");
  BOOST_TEST(result.output.text == "Exit code: 0\nWall time: 0.0 seconds\nOutput:\nout\n");
  BOOST_TEST((types_at_start == Types{"approval", "tool.call"}));
  BOOST_TEST((events.types() == Types{"approval", "tool.call", "tool.output"}));
  // The rule that allows the command, not the one that allows the tool.
  const Json approval = events.data_of("approval").at(0);
  BOOST_TEST(approval["rule"].string_at("text") == "allow: {class: read-only}");
  BOOST_TEST(approval.string_at("part") == "ls");
  const Json output = events.data_of("tool.output").at(0);
  BOOST_TEST(output.string_at("output") == "out\n");
  BOOST_TEST(output.string_at("status") == "completed");
  BOOST_TEST(output["exit"].integer_at("code", -1) == 0);
}

BOOST_FIXTURE_TEST_CASE(a_denied_call_is_told_why_and_not_run, RunnerBench) {
  const auto result = call("shell", R"({"command":["curl","http://x"]})");

  BOOST_TEST(is_denied(result));
  BOOST_TEST(!result.output.success);
  BOOST_TEST(result.output.text.starts_with("Denied: curl http://x: "));
  BOOST_TEST(result.output.text.find('\n') == std::string::npos);
  BOOST_TEST((result.verdict == CallVerdict::go_on));
  BOOST_TEST(launcher.started.empty());
  BOOST_TEST((events.types() == Types{"approval", "tool.call", "tool.output"}));
  const Json output = events.data_of("tool.output").at(0);
  BOOST_TEST(output.string_at("verdict") == "denied");
  BOOST_TEST(output.string_at("status") == "declined");
  BOOST_TEST(output.string_at("reason") == "no rule allows curl");
  const Json approval = events.data_of("approval").at(0);
  BOOST_TEST(write_json(approval["audit_flags"]) == R"(["network_access"])");
  BOOST_TEST(approval.string_at("would_allow_yaml") == "commands: [{allow: [curl, \"http://x\"]}]");
}

BOOST_FIXTURE_TEST_CASE(a_script_is_on_record_taken_apart, RunnerBench) {
  call("shell", R"({"command":["bash","-lc","ls 'a b' | head -n 3"]})");
  call("shell", R"({"command":"ls; cargo test -q"})");
  const auto unread = call("shell", R"({"command":"ls $HOME"})");

  const auto approvals = events.data_of("approval");
  const Json& allowed = approvals.at(0);
  BOOST_TEST(allowed.string_at("decision") == "allow");
  BOOST_TEST(write_json(allowed["actions"].items().at(1)["commands"]) ==
             R"([["ls","a b"],["head","-n","3"]])");
  const Json& denied = approvals.at(1);
  BOOST_TEST(denied.string_at("decision") == "deny");
  BOOST_TEST(denied.string_at("part") == "cargo test -q");
  BOOST_TEST(write_json(denied["would_allow"]) == R"({"commands":[{"allow":["cargo","test"]}]})");
  const Json& unreadable = approvals.at(2);
  BOOST_TEST(
      unreadable["actions"].items().at(1).string_at("unreadable").starts_with("variables are not"));
  BOOST_TEST(unreadable["would_allow"].is_null());
  BOOST_TEST(
      unread.output.text.starts_with("Denied: $HOME: the script can't be checked at column 4"));
  BOOST_TEST(unread.output.text.find('\n') == std::string::npos);
  BOOST_TEST(unread.output.text.find("Instead: write the value itself") != std::string::npos,
             unread.output.text);
}

BOOST_FIXTURE_TEST_CASE(a_forbidden_call_ends_the_run, RunnerBench) {
  const auto result = call("shell", R"({"command":["sudo","ls"]})");

  BOOST_TEST((result.verdict == CallVerdict::forbidden));
  BOOST_TEST(result.output.text.find("p.yaml:7") != std::string::npos);
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(denials_in_a_row_end_the_run_and_an_allowed_call_resets_them, PatientOnce) {
  const std::string denied = R"({"command":["curl"]})";

  BOOST_TEST((call("shell", denied).verdict == CallVerdict::go_on));
  call("shell", R"({"command":["ls"]})");
  BOOST_TEST((call("shell", denied).verdict == CallVerdict::go_on));
  BOOST_TEST((call("shell", denied).verdict == CallVerdict::too_many_denials));
}

BOOST_FIXTURE_TEST_CASE(the_first_denial_can_end_the_run, StrictRunner) {
  BOOST_TEST((call("shell", R"({"command":["curl"]})").verdict == CallVerdict::forbidden));
}

BOOST_FIXTURE_TEST_CASE(a_path_that_leads_out_is_on_record_as_denied, RunnerBench) {
  const auto result = call("shell", R"({"command":["ls"],"workdir":"/etc/ssh"})");

  BOOST_TEST(!result.output.success);
  BOOST_TEST(result.output.text.starts_with("Path outside the workspace"), result.output.text);
  // Answered as a mistake: it does not count towards max_denials.
  BOOST_TEST(!is_denied(result));
  const auto approvals = events.data_of("approval");
  BOOST_REQUIRE(approvals.size() == 1u);
  BOOST_TEST(approvals[0].string_at("decision") == "deny");
  BOOST_TEST(write_json(approvals[0]["actions"]) == R"([{"kind":"read_path","path":"/etc/ssh"}])");
  BOOST_TEST(write_json(approvals[0]["audit_flags"]) == R"(["system_path"])");
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(calls_that_make_no_sense_are_answered, RunnerBench) {
  const struct {
    const char* tool;
    const char* arguments;
    const char* answer;
    const char* check = "";  ///< that it is on record as
  } rows[] = {
      {"read_fil", "{}", "Did you mean \"read_file\"?", "unknown_tool"},
      {"banana", "{}", "Available tools: shell apply_patch update_plan read_file", "unknown_tool"},
      {"shell", "{",
       "The arguments are not valid JSON: Missing a name for object member at byte 1 (expected: one "
       "JSON object)",
       "unusable_arguments"},
      {"shell", "[]", "The arguments are not a JSON object.", "unusable_arguments"},
      {"shell", "",
       "missing property 'command' (expected: an array, each item a string, or a string)"},
      {"shell", R"({"command":[1]})", "/command/0: wrong type (expected: a string)"},
      {"shell", R"({"command":"ls","timeout_ms":0})",
       "/timeout_ms: less than 1 (expected: a whole number, 1 or more)"},
      {"shell", R"({"command":"ls","login":1,"with_escalated_permissions":1})",
       "/with_escalated_permissions: wrong type (expected: true or false)"},
      {"update_plan", R"({"plan":[{"step":"a","status":"done"}]})",
       R"(/plan/0/status: not one of the values allowed (expected: one of "pending", "in_progress", "completed"))"},
      {"update_plan", R"({"plan":[{"status":"pending"}]})",
       "/plan/0: missing property 'step' (expected: a string)"},
      {"apply_patch", R"({"input":"x"})", "Invalid patch: "},
      {"apply_patch", R"({"patch":"x"})", "Invalid patch: "},
      {"apply_patch", R"({"file":"x"})", "missing property 'input'"},
      {"apply_patch", "*** Begin", "The arguments are not valid JSON: ", "unusable_arguments"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.tool << row.arguments) {
      const auto result = call(row.tool, row.arguments);
      BOOST_TEST(!result.output.success);
      BOOST_TEST(!is_denied(result));
      BOOST_TEST(result.output.text.find(row.answer) != std::string::npos, result.output.text);
      const auto hits = events.data_of("check.hit");
      events.events.clear();
      BOOST_REQUIRE(hits.size() == (std::string_view(row.check).empty() ? 0u : 1u));
      if (hits.empty()) continue;
      BOOST_TEST(hits[0].string_at("check") == row.check);
      BOOST_TEST(hits[0].string_at("saw") == std::string(row.tool) + " (id)");
      BOOST_TEST(hits[0].string_at("sent") == result.output.text);
    }
  }
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(other_names_are_taken_and_unknown_arguments_ignored_with_a_note,
                        RunnerBench) {
  const auto result = call("shell", R"({"cmd":["ls"],"timeout":50,"mood":"good"})");

  BOOST_TEST(result.output.success);
  BOOST_TEST(result.output.text.ends_with("Note: unknown arguments were ignored: mood"));
  BOOST_TEST((launcher.started.at(0).timeout == std::chrono::milliseconds(50)));
}

BOOST_FIXTURE_TEST_CASE(unknown_arguments_are_ignored_on_all_levels, RunnerBench) {
  const auto result =
      call("update_plan", R"({"plan":[{"step":"a","status":"pending","id":1,"mood":"good"},)"
                          R"({"id":2,"step":"b","status":"completed"}],"why":"so"})");

  BOOST_TEST(result.output.success);
  BOOST_TEST(result.output.text ==
             "Plan updated\nNote: unknown arguments were ignored: why plan[].id "
             "plan[].mood");
  BOOST_TEST(write_json(events.data_of("plan.updated").at(0)["steps"]) ==
             R"([{"step":"a","status":"pending"},{"step":"b","status":"completed"}])");
}

BOOST_FIXTURE_TEST_CASE(what_can_not_be_decided_is_denied, RunnerBench) {
  const auto result = call("git_diff", "{}");

  BOOST_TEST(is_denied(result));
  BOOST_TEST(result.output.text.find("could not be decided") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_patch_is_decided_by_its_paths_also_inside_a_command, RunnerBench) {
  const std::string good = "*** Begin Patch\n*** Add File: src/f\n+x\n*** End Patch\n";
  const std::string bad = "*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch\n";
  const auto script = [](const std::string& patch) {
    return write_json(Json::object({{"command", "apply_patch <<'EOF'\n" + patch + "EOF\n"}}));
  };

  const auto applied = call("apply_patch", good, ToolCall::Form::custom);
  BOOST_TEST(applied.output.text == "Success. Updated the following files:\nA src/f\n");
  BOOST_TEST((applied.output.form == ToolCall::Form::custom));
  BOOST_TEST(call("shell", script(good)).output.success);
  BOOST_TEST(is_denied(call("apply_patch", bad, ToolCall::Form::custom)));
  BOOST_TEST(is_denied(call("shell", script(bad))));
  BOOST_TEST(files.content.size() == 1u);
  BOOST_TEST(events.data_of("file.changed").size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(hidden_files_are_not_read_under_any_name, RunnerBench) {
  files.content[".env"] = {"x\n"};
  files.links["notes"] = ".env";

  BOOST_TEST(is_denied(call("read_file", R"({"path":".env"})")));
  BOOST_TEST(is_denied(call("read_file", R"({"path":"notes"})")));
}

BOOST_FIXTURE_TEST_CASE(only_what_the_policy_allows_is_shown_in_a_stable_order, RunnerBench) {
  policy.tools = {{.effect = Effect::allow, .names = {"*"}},
                  {.effect = Effect::deny, .names = {"shell"}}};
  const Engine narrow(policy, Approval::deny_by_default, "/w", "/out", {"/bin"});
  const ToolRunner runner(make_tools(), narrow, events, redactor, clock);

  Types names;
  for (const auto& spec : runner.specs()) names.push_back(spec.name);

  BOOST_TEST((names == Types{"apply_patch", "update_plan", "read_file", "git_diff"}));
}

BOOST_AUTO_TEST_SUITE_END()

#include "tools/registry.h"

#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/images/image_file.h"
#include "policies/file/policy_loader.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/memory_files.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"
#include "tools/commands/shell.h"
#include "tools/files/apply_patch.h"
#include "tools/files/list_dir.h"
#include "tools/files/read_file.h"
#include "tools/files/view_image.h"
#include "tools/update_plan.h"
#include "tools/whole_outputs.h"

using namespace sortie;
using Types = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(registry)

namespace {

/// A tool whose actions can't be told.
class Puzzling : public Tool {
 public:
  Puzzling() {
    spec_.name = "git_diff";
    spec_.parameters = parse_json(R"({"type":"object","properties":{}})");
  }
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json&) const override { throw Error("the disk is gone"); }
  ToolResult run(const Json&, std::stop_token) override {
    BOOST_ERROR("was run");
    return {};
  }

 private:
  ToolSpec spec_;
};

/// Answers once as many calls of it run as are waited for, or says that it was alone.
class Meeting : public Tool {
 public:
  explicit Meeting(int expected) : expected_(expected) {
    spec_.name = "read_file";
    spec_.parameters = parse_json(R"({"type":"object","properties":{"path":{"type":"string"}}})");
  }
  const ToolSpec& spec() const override { return spec_; }
  bool reads_only() const override { return true; }
  std::vector<Action> actions(const Json& arguments) const override {
    return {ReadPath{arguments.string_at("path")}};
  }
  ToolResult run(const Json& arguments, std::stop_token) override {
    std::unique_lock lock(mutex_);
    ++here_;
    all_here_.notify_all();
    const bool met =
        all_here_.wait_for(lock, std::chrono::minutes(1), [&] { return here_ >= expected_; });
    if (arguments.string_at("path") == "gone") throw ToolError("it is gone");
    if (arguments.string_at("path") == "broken") throw Error("the disk is gone");
    ToolResult result;
    result.text = arguments.string_at("path") + (met ? " met" : " was alone");
    return result;
  }

 private:
  ToolSpec spec_;
  int expected_;
  int here_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
};

Policy strict_and(const std::vector<CommandRule>& rules) {
  Policy policy = load_policy("strict");
  policy.commands.insert(policy.commands.end(), rules.begin(), rules.end());
  return policy;
}

/// Another program's.
class OfAServer : public Tool {
 public:
  OfAServer() {
    spec_.name = "mcp__docs__search";
    spec_.parameters = parse_json(R"({"type":"object","properties":{}})");
  }
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json&) const override { return {}; }
  Json origin() const override { return Json::object({{"server", "docs"}}); }
  ToolResult run(const Json&, std::stop_token) override {
    BOOST_ERROR("was run");
    return {};
  }

 private:
  ToolSpec spec_;
};

struct Fixture {
  explicit Fixture(RegistryOptions options = {})
      : tools(make_tools(), engine, events, redactor, clock, std::move(options)) {
    launcher.answer = [&](const Command&) {
      types_at_start = events.types();
      return FakeLauncher::Answer{"out\n", ExitStatus{}};
    };
  }
  std::vector<std::unique_ptr<Tool>> make_tools() {
    auto apply_patch = std::make_unique<ApplyPatch>(files, "/w");
    std::vector<std::unique_ptr<Tool>> made;
    made.push_back(std::make_unique<Shell>(ShellParts{launcher, files, redactor, apply_patch.get()},
                                           ShellOptions{.workspace = "/w"}));
    made.push_back(std::move(apply_patch));
    made.push_back(std::make_unique<UpdatePlan>());
    made.push_back(std::make_unique<ReadFile>(files, "/w"));
    made.push_back(std::make_unique<Puzzling>());
    return made;
  }
  CallResult call(const std::string& name, const std::string& arguments,
                  ToolCall::Form form = ToolCall::Form::function) {
    return tools.dispatch({"id", name, arguments, form}, 1, fit, {});
  }

  FitOutput fit{};
  MemoryFiles files;
  FakeLauncher launcher;
  Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  test::EventList events;
  test::FakeClock clock;
  Types types_at_start;
  Policy policy = strict_and({{.effect = Effect::forbid,
                               .prefix = {{"sudo"}},
                               .why = "no root here",
                               .place = {"p.yaml", 7, "forbid: [sudo]"}}});
  Engine engine{policy, Approval::deny_by_default, "/w", "/out", {"/usr/bin", "/bin"}};
  ToolRegistry tools;
};

struct PatientOnce : Fixture {
  PatientOnce() : Fixture({.max_denials = 2}) {}
};
struct Strict : Fixture {
  Strict() : Fixture({.abort_on_denied = true}) {}
};
struct Watching : Fixture {
  Watching() : Fixture({.protected_changes = [] { return Types{".git/config"}; }}) {}
};
struct Narrow : Fixture {
  Narrow() : Fixture({.shown_output = 200}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_allowed_call_is_on_record_before_it_runs, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(a_denied_call_is_told_why_and_not_run, Fixture) {
  const auto result = call("shell", R"({"command":["curl","http://x"]})");

  BOOST_TEST(result.denied);
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

BOOST_FIXTURE_TEST_CASE(a_script_is_on_record_taken_apart, Fixture) {
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
  BOOST_TEST(unreadable["actions"].items().at(1).string_at("unreadable").starts_with("a variable"));
  BOOST_TEST(unreadable["would_allow"].is_null());
  BOOST_TEST(
      unread.output.text.starts_with("Denied: $HOME: the script can't be judged at column 4"));
  BOOST_TEST(unread.output.text.find('\n') == std::string::npos);
  BOOST_TEST(unread.output.text.find("Instead: a script of plain commands") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_forbidden_call_ends_the_run, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(the_first_denial_can_end_the_run, Strict) {
  BOOST_TEST((call("shell", R"({"command":["curl"]})").verdict == CallVerdict::forbidden));
}

BOOST_FIXTURE_TEST_CASE(calls_that_make_no_sense_are_answered, Fixture) {
  const struct {
    const char* tool;
    const char* arguments;
    const char* answer;
    const char* check = "";  ///< that it is on record as
  } rows[] = {
      {"read_fil", "{}", "Did you mean \"read_file\"?", "unknown_tool"},
      {"banana", "{}", "There are: shell apply_patch update_plan read_file", "unknown_tool"},
      {"shell", "{",
       "The arguments are not valid JSON: Missing a name for object member at byte 1 (wanted: one "
       "JSON object)",
       "unusable_arguments"},
      {"shell", "[]", "The arguments are no JSON object.", "unusable_arguments"},
      {"shell", "",
       "missing property 'command' (wanted: an array, each item a string, or a string)"},
      {"shell", R"({"command":[1]})", "/command/0: wrong type (wanted: a string)"},
      {"shell", R"({"command":"ls","timeout_ms":0})",
       "/timeout_ms: less than 1 (wanted: a whole number, 1 or more)"},
      {"shell", R"({"command":"ls","login":1,"with_escalated_permissions":1})",
       "/with_escalated_permissions: wrong type (wanted: true or false)"},
      {"update_plan", R"({"plan":[{"step":"a","status":"done"}]})",
       R"(/plan/0/status: not one of the values allowed (wanted: one of "pending", "in_progress", "completed"))"},
      {"update_plan", R"({"plan":[{"status":"pending"}]})",
       "/plan/0: missing property 'step' (wanted: a string)"},
      {"apply_patch", R"({"input":"x"})", "Invalid patch: "},
      {"apply_patch", R"({"patch":"x"})", "missing property 'input'"},
      {"apply_patch", "*** Begin", "The arguments are not valid JSON: ", "unusable_arguments"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.tool << row.arguments) {
      const auto result = call(row.tool, row.arguments);
      BOOST_TEST(!result.output.success);
      BOOST_TEST(!result.denied);
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

BOOST_FIXTURE_TEST_CASE(the_record_has_the_first_lines_of_an_output_too, Fixture) {
  files.content["a"] = {"one\ntwo\n"};

  const auto read = call("read_file", R"({"path":"a","limit":1})");
  call("shell", R"({"command":["ls"]})");

  const auto outputs = events.data_of("tool.output");
  BOOST_TEST(read.output.text.starts_with("Line"), read.output.text);
  BOOST_TEST(outputs.at(0).string_at("output") == read.output.text);
  BOOST_TEST((outputs.at(0).find("shown") == nullptr));
  // Of a command they are its exit and duration.
  BOOST_TEST(outputs.at(1).string_at("output") == "out\n");
}

BOOST_FIXTURE_TEST_CASE(what_there_is_no_room_for_is_on_record_as_it_is_shown, Fixture) {
  fit = [](ToolOutput& output) {
    const std::uint64_t left_out = output.text.size() - 9;
    output.text.resize(9);
    return left_out;
  };
  const struct {
    const char* name;
    const char* tool;
    const char* arguments;
    std::string shown;
  } rows[] = {
      {"done", "shell", R"({"command":["ls"]})", "Exit code"},
      {"denied", "shell", R"({"command":["curl"]})", "Denied: c"},
      {"of no use", "banana", "{}", "There is "},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto result = call(row.tool, row.arguments);
      BOOST_TEST(result.output.text == row.shown);
      const Json record = events.data_of("tool.output").back();
      BOOST_TEST(record.string_at("shown") == row.shown);
      BOOST_TEST(record.integer_at("dropped_bytes") > 0);
      BOOST_TEST(record.string_at("output") != row.shown);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(other_names_are_taken_and_unknown_arguments_ignored_with_a_note, Fixture) {
  const auto result = call("shell", R"({"cmd":["ls"],"timeout":50,"mood":"good"})");

  BOOST_TEST(result.output.success);
  BOOST_TEST(result.output.text.ends_with("Note: arguments that are not known were ignored: mood"));
  BOOST_TEST((launcher.started.at(0).timeout == std::chrono::milliseconds(50)));
}

BOOST_FIXTURE_TEST_CASE(unknown_arguments_are_ignored_on_all_levels, Fixture) {
  const auto result =
      call("update_plan", R"({"plan":[{"step":"a","status":"pending","id":1,"mood":"good"},)"
                          R"({"id":2,"step":"b","status":"completed"}],"why":"so"})");

  BOOST_TEST(result.output.success);
  BOOST_TEST(result.output.text ==
             "Plan updated\nNote: arguments that are not known were ignored: why plan[].id "
             "plan[].mood");
  BOOST_TEST(write_json(events.data_of("plan.updated").at(0)["steps"]) ==
             R"([{"step":"a","status":"pending"},{"step":"b","status":"completed"}])");
}

BOOST_FIXTURE_TEST_CASE(a_text_that_is_shown_in_part_stands_whole_in_a_file, Fixture) {
  const test::TemporaryFolder folder;
  WholeOutputs outputs(folder.path(), 1u << 20);
  ToolRegistry registry(make_tools(), engine, events, redactor, clock,
                        {.shown_output = 200, .outputs = &outputs});
  files.content["short"] = {"short\n"};
  std::string lines;
  for (int i = 1; i <= 300; ++i) lines += "line " + std::to_string(i) + "\n";
  files.content["long"] = {"s3cr3t-value\n" + lines};
  const auto read = [&](const std::string& path) {
    const ToolCall call{"id", "read_file", write_json(Json::object({{"path", path}}))};
    return registry.dispatch(call, 1, {}, {}).output.text;
  };

  BOOST_TEST(read("short").find("whole output") == std::string::npos);
  const std::string shown = read("long");

  const auto file = folder / "output-1.txt";
  BOOST_TEST(
      shown.find("left out; the whole output is in " + file.string() + " …") != std::string::npos,
      shown);
  const std::string whole = read_file(file);
  BOOST_TEST(whole.find("[REDACTED:KEY]") != std::string::npos);
  BOOST_TEST(whole.find("line 150\n") != std::string::npos);
  BOOST_TEST(shown.find("line 150\n") == std::string::npos);
  BOOST_TEST(!std::filesystem::exists(folder / "output-2.txt"));
}

BOOST_FIXTURE_TEST_CASE(what_can_not_be_decided_is_denied, Fixture) {
  const auto result = call("git_diff", "{}");

  BOOST_TEST(result.denied);
  BOOST_TEST(result.output.text.find("could not be decided") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_patch_is_decided_by_its_paths_also_inside_a_command, Fixture) {
  const std::string good = "*** Begin Patch\n*** Add File: src/f\n+x\n*** End Patch\n";
  const std::string bad = "*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch\n";
  const auto script = [](const std::string& patch) {
    return write_json(Json::object({{"command", "apply_patch <<'EOF'\n" + patch + "EOF\n"}}));
  };

  const auto applied = call("apply_patch", good, ToolCall::Form::custom);
  BOOST_TEST(applied.output.text == "Success. Updated the following files:\nA src/f\n");
  BOOST_TEST((applied.output.form == ToolCall::Form::custom));
  BOOST_TEST(call("shell", script(good)).output.success);
  BOOST_TEST(call("apply_patch", bad, ToolCall::Form::custom).denied);
  BOOST_TEST(call("shell", script(bad)).denied);
  BOOST_TEST(files.content.size() == 1u);
  BOOST_TEST(events.data_of("file.changed").size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(hidden_files_are_not_read_under_any_name, Fixture) {
  files.content[".env"] = {"x\n"};
  files.links["notes"] = ".env";

  BOOST_TEST(call("read_file", R"({"path":".env"})").denied);
  BOOST_TEST(call("read_file", R"({"path":"notes"})").denied);
}

BOOST_FIXTURE_TEST_CASE(secrets_are_replaced_and_long_outputs_cut, Narrow) {
  files.content["f"] = {"s3cr3t-value\n" + std::string(5000, 'x') + "\nend\n"};

  const auto result = call("read_file", R"({"path":"f"})");

  BOOST_TEST(result.output.text.find("[REDACTED:KEY]") != std::string::npos);
  BOOST_TEST(result.output.text.find("left out …") != std::string::npos);
  BOOST_TEST(result.output.text.size() < 400u);
  const Json record = events.data_of("tool.output").at(0);
  BOOST_TEST(record.string_at("output").find("s3cr3t") == std::string::npos);
  BOOST_TEST(record.string_at("shown") == result.output.text);
  BOOST_TEST(record.integer_at("dropped_bytes") > 1000);
}

BOOST_FIXTURE_TEST_CASE(images_go_with_the_output_as_far_as_there_is_room, Fixture) {
  files.content["shot"] = {test::images::kPng};
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<ViewImage>(files, "/w"));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock);
  const ToolCall look{"id", "view_image", R"({"path":"shot"})"};

  const auto shown = registry.dispatch(look, 1, {}, {});
  const auto cut = registry.dispatch(look, 1,
                                     [](ToolOutput& output) {
                                       output.images.clear();
                                       output.text += "; no room";
                                       return std::uint64_t{0};
                                     },
                                     {});

  BOOST_REQUIRE(shown.output.images.size() == 1u);
  BOOST_TEST(shown.output.images[0].base64 == base64_encoded(test::images::kPng));
  BOOST_TEST(cut.output.images.empty());
  BOOST_TEST(events.data_of("tool.output").at(1).string_at("shown").ends_with("; no room"));
}

BOOST_FIXTURE_TEST_CASE(an_image_whose_file_holds_a_secret_is_not_shown, Fixture) {
  const struct {
    const char* name;
    std::string behind_the_end;
    std::string note;  ///< "" where it is shown
  } rows[] = {
      {"nothing", "", ""},
      {"something else", "s3cr3t", ""},
      {"a known value", "s3cr3t-value", "[REDACTED:KEY]"},
      {"the same, shifted by one", ".s3cr3t-value", "[REDACTED:KEY]"},
      {"the same, shifted by two", "..s3cr3t-value", "[REDACTED:KEY]"},
      {"the same in hex", "7333637233742d76616c7565", "[REDACTED:KEY]"},
      {"a token of a known shape", "\nghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
       "[REDACTED:github-token]"},
  };
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<ViewImage>(files, "/w"));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      files.content["shot"] = {test::images::kPng + row.behind_the_end};

      const auto result = registry.dispatch({"id", "view_image", R"({"path":"shot"})"}, 1, fit, {});

      BOOST_TEST(result.output.images.size() == (row.note.empty() ? 1u : 0u));
      BOOST_TEST((result.output.text.find("Note: the image is not shown") != std::string::npos) ==
                 !row.note.empty());
      BOOST_TEST(result.output.text.find(row.note) != std::string::npos, result.output.text);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(calls_that_only_read_run_at_the_same_time, Fixture) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(3));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock);
  const auto reading = [](const std::string& id, const std::string& path) {
    return ToolCall{id, "read_file", write_json(Json::object({{"path", path}}))};
  };
  const std::vector<ToolCall> calls = {reading("1", "a"), reading("2", ".env"),
                                       reading("3", "gone"), reading("4", "b")};
  std::vector<CallResult> results;
  Types at_fit;

  registry.dispatch_together(
      calls, 1,
      [&](ToolOutput& output) {
        at_fit.push_back(output.call_id + " after " + std::to_string(results.size()));
        return std::uint64_t{0};
      },
      [&](CallResult result) { results.push_back(std::move(result)); }, {});

  BOOST_TEST(registry.reads_only(calls[0]));
  BOOST_TEST(!registry.reads_only({"5", "nothing", "{}"}));
  BOOST_REQUIRE(results.size() == 4u);
  BOOST_TEST(results[0].output.text == "a met");
  BOOST_TEST(results[1].denied);
  BOOST_TEST(results[2].output.text == "it is gone");
  BOOST_TEST(!results[2].output.success);
  BOOST_TEST(results[3].output.text == "b met");
  // Each is fitted when the ones before it were handed out.
  BOOST_TEST((at_fit == Types{"1 after 0", "2 after 1", "3 after 2", "4 after 3"}));
  BOOST_TEST((events.types() == Types{"approval", "tool.call", "approval", "tool.call", "approval",
                                      "tool.call", "approval", "tool.call", "tool.output",
                                      "tool.output", "tool.output", "tool.output"}));
  Types order;
  for (const Json& output : events.data_of("tool.output"))
    order.push_back(output.string_at("call_id"));
  BOOST_TEST((order == Types{"1", "2", "3", "4"}));
}

BOOST_FIXTURE_TEST_CASE(what_is_called_when_the_run_is_to_end_is_not_begun, Fixture) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(1));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock);
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":"b"})"}};
  std::stop_source stop;
  stop.request_stop();
  std::vector<CallResult> results = {registry.dispatch(calls[0], 1, {}, stop.get_token())};

  registry.dispatch_together(
      calls, 1, {}, [&](CallResult result) { results.push_back(std::move(result)); },
      stop.get_token());

  BOOST_REQUIRE(results.size() == 3u);
  for (const CallResult& result : results) {
    BOOST_TEST(result.output.text == "Not run: the run is to end");
    BOOST_TEST(!result.output.success);
  }
  BOOST_TEST(events.data_of("tool.output").size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(what_ends_the_run_is_thrown_from_a_group_too, Fixture) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(2));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock);
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":"broken"})"}};
  int results = 0;

  BOOST_CHECK_THROW(
      registry.dispatch_together(calls, 1, {}, [&](const CallResult&) { ++results; }, {}), Error);
  BOOST_TEST(results == 1);
}

BOOST_FIXTURE_TEST_CASE(behind_a_denial_that_ends_the_run_no_call_of_a_group_is_judged, Strict) {
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<Meeting>(1));
  ToolRegistry registry(std::move(made), engine, events, redactor, clock,
                        {.abort_on_denied = true});
  const std::vector<ToolCall> calls = {{"1", "read_file", R"({"path":"a"})"},
                                       {"2", "read_file", R"({"path":".env"})"},
                                       {"3", "read_file", R"({"path":"b"})"}};
  std::vector<CallResult> results;

  registry.dispatch_together(calls, 1, {},
                             [&](CallResult result) { results.push_back(std::move(result)); }, {});

  BOOST_REQUIRE(results.size() == 2u);
  BOOST_TEST(results[0].output.text == "a met");
  BOOST_TEST((results[1].verdict == CallVerdict::forbidden));
  BOOST_TEST(events.data_of("tool.call").size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_plan_is_an_event, Fixture) {
  call("update_plan", R"({"plan":[{"step":"a","status":"pending"}]})");

  BOOST_TEST((events.types() == Types{"approval", "tool.call", "tool.output", "plan.updated"}));
}

BOOST_FIXTURE_TEST_CASE(a_changed_protected_path_ends_the_run, Watching) {
  const auto result = call("shell", R"({"command":["ls"]})");

  BOOST_TEST((result.verdict == CallVerdict::protected_path_changed));
  BOOST_TEST(result.reason == "a command changed protected paths: .git/config");
}

BOOST_FIXTURE_TEST_CASE(what_has_wider_rights_does_not_start_over_a_changed_protected_path,
                        Fixture) {
  CommandRule rule{.effect = Effect::allow, .prefix = {{"ls"}}, .escalate = true};
  rule.sandbox.network = NetworkMode::full;
  policy.escalation = true;
  policy.commands = {rule};
  const Engine escalating(policy, Approval::full_auto, "/w", "/out", {"/bin"});
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(
      std::make_unique<Shell>(ShellParts{launcher, files, redactor, nullptr, &escalating},
                              ShellOptions{.workspace = "/w"}));
  made.push_back(std::make_unique<OfAServer>());
  ToolRegistry registry(std::move(made), escalating, events, redactor, clock,
                        {.protected_changes = [] { return Types{".git/config"}; }});
  const ToolCall calls[] = {
      {"1", "shell", R"({"command":["ls"],"with_escalated_permissions":true})"},
      {"2", "mcp__docs__search", "{}"},
  };
  for (const ToolCall& one : calls) {
    BOOST_TEST_CONTEXT(one.name) {
      const auto result = registry.dispatch(one, 1, fit, {});

      BOOST_TEST((result.verdict == CallVerdict::protected_path_changed));
      BOOST_TEST(result.reason == "a command changed protected paths: .git/config");
      BOOST_TEST(result.output.text == "Not run: a command changed protected paths: .git/config");
    }
  }
  BOOST_TEST(launcher.started.empty());
}

BOOST_FIXTURE_TEST_CASE(only_what_the_policy_allows_is_shown_in_a_stable_order, Fixture) {
  policy.tools = {{.effect = Effect::allow, .names = {"*"}},
                  {.effect = Effect::deny, .names = {"shell"}}};
  const Engine narrow(policy, Approval::deny_by_default, "/w", "/out", {"/bin"});
  const ToolRegistry registry(make_tools(), narrow, events, redactor, clock);

  Types names;
  for (const auto& spec : registry.specs()) names.push_back(spec.name);

  BOOST_TEST((names == Types{"apply_patch", "update_plan", "read_file", "git_diff"}));
}

BOOST_AUTO_TEST_SUITE_END()

#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/event_check.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

constexpr const char* kPolicy = "policy: auto\nexpect: {changes: any}\n";

/// The run with its stdout piped into a shell script; its exit status is in the file "status".
ProgramEnd run_into(const RunFolder& folder, const std::string& reader) {
  ProgramStart start = folder.plain_start({"--json"});
  start.argv.insert(start.argv.begin(),
                    {"bash", "-c", "{ \"$@\"; echo $? > status; } | { " + reader + "; }", "bash"});
  return run_program(start);
}

std::string content(const RunFolder& folder, const std::string& name) {
  return read_file(folder.path(name));
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++times;
  return times;
}

bool runs(const std::string& argument) { return !processes_with(argument).empty(); }

std::string marker(int test) {
  return "31557600." + std::to_string(::getpid()) + std::to_string(test);
}

/// Prints more than a pipe holds, then waits for longer than any test does.
CassetteWriter flood_and_hang(const std::string& mark) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "yes 'a line' | head -c 300000"}).next();
  cassette.shell({"sleep", mark}).next().message("done");
  return cassette;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(live_events)

BOOST_AUTO_TEST_CASE(a_run_is_shown_item_by_item_in_the_order_of_what_happened) {
  const RunFolder folder;
  CassetteWriter cassette;
  cassette.call("update_plan", parse_json(R"({"plan":[{"step":"one","status":"in_progress"}]})"))
      .message("I begin.");
  cassette.shell({"sh", "-c", "echo hi; exit 3"}).shell({"cat", "/etc/shadow.d/none"}).next();
  cassette.patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n").next();
  cassette.call("read_file", parse_json(R"({"path":"b.txt"})")).next();
  cassette.call("no_such_tool", parse_json(R"({"x":1})")).next();
  cassette.call("update_plan", parse_json(R"({"plan":[{"step":"one","status":"completed"}]})"))
      .next()
      .message("All done.");
  folder.write_task(cassette, std::string(kPolicy) + "verify: ['grep -q b b.txt']\n");

  const ProgramEnd end = folder.run();

  BOOST_REQUIRE(end.status == 0);
  std::vector<std::string> story;
  for (const Json& event : end.events) {
    const Json& item = event["item"];
    const std::string type = item.string_at("type");
    // What this machine's sandbox lacks is told first.
    if (item.is_object() && type != "error")
      story.push_back(event.string_at("type").substr(5) + " " + type + " " +
                      item.string_at("status"));
  }
  const std::vector<std::string> expected = {"completed agent_message ",
                                             "started todo_list ",
                                             "started command_execution in_progress",
                                             "completed command_execution failed",
                                             "started command_execution in_progress",
                                             "completed command_execution failed",
                                             "started file_change in_progress",
                                             "completed file_change completed",
                                             "started mcp_tool_call in_progress",
                                             "completed mcp_tool_call completed",
                                             "started mcp_tool_call in_progress",
                                             "completed mcp_tool_call failed",
                                             "updated todo_list ",
                                             "completed agent_message ",
                                             "started command_execution in_progress",
                                             "completed command_execution completed",
                                             "completed todo_list "};
  BOOST_TEST(story == expected, boost::test_tools::per_element());
  const Json& last = end.events.back();
  BOOST_TEST(last.string_at("status") == "success");
  BOOST_TEST(last.string_at("out") == folder.out().string());
  BOOST_TEST(last["artifacts"].string_at("changes.diff").starts_with("sha256:"));
  BOOST_TEST(write_json(last["artifacts"]) ==
             write_json(folder.records("run.completed").at(0)["artifacts"]));
  BOOST_TEST(end.events[0].string_at("thread_id") == folder.result().string_at("run_id"));
}

BOOST_AUTO_TEST_CASE(a_denied_call_is_declined_with_the_reason) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"rm", "-rf", "x"}).next().message("I may not."),
                    "expect: {changes: any}\n");

  const ProgramEnd end = folder.run({"--policy", "strict"});

  for (const Json& item : items_of(end.events, "item.completed")) {
    if (item.string_at("type") != "command_execution") continue;
    BOOST_TEST(item.string_at("command") == "rm -rf x");
    BOOST_TEST(item.string_at("status") == "declined");
    BOOST_TEST(item.string_at("reason") == folder.records("tool.output").at(0).string_at("reason"));
    return;
  }
  BOOST_ERROR("no command was shown");
}

BOOST_AUTO_TEST_CASE(lines_come_while_the_run_is_under_way_and_a_signal_ends_the_stream_in_order) {
  const RunFolder folder;
  const std::string mark = marker(1);
  folder.write_task(CassetteWriter().shell({"sleep", mark}).next().message("done"), kPolicy);
  Program program(folder.start());
  BOOST_REQUIRE(program.wait_for_output_text("\"type\":\"item.started\""));
  BOOST_REQUIRE(wait_until([&] { return runs(mark); }));

  program.signal(SIGTERM);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 143, end.errors);
  const auto items = items_of(end.events, "item.completed");
  BOOST_REQUIRE(!items.empty());
  BOOST_TEST(items.back().string_at("command") == "sleep " + mark);
  BOOST_TEST(items.back().string_at("status") == "failed");
  BOOST_TEST(end.events.back().string_at("status") == "interrupted");
  BOOST_TEST(end.events.back()["retryable"].boolean());
}

BOOST_AUTO_TEST_CASE(of_megabytes_nothing_is_lost_or_cut_though_the_reader_sleeps) {
  const RunFolder folder;
  CassetteWriter cassette;
  for (int i = 0; i < 8; ++i)
    cassette.shell({"sh", "-c", "yes 'line " + std::to_string(i) + "' | head -c 900000"}).next();
  folder.write_task(cassette.message("done"), kPolicy);

  // It wakes up when the run has done all of its work.
  const ProgramEnd end =
      run_into(folder, "while ! [ -e out/last-message.txt ]; do sleep 0.05; done; cat > events");

  BOOST_TEST(content(folder, "status") == "0\n", end.errors);
  const auto events = check_events(content(folder, "events"), 0);
  const auto outputs = folder.records("tool.output");
  std::size_t commands = 0;
  for (const Json& item : items_of(events, "item.completed")) {
    if (item.string_at("type") != "command_execution") continue;
    const std::string output = item.string_at("aggregated_output");
    BOOST_TEST(output.size() == 900'000u);
    const Json whole = with_blobs(outputs.at(commands), folder.out() / "transcript.jsonl");
    BOOST_TEST((output == whole.string_at("output")));
    ++commands;
  }
  BOOST_TEST(commands == 8u);
  BOOST_TEST(final_message(events) == "done");
}

BOOST_AUTO_TEST_CASE(a_reader_that_goes_away_does_not_end_the_run_and_is_told_of_once) {
  const struct {
    const char* name;
    const char* reader;
    const char* says;
  } rows[] = {{"it has read a line", "head -n 1 > events", "Broken pipe"},
              {"it has read nothing", ": > events", "Broken pipe"},
              {"the disk is full", "cat > events", "No space left on device"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      CassetteWriter cassette;
      for (int i = 0; i < 4; ++i) cassette.shell({"sh", "-c", "yes | head -c 200000"}).next();
      folder.write_task(cassette.shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
                        kPolicy);
      const bool full = std::string(row.name) == "the disk is full";

      ProgramStart start = folder.plain_start({"--json"});
      start.argv.insert(
          start.argv.begin(),
          {"bash", "-c",
           full ? std::string("\"$@\" > /dev/full; echo $? > status")
                : std::string("{ \"$@\"; echo $? > status; } | { ") + row.reader + "; }",
           "bash"});
      const ProgramEnd end = run_program(start);

      BOOST_TEST(content(folder, "status") == "0\n", end.errors);
      BOOST_TEST(count(end.errors, "stdout: ") == 1, end.errors);
      BOOST_TEST(count(end.errors, row.says) == 1, end.errors);
      BOOST_TEST(folder.artifact("changes.diff").find("b.txt") != std::string::npos);
      BOOST_TEST(verify_run(folder.out()).ok);
      BOOST_TEST(end.output == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_never_reads_does_not_hold_up_a_signal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const RunFolder folder;
    const std::string mark = marker(100 + signal);
    folder.write_task(flood_and_hang(mark), kPolicy);
    ProgramStart start = folder.plain_start({"--json"});
    start.leave_output = true;
    Program program(start);
    BOOST_REQUIRE(wait_until([&] { return runs(mark); }));

    program.signal(signal);
    const ProgramEnd end = program.finish();

    BOOST_TEST(end.status == 128 + signal, end.errors);
    BOOST_TEST(end.errors.find("of events are not written") != std::string::npos, end.errors);
    BOOST_TEST(verify_run(folder.out()).finished);
    BOOST_TEST(!runs(mark));
  }
}

/// Lines of a log that has both streams: the events, and the rest.
std::pair<std::string, std::string> events_and_rest(const std::string& log) {
  std::pair<std::string, std::string> parts;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size() - 1) + 1;
    (log[at] == '{' ? parts.first : parts.second) += log.substr(at, end - at);
    at = end;
  }
  return parts;
}

/// A lot of both streams: verbose tells all outputs on stderr too.
CassetteWriter talk_a_lot() {
  CassetteWriter cassette;
  for (int i = 0; i < 4; ++i)
    cassette.shell({"sh", "-c", "yes 'line " + std::to_string(i) + "' | head -c 900000"}).next();
  cassette.message("done");
  return cassette;
}

/// A run whose pipe is read, into `log`, only once its result is there.
/// @param program  the shell's words that run "$@" and end with the pipe's sign
ProgramEnd run_unread(const RunFolder& folder, const std::string& program) {
  ProgramStart start = folder.plain_start({"--json", "--verbose"});
  start.argv.insert(
      start.argv.begin(),
      {"bash", "-c",
       program + "{ until grep -qs exit_code out/result.json; do sleep 0.05; done; cat > log; }",
       "bash"});
  return run_program(start);
}

BOOST_AUTO_TEST_CASE(of_both_streams_in_one_pipe_no_line_is_lost_or_cut_though_nobody_reads) {
  const RunFolder folder;
  folder.write_task(talk_a_lot(), kPolicy);

  const ProgramEnd end = run_unread(folder, "{ \"$@\" 2>&1; echo $? > status; } | ");

  BOOST_TEST(content(folder, "status") == "0\n", end.errors);
  const auto [events, rest] = events_and_rest(content(folder, "log"));
  const auto checked = check_events(events, 0);
  int commands = 0;
  for (const Json& item : items_of(checked, "item.completed"))
    if (item.string_at("type") == "command_execution") {
      BOOST_TEST(item.string_at("aggregated_output").size() == 900'000u);
      ++commands;
    }
  BOOST_TEST(commands == 4);
  BOOST_TEST(count(rest, "    | line 3\n") == 900'000 / 7);
  BOOST_TEST(count(rest, "left out") == 0);
  BOOST_TEST(rest.find("\nsortie: success (0): ") == rest.rfind('\n', rest.size() - 2),
             rest.substr(rest.size() - 200));
}

BOOST_AUTO_TEST_CASE(stderr_that_nobody_reads_does_not_hold_up_the_run_and_tells_what_it_lacks) {
  const RunFolder folder;
  folder.write_task(talk_a_lot(), kPolicy);

  const ProgramEnd end = run_unread(folder, "{ \"$@\" 2>&3 > events; echo $? > status; } 3>&1 | ");

  BOOST_TEST(content(folder, "status") == "0\n", end.errors);
  check_events(content(folder, "events"), 0);
  const std::string log = content(folder, "log");
  BOOST_TEST(log.size() < 1'000'000u);
  BOOST_TEST(count(log, "lines are left out here") >= 1);
  BOOST_TEST(log.find("\nsortie: success (0): ") == log.rfind('\n', log.size() - 2));
}

BOOST_AUTO_TEST_CASE(streams_that_nobody_reads_do_not_hold_up_a_signal) {
  // Whether both are one pipe, one of each, or the final message and the log are.
  const struct {
    const char* name;
    bool json;
    const char* way;
  } rows[] = {{"both in one, with events", true, "2>&1"},
              {"stderr alone, with events", true, "2>&1 > events"},
              {"both in one", false, "2>&1"}};
  for (const auto& row : rows) {
    for (const int signal : {SIGINT, SIGTERM}) {
      BOOST_TEST_CONTEXT(row.name << ", signal " << signal) {
        const RunFolder folder;
        const std::string mark = marker(200 + signal);
        folder.write_task(flood_and_hang(mark), kPolicy);
        ProgramStart start = folder.plain_start({"--verbose"});
        if (row.json) start.argv.push_back("--json");
        start.argv.insert(start.argv.begin(),
                          {"bash", "-c", std::string("exec \"$@\" ") + row.way, "bash"});
        start.leave_output = true;
        Program program(start);
        BOOST_REQUIRE(wait_until([&] { return runs(mark); }));

        program.signal(signal);
        const ProgramEnd end = program.finish();

        BOOST_TEST(end.status == 128 + signal);
        BOOST_TEST(verify_run(folder.out()).finished);
        BOOST_TEST(!runs(mark));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_printed_at_the_end_and_not_read_does_not_hold_up_a_signal) {
  const struct {
    const char* name;
    std::vector<std::string> flags;
    int status;
    const char* artifact;
  } rows[] = {{"the final message", {}, 0, "changes.diff"},
              {"the diff", {"--diff", "-"}, 143, "partial.diff"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write_task(CassetteWriter()
                            .shell({"sh", "-c", "seq 100000 > made"})
                            .next()
                            .message(std::string(500'000, 'm')),
                        kPolicy);
      ProgramStart start = folder.plain_start(row.flags);
      start.leave_output = true;
      Program program(start);
      // The one is printed when all else is done, the other before.
      BOOST_REQUIRE(wait_until([&] {
        if (row.status != 0) return fs::exists(folder.out() / "changes.diff");
        return fs::exists(folder.out() / "changes.diff") &&
               folder.result().string_at("status") == "success";
      }));

      program.signal(SIGTERM);
      const ProgramEnd end = program.finish();

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(end.errors.find("stdout: its reader did not take all") != std::string::npos,
                 end.errors);
      BOOST_TEST(fs::exists(folder.out() / row.artifact));
      BOOST_TEST(verify_run(folder.out()).ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_ends_before_its_record_begins_has_a_whole_stream) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), kPolicy);

  const ProgramEnd end = folder.run_as({.name = "without namespaces", .namespaces = false},
                                       folder.start({"--isolation", "overlay"}));

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(end.events.size() == 4u);
}

BOOST_AUTO_TEST_CASE(events_and_the_diff_can_not_both_have_stdout) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), kPolicy);

  const ProgramEnd end = run_program(folder.plain_start({"--json", "--diff", "-"}));

  BOOST_TEST(end.status == 2);
  BOOST_TEST(end.output == "");
  BOOST_TEST(end.errors.find("--json and --diff -") != std::string::npos, end.errors);
  BOOST_TEST(!fs::exists(folder.out()));
}

BOOST_AUTO_TEST_SUITE_END()

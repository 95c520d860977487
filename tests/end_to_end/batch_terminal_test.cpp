// The live table of a batch on a terminal: script(1) gives it one.
#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/text/display_width.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"
#include "tests/end_to_end/batch_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A terminal that knows what a table needs: lines, the cursor up, and erasing to the end of a line or
/// of the screen. It is as high as it has to be.
class Screen {
 public:
  explicit Screen(const std::string& printed) {
    for (std::size_t at = 0; at < printed.size();) at = take(printed, at);
  }
  const std::vector<std::string>& lines() const { return lines_; }
  std::string text() const { return joined(lines_, "\n"); }
  /// Sequences that it does not know, such as those of colours.
  int others() const { return others_; }

 private:
  std::size_t take(const std::string& printed, std::size_t at) {
    const char sign = printed[at];
    if (sign == '\x1b') return take_sequence(printed, at + 2);
    if (sign == '\r') {
      column_ = 0;
    } else if (sign == '\n') {
      ++row_;
      column_ = 0;
    } else {
      std::string& line = this->line();
      if (line.size() <= column_) line.resize(column_ + 1, ' ');
      line[column_++] = sign;
    }
    return at + 1;
  }
  std::size_t take_sequence(const std::string& printed, std::size_t begin) {
    const std::size_t end = printed.find_first_not_of("0123456789;", begin);
    if (end == std::string::npos) return printed.size();
    const std::string number = printed.substr(begin, end - begin);
    if (printed[end] == 'A') {
      row_ -= std::min<std::size_t>(row_, number.empty() ? 1 : std::stoul(number));
    } else if (printed[end] == 'K') {
      if (line().size() > column_) line().resize(column_);
    } else if (printed[end] == 'J') {
      if (line().size() > column_) line().resize(column_);
      lines_.resize(row_ + 1);
    } else {
      ++others_;
    }
    return end + 1;
  }
  std::string& line() {
    if (lines_.size() <= row_) lines_.resize(row_ + 1);
    return lines_[row_];
  }

  std::vector<std::string> lines_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  int others_ = 0;
};

/// A batch whose stderr is a terminal of that size. What comes on it is the program's output.
ProgramStart on_terminal(ProgramStart start, int columns, int rows,
                         const std::string& kind = "xterm") {
  std::string command =
      "stty cols " + std::to_string(columns) + " rows " + std::to_string(rows) + "; exec";
  for (const std::string& word : start.argv) command += " " + shell_quoted(word);
  start.argv = {"script", "-qec", command + " > /dev/null", "/dev/null"};
  start.environment["TERM"] = kind;
  start.environment["SHELL"] = "/bin/sh";
  start.environment["CI"] = "";
  return start;
}

/// The batch below script(1).
pid_t batch_of(pid_t script) {
  const std::vector<pid_t> children = runs_of(script);
  return children.empty() ? -1 : children.front();
}

/// What is on the terminal of a batch whose runs all wait for their model, and when it was stopped.
struct Seen {
  Screen during;
  ProgramEnd end;
};

Seen watch(const BatchFolders& folders, int runs, int columns, int rows, const std::string& wait) {
  LoopbackHttp server([](const ReceivedRequest&) {
    return ServedResponse{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
                          .then = ServedResponse::Then::hang};
  });
  Program program(on_terminal(
      folders.batch(server.url("/v1"), {"--jobs", std::to_string(runs), "--color", "never"}),
      columns, rows));
  server.wait_for("POST", static_cast<std::size_t>(runs));
  BOOST_TEST_REQUIRE(program.wait_for_output_text(wait));
  const pid_t batch = batch_of(program.pid());
  BOOST_TEST_REQUIRE(batch > 0);
  ::kill(batch, SIGINT);
  ProgramEnd end = program.finish();
  const std::size_t stopped = end.output.find("stopped by SIGINT");
  BOOST_TEST_REQUIRE(stopped != std::string::npos, end.output);
  // The table is erased before a line that stays, in two sequences: up, and all below.
  const std::size_t erased = end.output.rfind("\x1b[", stopped - 4);
  Screen during(end.output.substr(0, erased));
  return {std::move(during), std::move(end)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_terminal)

BOOST_AUTO_TEST_CASE(each_running_run_has_a_row_that_is_gone_at_the_end) {
  const BatchFolders folders;
  folders.write_manifest(3);

  const Seen seen = watch(folders, 2, 100, 24, "2 running");

  const std::string text = seen.during.text();
  BOOST_TEST(has(text, "3 runs, 2 at a time"), text);
  BOOST_TEST(has(text, "\nrun-1 "), text);
  BOOST_TEST(has(text, "\nrun-2 "), text);
  BOOST_TEST(!has(text, "\nrun-3 "), text);
  BOOST_TEST(has(text, "batch: 0 of 3 ended, 2 running"), text);
  BOOST_TEST(seen.during.others() == 0);
  const Screen after(seen.end.output);
  BOOST_TEST(seen.end.status == 130, after.text());
  BOOST_TEST(!has(after.text(), "running"), after.text());
  BOOST_TEST(has(after.text(), "\nrun-1: interrupted"), after.text());
  BOOST_TEST(has(after.text(), "\nsortie: interrupted (130): stopped by SIGINT"), after.text());
  BOOST_TEST(after.others() == 0);
}

BOOST_AUTO_TEST_CASE(no_row_of_the_table_is_wider_than_the_terminal) {
  const BatchFolders folders;
  folders.write("batch.yaml",
                "version: 1\ntasks: [task.yaml]\nvars:\n"
                "  - {run: run-1}\n  - {run: run-2}\n"
                "name: 'a-run-whose-name-is-longer-than-this-terminal-is-wide-{{run}}'\n");

  const Seen seen = watch(folders, 2, 40, 24, "batch: 0 of 2 ended");

  int table_rows = 0;
  for (const std::string& line : seen.during.lines()) {
    // Lines that stay are wrapped by the terminal.
    if (line.starts_with("batch " + folders.path("batch.yaml").string())) continue;
    ++table_rows;
    BOOST_TEST(display_columns(line) < 40u, line);
  }
  BOOST_TEST(table_rows >= 3);
  BOOST_TEST(has(seen.during.text(), "\nbatch: 0 of 2 ended"), seen.during.text());
}

BOOST_AUTO_TEST_CASE(more_runs_than_lines_are_counted) {
  const BatchFolders folders;
  folders.write_manifest(9);

  const Seen seen = watch(folders, 9, 80, 8, "more running");

  // Of eight lines three are left free, or for the counts.
  const std::string text = seen.during.text();
  BOOST_TEST(has(text, "\nrun-4 "), text);
  BOOST_TEST(!has(text, "\nrun-5 "), text);
  BOOST_TEST(has(text, "\nand 5 more running\nbatch: 0 of 9 ended, 9 running"), text);
}

BOOST_AUTO_TEST_CASE(a_terminal_that_can_do_nothing_gets_plain_lines) {
  CountingServer server;
  for (const bool dumb : {true, false}) {
    BOOST_TEST_CONTEXT((dumb ? "dumb" : "quiet")) {
      const BatchFolders folders;
      folders.write_manifest(2);
      std::vector<std::string> flags = {"--jobs", "2"};
      if (!dumb) flags.push_back("--quiet");

      const ProgramEnd end = run_program(
          on_terminal(folders.batch(server.url(), flags), 80, 24, dumb ? "dumb" : "xterm"));

      BOOST_TEST(end.status == 0, end.output);
      BOOST_TEST(!has(end.output, "\x1b"), end.output);
      BOOST_TEST(has(end.output, "run-1: success") == dumb, end.output);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

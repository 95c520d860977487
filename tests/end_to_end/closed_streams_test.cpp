// Standard streams that are closed, full or read by nobody.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kPatch = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch\n";

/// A folder in which every command has something to do.
class Place {
 public:
  Place() {
    folder_.write("work/a.txt", "a\n");
    folder_.commit_workspace();
    folder_.write("bad.yaml", "version: 1\nprompt: x\nfoo: 2\n");
    folder_.write("patch", kPatch);
    folder_.write_task(
        CassetteWriter().shell({"sh", "-c", "echo b > b; cat a.txt"}).next().message("done"),
        "policy: auto\n");
    folder_.write("manifest.yaml", "version: 1\ntasks: [task.yaml]\n");
    BOOST_REQUIRE(folder_.run().status == 0);
    fs::rename(folder_.out(), folder_.path("earlier"));
  }
  const RunFolder& folder() const { return folder_; }

  /// The command by bash, with these redirections.
  ProgramEnd run(const std::string& words, const std::string& redirections) const {
    ProgramStart start = folder_.plain_start();
    start.argv = {"bash", "-c", "exec '" + sortie_binary() + "' " + words + " " + redirections};
    start.folder = folder_.path("");
    return run_program(start);
  }

 private:
  RunFolder folder_;
};

/// The names of all commands, as --help lists them.
std::vector<std::string> commands(const Place& place) {
  std::vector<std::string> names;
  bool listed = false;
  const ProgramEnd help = place.run("--help", "");
  for (const auto line : split_lines(help.output)) {
    const std::string text(trimmed(line));
    if (listed && line.starts_with("  ") && !line.starts_with("   "))
      names.push_back(text.substr(0, text.find_first_of(", ")));  // "exec, e"
    if (text == "Example:") break;
    listed = listed || text == "Subcommands:";
  }
  BOOST_TEST(names.size() > 10);
  return names;
}

/// A descriptor of a pipe that nobody reads any more, for programs that are started.
Fd unread_pipe() {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe(ends.data()) == 0);
  ::close(ends[0]);
  return Fd(ends[1]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(closed_streams)

BOOST_AUTO_TEST_CASE(each_command_says_by_its_code_what_it_could_not_write) {
  const Place place;
  const Fd unread = unread_pipe();
  const std::string gone = "&" + std::to_string(unread.get());
  // What stdout must take, as far as nobody took the reading end away.
  struct Row {
    std::string words;
    int status;       ///< as usual, and where stderr takes nothing
    int unprintable;  ///< where stdout takes nothing
    int unread = -1;  ///< where its reader has gone; -1: as usual
    int full = -1;    ///< on a full disk; -1: as where stdout takes nothing
  };
  const std::string run = "run task.yaml --fresh --out out";
  const std::vector<Row> rows = {
      {"--help", 0, 7},
      {"--version", 0, 7},
      {"", 2, 2},
      {run, 0, 0},  // the message is in --out, too
      {run + " --json", 0, 0},
      {run + " -v", 0, 0},
      {run + " --diff -", 0, 7, 7},
      {"run bad.yaml", 2, 2},
      {"batch manifest.yaml --fresh --out batch", 0, 0},  // the results are in --out, too
      {"batch manifest.yaml --fresh --out batch --json", 0, 0},
      {"batch report batch", 0, 0},
      {"batch report batch --json", 0, 7, 7},
      {"verify earlier", 0, 7},
      {"verify work", 2, 2},
      {"policy check strict", 0, 7},
      {"policy check strict -- rm x", 3, 7},
      {"policy check strict --batch < <(echo '[\"ls\"]')", 0, 7},
      {"policy test auto", 0, 7},
      {"policy learn earlier", 0, 7, 7},
      {"policy backtest auto earlier", 0, 7},
      {"task check task.yaml", 0, 7, 7},
      {"task check bad.yaml", 2, 2},
      {"sandbox --policy auto -- sh -c 'echo hi; echo more >&2'", 0, 7},
      {"sandbox --policy auto -- sh -c 'exit 3'", 3, 3},
      {"apply-patch < patch", 0, 7},
      {"apply-patch < bad.yaml", 1, 1},
      {"schema task", 0, 7, 7},
      {"doctor", 0, 7},
      {"doctor --json", 0, 7, 7},
      {"init --dry-run python", 0, 7},
      {"replay earlier", 0, 7},
      {"report earlier", 0, 7},
      {"report earlier --format junit --output -", 0, 7},
      {"show earlier", 0, 7},
      {"show earlier --follow", 0, 7},
      {"completion bash", 0, 7},
      {"land missing", 2, 2},
      {"exec -C work --replay earlier go", 0, 0, -1, 1},
  };
  for (const std::string& command : commands(place)) {
    const auto tried = std::count_if(rows.begin(), rows.end(), [&command](const Row& row) {
      return (row.words + " ").starts_with(command + " ");
    });
    BOOST_TEST(tried > 0, command << " has no row");
  }
  enum class Stdout { usual, takes_nothing, is_full, has_no_reader };
  const struct {
    std::string redirections;
    Stdout stdout_is;
  } streams[] = {
      {"", Stdout::usual},
      {"> /dev/full", Stdout::is_full},
      {"2> /dev/full", Stdout::usual},
      {"> /dev/full 2>&1", Stdout::is_full},
      {">" + gone, Stdout::has_no_reader},
      {"2>" + gone, Stdout::usual},
      {">" + gone + " 2>&1", Stdout::has_no_reader},
      {">&-", Stdout::takes_nothing},
      {"2>&-", Stdout::usual},
      {">&- 2>&-", Stdout::takes_nothing},
      {"1< task.yaml", Stdout::takes_nothing},
  };
  for (const auto& row : rows) {
    for (const auto& stream : streams) {
      const ProgramEnd end = place.run(row.words, stream.redirections);

      const int left = row.unread < 0 ? row.status : row.unread;
      const int full = row.full < 0 ? row.unprintable : row.full;
      const int expected = stream.stdout_is == Stdout::is_full         ? full
                           : stream.stdout_is == Stdout::takes_nothing ? row.unprintable
                           : stream.stdout_is == Stdout::has_no_reader ? left
                                                                       : row.status;
      BOOST_TEST(end.status == expected,
                 row.words << " " << stream.redirections << ": " << end.errors);
      fs::remove(place.folder().path("new"));
      if (!row.words.starts_with(run)) continue;
      const bool success = expected == 0;
      BOOST_TEST(fs::exists(place.folder().out() / "changes.diff") == success);
      const VerifyResult verified = verify_run(place.folder().out());
      BOOST_TEST(verified.ok, verified.problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_diff_that_nobody_takes_is_no_success_and_is_kept) {
  const Place place;
  const Fd unread = unread_pipe();

  const ProgramEnd end =
      place.run("run task.yaml --fresh --out out --diff -", ">&" + std::to_string(unread.get()));

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(end.errors.find("stdout: its reader has gone before it had all; ") != end.errors.npos,
             end.errors);
  const Json result = place.folder().result();
  BOOST_TEST(result.string_at("next").starts_with("give stdout a reader that takes all of it"));
  BOOST_TEST(place.folder().artifact("partial.diff").find("+b") != std::string::npos);
  BOOST_TEST(!fs::exists(place.folder().out() / "changes.diff"));
}

BOOST_AUTO_TEST_CASE(no_file_becomes_a_standard_stream_that_was_closed) {
  const Place place;
  for (const char* closed : {"<&- >&- 2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&-"}) {
    const ProgramEnd end = place.run("run task.yaml -v --fresh --out out --diff copy.diff", closed);
    BOOST_TEST(end.status == 0, closed << ": " << end.errors);
    const VerifyResult verified = verify_run(place.folder().out());
    BOOST_TEST(verified.ok, closed << ": " << verified.problem);
    BOOST_TEST(read_file(place.folder().path("copy.diff")) ==
               place.folder().artifact("changes.diff"));
    BOOST_TEST(place.folder().artifact("last-message.txt") == "done\n");
  }
}

BOOST_AUTO_TEST_CASE(a_patch_that_is_applied_is_said_to_be_where_stdout_is_full) {
  const Place place;
  const ProgramEnd end = place.run("apply-patch < patch", "> /dev/full");
  BOOST_TEST(end.status == 7);
  BOOST_TEST(end.errors.find("the whole patch was applied") != std::string::npos, end.errors);
  BOOST_TEST(read_file(place.folder().path("new")) == "x\n");
}

BOOST_AUTO_TEST_CASE(sandbox_puts_protected_paths_back_where_stdout_is_full) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/AGENTS.md", "mine\n");
      ProgramStart start;
      start.folder = folder.workspace();
      // Without namespaces nothing keeps the command from the file: it is found afterwards.
      start.argv = {"sh",
                    "-c",
                    "exec \"$0\" \"$@\" > /dev/full",
                    sortie_binary(),
                    "sandbox",
                    "--policy",
                    "auto",
                    "--",
                    "sh",
                    "-c",
                    "rm -f AGENTS.md 2> /dev/null; mkdir .github; echo made; sleep 1000"};
      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(end.errors.find("stdout: No space left on device") != std::string::npos,
                 end.errors);
      BOOST_TEST(read_file(folder.path("work/AGENTS.md")) == "mine\n");
      BOOST_TEST(!fs::exists(folder.path("work/.github")));
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_says_by_its_code_which_signal_ended_it) {
  const RunFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ProgramStart start;
    start.folder = folder.workspace();
    start.argv = {sortie_binary(), "sandbox", "--", "sh", "-c", "echo on; sleep 1000"};
    Program program(start);
    BOOST_REQUIRE(program.wait_for_output_text("on"));
    program.signal(signal);
    const ProgramEnd end = program.finish();
    BOOST_TEST(end.status == (signal == SIGINT ? 130 : 143), end.errors);
  }
}

BOOST_AUTO_TEST_SUITE_END()

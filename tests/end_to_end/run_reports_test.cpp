#include <boost/test/unit_test.hpp>
#include <csignal>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "tests/support/run_folder.h"

// summary.md and report.html as artifacts of a run.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kReports[] = {"report.html", "summary.md"};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramEnd sortie_on(const char* command, const fs::path& run, std::vector<std::string> more = {}) {
  std::vector<std::string> argv = {sortie_binary(), command, run.string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return run_program({.argv = argv});
}

/// A run that changes a file, with a verification.
struct ChangingRun : RunFolder {
  explicit ChangingRun(const std::string& expected = "b") {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"rm", "-rf", "/etc"}).next();
    cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
    cassette.next().message("done");
    write("policy.yaml", "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: no\n");
    write_task(cassette, "policy: policy.yaml\nverify: {commands: [grep " + expected +
                             " a.txt], rounds: 1}\n");
  }
};

/// They are there, are named with their digests at the end, and are what `sortie report` makes.
void check_reports(const RunFolder& folder) {
  const Json end = folder.records("run.completed").back();
  const Json result = folder.result();
  for (const char* name : kReports) {
    BOOST_TEST_CONTEXT(name) {
      const std::string text = folder.artifact(name);
      const std::string digest = "sha256:" + sha256_hex(text);
      BOOST_TEST(end["artifacts"].string_at(name) == digest);
      BOOST_TEST(result["artifacts"].string_at(name) == digest);
      const fs::path copy = folder.path("again");
      const ProgramEnd made = sortie_on("report", folder.out(), {"-o", copy.string()});
      BOOST_TEST(made.status == 0, made.errors);
      BOOST_TEST((read_file(copy / name) == text));
    }
  }
  const ProgramEnd verified = sortie_on("verify", folder.out());
  BOOST_TEST(verified.status == 0, verified.errors);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_reports)

BOOST_AUTO_TEST_CASE(a_run_leaves_a_page_and_a_summary_that_can_be_made_again) {
  const struct {
    const char* name;
    const char* expected;
    std::vector<std::string> flags;
    int status;
    const char* says;
  } rows[] = {
      {"a success", "b", {}, 0, "# sortie: success (0)\n"},
      {"a success that is applied", "b", {"--apply"}, 0, "# sortie: success (0)\n"},
      {"a failure", "c", {}, 1, "# sortie: task-failed (1)\n"},
      {"a budget", "b", {"--max-turns", "1"}, 4, "# sortie: budget (4)\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ChangingRun folder(row.expected);

      const ProgramEnd end = folder.run(row.flags);

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(folder.artifact("summary.md").starts_with(row.says));
      BOOST_TEST(end.errors.ends_with("; see " + (folder.out() / "summary.md").string() + "\n"),
                 end.errors);
      check_reports(folder);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_on_ends_with_reports_of_all_of_it) {
  const ChangingRun folder;
  BOOST_TEST(folder.run({"--max-turns", "1"}).status == 4);

  const ProgramEnd end = folder.run({"--max-turns", "9"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(says(folder.artifact("summary.md"), "| 1 |"));
  BOOST_TEST(says(folder.artifact("report.html"), "Resumed"));
  check_reports(folder);
}

BOOST_AUTO_TEST_CASE(a_changed_report_is_found) {
  for (const char* name : kReports) {
    const ChangingRun folder;
    BOOST_TEST(folder.run().status == 0);
    write_file(folder.out() / name, "another\n");

    const ProgramEnd verified = sortie_on("verify", folder.out());
    const ProgramEnd made = sortie_on("report", folder.out());

    BOOST_TEST(verified.status == 8);
    BOOST_TEST(says(verified.errors, std::string(name) + " was changed"), verified.errors);
    BOOST_TEST(made.errors.empty(), made.errors);
    BOOST_TEST(sortie_on("verify", folder.out()).status == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_diff_that_is_applied_later_is_told_in_reports_made_anew) {
  const ChangingRun folder;
  BOOST_TEST(folder.run().status == 0);
  const std::string before = folder.artifact("report.html");

  const ProgramEnd end = folder.run({"--apply"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST((folder.artifact("report.html") != before));
  BOOST_TEST(says(folder.artifact("report.html"), "; applied to the workspace"));
  check_reports(folder);
}

BOOST_AUTO_TEST_CASE(reports_that_can_not_be_written_leave_the_outcome_as_it_is) {
  const ChangingRun folder;
  BOOST_TEST(folder.run({"--max-turns", "1"}).status == 4);
  fs::remove(folder.out() / "report.html");
  fs::create_directories(folder.out() / "report.html/in-the-way");

  const ProgramEnd end = folder.run({"--max-turns", "9"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(says(end.errors, "summary.md and report.html are not written: "), end.errors);
  BOOST_TEST(end.errors.ends_with("; see " + (folder.out() / "result.json").string() + "\n"),
             end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "summary.md"));
  for (const char* name : kReports)
    BOOST_TEST((folder.result()["artifacts"].find(name) == nullptr));
  BOOST_TEST(folder.artifact("changes.diff") != "");
  const ProgramEnd verified = sortie_on("verify", folder.out());
  BOOST_TEST(verified.status == 0, verified.errors);
}

// The disk is filled once the artifacts are written: by who reads --diff, for which the run waits.
BOOST_AUTO_TEST_CASE(a_disk_that_is_full_when_reports_are_written_leaves_a_whole_run) {
  RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "yes line | head -c 200000 > b"});
  folder.write_task(cassette.next().message("done"), "policy: auto\n");
  fs::create_directory(folder.path("small"));
  const std::string script =
      "mount -t tmpfs -o size=4m none small || exit 99; mkfifo diff; "
      "{ head -c 1 > first; cat /dev/zero > small/zeros; cat > rest; } < diff 2> filled & "
      "\"$0\" run task.yaml --out small/out --diff diff; status=$?; "
      "cp -r small/out seen; "
      "\"$0\" verify small/out > verified 2>&1 || exit 98; "
      "mount -o remount,size=64m small || exit 97; "
      "\"$0\" run task.yaml --out small/out 2> again || exit 96; "
      "\"$0\" verify small/out > verified 2>&1 || exit 95; cp -r small/out later; exit $status";

  const ProgramEnd end = run_program(
      {.argv = {"unshare", "-rm", "sh", "-c", script, sortie_binary()}, .folder = folder.path("")});

  if (end.status == 99 || says(end.errors, "unshare:")) {
    BOOST_TEST_MESSAGE("skipped: no file system can be mounted here: " << end.errors);
    return;
  }
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(says(end.errors, "summary.md and report.html are not written: "), end.errors);
  BOOST_TEST(says(end.errors, "No space left on device"), end.errors);
  BOOST_TEST(end.errors.ends_with("; see small/out/result.json\n"), end.errors);
  for (const auto& entry : fs::directory_iterator(folder.path("seen")))
    for (const char* name : {"report.html", "summary.md", ".tmp"})
      BOOST_TEST(!entry.path().filename().string().starts_with(name), entry.path());
  const std::string again = read_file(folder.path("again"));
  BOOST_TEST(again.ends_with("; see small/out/summary.md\n"), again);
  BOOST_TEST(read_file(folder.path("later/report.html")).ends_with("</html>\n"));
  BOOST_TEST(read_file(folder.path("later/summary.md")).starts_with("# sortie: success (0)\n"));
}

BOOST_AUTO_TEST_CASE(a_run_that_was_killed_is_told_as_far_as_it_went) {
  RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt; sleep 600"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  Program program(folder.start());
  BOOST_REQUIRE(wait_until([&] {
    std::error_code error;
    return fs::exists(folder.out() / "transcript.jsonl", error) &&
           says(folder.artifact("transcript.jsonl"), R"("type":"tool.call")");
  }));
  program.signal(SIGKILL);
  program.finish();

  const ProgramEnd made = sortie_on("report", folder.out());

  BOOST_TEST(made.status == 0, made.errors);
  BOOST_TEST(folder.artifact("summary.md").starts_with("# sortie: unfinished\n"));
  BOOST_TEST(says(folder.artifact("report.html"), "cut off"));
}

BOOST_AUTO_TEST_CASE(a_secret_of_the_diff_is_not_in_the_page) {
  RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.patch(
      "*** Begin Patch\n*** Update File: a.txt\n-a\n+value-of-the-secret-4711\n"
      "*** End Patch\n");
  folder.write_task(cassette.next().message("done"), "policy: policy.yaml\n");
  folder.write("policy.yaml", "version: 1\nextends: auto\nredact: {on_leak: report}\n");
  ProgramStart start = folder.start();
  start.environment["DEPLOY_TOKEN"] = "value-of-the-secret-4711";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(says(folder.artifact("changes.diff"), "4711"));
  for (const char* name : kReports) BOOST_TEST(!says(folder.artifact(name), "4711"));
  BOOST_TEST(says(folder.artifact("report.html"), "[REDACTED:DEPLOY_TOKEN]"));
}

BOOST_AUTO_TEST_SUITE_END()

// What the caller's process hands over: signals, limits, folders.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool says(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

void write_good_task(const RunFolder& folder) {
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\n");
}

/// The program, started by a shell that does this first.
ProgramStart after(const std::string& line, ProgramStart start) {
  start.argv.insert(start.argv.begin(), {"bash", "-c", line + "; exec \"$0\" \"$@\""});
  return start;
}

/// In the command line of what long_run() stays in.
std::string mark_of(const RunFolder& folder) { return folder.path("mark").string(); }

ProgramStart long_run(const RunFolder& folder) {
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "sleep 1000; : " + mark_of(folder)})
                        .next()
                        .message("done"),
                    "policy: auto\n");
  return folder.plain_start();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(surroundings)

BOOST_AUTO_TEST_CASE(signals_that_the_caller_ignores_do_not_stop_the_program_from_working) {
  const RunFolder folder;
  write_good_task(folder);
  for (const char* first :
       {"trap '' CHLD", "trap '' PIPE", "trap '' CHLD PIPE TERM USR1 USR2 ALRM"}) {
    const ProgramEnd run = run_program(after(first, folder.plain_start({"--fresh"})));
    BOOST_TEST(run.status == 0, first << ": " << run.errors);
    ProgramStart start;
    start.argv = {sortie_binary(), "sandbox", "--policy", "auto", "--", "true"};
    start.folder = folder.workspace();
    const ProgramEnd sandbox = run_program(after(first, start));
    BOOST_TEST(sandbox.status == 0, first << ": " << sandbox.errors);
  }
}

BOOST_AUTO_TEST_CASE(what_nohup_ignores_stays_ignored_and_sigterm_ends_the_run) {
  const RunFolder folder;
  Program run(after("trap '' INT HUP TERM", long_run(folder)));
  BOOST_REQUIRE(wait_until([&] { return !processes_with(mark_of(folder)).empty(); }));

  run.signal(SIGINT);
  run.signal(SIGHUP);
  run.signal(SIGTERM);
  const ProgramEnd end = run.finish();

  // A second signal that counts would have ended it at once, without this.
  BOOST_TEST(end.status == 143, end.errors);
  BOOST_TEST(folder.result().string_at("status") == "interrupted");
}

BOOST_AUTO_TEST_CASE(commands_get_signals_as_they_usually_are) {
  ProgramStart start;
  const RunFolder folder;
  start.argv = {sortie_binary(), "sandbox",          "--policy", "auto", "--", "grep", "-E",
                "^Sig(Blk|Ign)", "/proc/self/status"};
  start.folder = folder.workspace();
  const ProgramEnd end = run_program(after("trap '' CHLD PIPE INT HUP QUIT", start));
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

BOOST_AUTO_TEST_CASE(a_signal_at_any_moment_ends_with_its_code_and_leaves_no_half_of_a_run) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const RunFolder folder;
    ProgramStart start = long_run(folder);
    // As soon as there is anything that could be left half done, and before that.
    for (const bool begun : {false, true}) {
      Program run(start);
      if (begun)
        BOOST_REQUIRE(wait_until([&] { return fs::exists(folder.out() / "result.json"); }));
      run.signal(signal);
      const ProgramEnd end = run.finish();
      const int code = signal == SIGINT ? 130 : 143;
      // Killed before it was the program: the shell says the same code.
      BOOST_TEST((end.status == code || (!begun && end.status == 128 + signal)), end.errors);
      if (begun) BOOST_TEST(folder.result().string_at("status") == "interrupted");
      fs::remove_all(folder.out());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_the_machine_lacks_is_its_own_affair_and_named) {
  const RunFolder folder;
  write_good_task(folder);
  fs::create_directory(folder.path("gone"));
  const struct {
    std::string first;
    const char* why;
  } rows[] = {
      {"cd gone; rmdir ../gone", "the current folder is gone"},
      {"ulimit -n 10", "no more than 10 files may be open"},
      {"ulimit -n 100", "no more than 100 files may be open"},
      {"ulimit -f 1", "no file may be larger than 1024 bytes"},
      {"ulimit -s 64", "a stack may have no more than 65536 bytes"},
  };
  for (const auto& row : rows) {
    const ProgramEnd end = run_program(after(row.first, folder.plain_start({"--fresh"})));
    BOOST_TEST(end.status == 7, row.first << ": " << end.errors);
    BOOST_TEST(says(end, row.why), row.first << ": " << end.errors);
  }
  for (const char* soft : {"ulimit -S -n 20", "ulimit -S -s 64"}) {
    const ProgramEnd raised = run_program(after(soft, folder.plain_start({"--fresh"})));
    BOOST_TEST(raised.status == 0, soft << ": " << raised.errors);
  }
}

BOOST_AUTO_TEST_CASE(an_odd_umask_keeps_sortie_from_nothing_and_lets_nobody_else_write) {
  for (const Caller& caller : all_callers()) {
    for (const char* umask : {"umask 0777", "umask 0277", "umask 0177", "umask 0000"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << umask) {
        const RunFolder folder;
        write_good_task(folder);
        const ProgramEnd run = folder.run_as(caller, after(umask, folder.plain_start()));
        BOOST_TEST(run.status == 0, run.errors);
        BOOST_TEST(folder.artifact("changes.diff").find("+++ b/b\n") != std::string::npos);
        for (const auto& entry : fs::recursive_directory_iterator(folder.out()))
          BOOST_TEST(((entry.status().permissions() & fs::perms::others_write) == fs::perms::none),
                     entry.path());
        BOOST_TEST(((fs::status(folder.out()).permissions() & fs::perms::others_write) ==
                    fs::perms::none));
        ProgramStart start;
        start.argv = {sortie_binary(), "sandbox", "--policy", "auto", "--", "true"};
        start.folder = folder.workspace();
        const ProgramEnd sandbox = folder.run_as(caller, after(umask, start));
        BOOST_TEST(sandbox.status == 0, sandbox.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_the_machines_affair) {
  const RunFolder folder;
  write_good_task(folder);
  fs::create_directory(folder.path("full"));
  const auto run_in = [&](const std::string& size, const std::string& flags) {
    return run_program({.argv = {"unshare", "-rm", "sh", "-c",
                                 "mount -t tmpfs -o size=" + size +
                                     " none full || exit 99; echo x > full/x; "
                                     "\"$0\" run task.yaml --fresh " +
                                     flags + "; status=$?; ls full/out >&2; exit $status",
                                 sortie_binary()},
                        .folder = folder.path("")});
  };
  for (const char* flags : {"--out full/out", "--diff full/diff", "-o full/message"}) {
    const ProgramEnd end = run_in("4k", flags);
    if (end.status == 99 || says(end, "unshare:")) {
      BOOST_TEST_MESSAGE("skipped: no file system can be mounted here: " << end.errors);
      return;
    }
    BOOST_TEST(end.status == 7, flags << ": " << end.errors);
    BOOST_TEST(says(end, "No space left on device"), end.errors);
  }
  // Enough for all that such a run writes, but not for the room that it keeps for its end.
  const ProgramEnd end = run_in("56k", "--out full/out");
  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(says(end, "No space left on device"), end.errors);
  BOOST_TEST(!says(end, "transcript.jsonl"), end.errors);
  BOOST_TEST(run_in("640k", "--out full/out").status == 0);
}

BOOST_AUTO_TEST_CASE(too_few_processes_are_the_machines_affair) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can be another user, whose processes are counted");
    return;
  }
  const RunFolder folder;
  write_good_task(folder);
  const Caller user{.name = "a user", .uid = 64321};
  for (const char* first : {"ulimit -u 2", "ulimit -u 3", "ulimit -u 4", "ulimit -u 5"}) {
    const ProgramEnd end = folder.run_as(user, after(first, folder.plain_start({"--fresh"})));
    BOOST_TEST(end.status == 7, first << ": " << end.errors);
    BOOST_TEST(says(end, "Resource temporarily unavailable"), first << ": " << end.errors);
  }
}

BOOST_AUTO_TEST_CASE(a_machine_without_proc_is_told_and_nothing_is_written_below_it) {
  const RunFolder folder;
  write_good_task(folder);
  ProgramStart start = folder.plain_start();
  start.argv.insert(start.argv.begin(),
                    {"unshare", "-rm", "sh", "-c",
                     "umount -l /proc || exit 99; \"$0\" \"$@\"; s=$?; ls /proc >&2; exit $s"});
  const ProgramEnd end = run_program(start);
  if (end.status == 99 || end.errors.find("unshare:") != std::string::npos) {
    BOOST_TEST_MESSAGE("skipped: /proc can't be unmounted here: " << end.errors);
    return;
  }
  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(says(end, "/proc is not mounted here"), end.errors);
  BOOST_TEST(end.errors.ends_with("\n"));
  BOOST_TEST(!says(end, "self"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_run_needs_no_home) {
  const RunFolder folder;
  write_good_task(folder);
  ProgramStart start = folder.plain_start();
  start.environment["HOME"] = "";
  BOOST_TEST(run_program(start).status == 0);
}

BOOST_AUTO_TEST_SUITE_END()

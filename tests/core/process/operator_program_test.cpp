#include "core/process/operator_program.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  Fixture() { std::signal(SIGPIPE, SIG_IGN); }

  OperatorProgram sh(const std::string& script) const {
    OperatorProgram program;
    program.argv = {"/bin/sh", "-c", script};
    program.workdir = folder.path();
    program.environment = {{"PATH", "/usr/bin:/bin"}, {"ONE", "1"}};
    program.timeout = 60s;
    return program;
  }
  OperatorProgramEnd run(const OperatorProgram& program, std::stop_token stop = {}) const {
    return run_operator_program(program, std::move(stop));
  }
  bool appears(const std::string& name) const {
    for (int tries = 0; tries < 2000; ++tries) {
      if (std::filesystem::exists(folder.path() / name)) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }
  /// Whether the process whose id stands in the file is gone, or only a zombie.
  bool is_gone(const std::string& name) const {
    const std::string id = read_file(folder.path() / name, 100);
    const std::string stat = "/proc/" + id.substr(0, id.find('\n')) + "/stat";
    for (int tries = 0; tries < 2000; ++tries) {
      const Fd file(::open(stat.c_str(), O_RDONLY | O_CLOEXEC));
      char text[512] = {};
      if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return true;
      if (std::string(text).find(") Z ") != std::string::npos) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }

  test::TemporaryFolder folder;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(operator_program, Fixture)

BOOST_AUTO_TEST_CASE(it_gets_its_input_and_gives_its_output_and_status) {
  OperatorProgram program = sh("read line; echo \"got $line\"; echo oops >&2; exit 3");
  program.input = "hello\n";

  const OperatorProgramEnd end = run(program);

  BOOST_TEST((end.exit.ending == Ending::exited));
  BOOST_TEST(end.exit.code == 3);
  BOOST_TEST(end.output == "got hello\n");
  BOOST_TEST(end.errors == "oops\n");
}

BOOST_AUTO_TEST_CASE(it_starts_in_its_folder_with_its_own_environment_group_and_descriptors) {
  const Fd ours(::open("/dev/null", O_RDONLY));  // not close-on-exec
  ::setenv("SECRET_OF_OURS", "x", 1);

  const OperatorProgramEnd end =
      run(sh("pwd; env | sort | grep -v '^_=\\|^PWD=\\|^SHLVL='; ls /proc/self/fd | wc -l;"
             "read pid name state parent group session rest < /proc/$$/stat;"
             "[ $$ = $group ] && [ $$ = $session ] && echo own"));

  // `ls` itself has its folder open.
  BOOST_TEST(end.output == folder.path().string() + "\nONE=1\nPATH=/usr/bin:/bin\n4\nown\n");
}

BOOST_AUTO_TEST_CASE(signals_are_as_a_program_expects_them) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);

  const OperatorProgramEnd end = run(sh("kill -TERM $$; echo still here"));

  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  BOOST_TEST((end.exit.ending == Ending::signalled));
  BOOST_TEST(end.exit.code == SIGTERM);
  // But for the two of the C library's own.
  BOOST_TEST(run(sh("mask=$(sed -n 's/^SigIgn:.//p' /proc/self/status);"
                    "echo $((0x$mask & 0x7fffffff))"))
                 .output == "0\n");
}

BOOST_AUTO_TEST_CASE(a_program_that_hangs_is_killed_with_its_group) {
  OperatorProgram program = sh("sleep 1000 & echo $! > child; wait");
  program.timeout = 300ms;

  const OperatorProgramEnd end = run(program);

  BOOST_TEST((end.exit.ending == Ending::timed_out));
  BOOST_TEST(is_gone("child"));
}

BOOST_AUTO_TEST_CASE(a_stop_request_ends_it_at_once) {
  std::stop_source source;
  std::jthread stopper([&] {
    appears("started");
    source.request_stop();
  });

  const OperatorProgramEnd end = run(sh("touch started; exec sleep 1000"), source.get_token());

  BOOST_TEST((end.exit.ending == Ending::cancelled));
}

BOOST_AUTO_TEST_CASE(a_descendant_that_holds_the_pipes_is_not_waited_for) {
  // Out of the group too, so that it outlives the killing of the group.
  const OperatorProgramEnd end =
      run(sh("setsid sh -c 'echo $$ > holder; exec sleep 1000' & "
             "while [ ! -s holder ]; do :; done; echo answer"));

  BOOST_TEST((end.exit.ending == Ending::exited));
  BOOST_TEST(end.output == "answer\n");
  BOOST_TEST(end.exit.duration.count() < 50'000);
  ::kill(std::stoi(read_file(folder.path() / "holder", 100)), SIGKILL);
}

BOOST_AUTO_TEST_CASE(what_it_leaves_in_its_group_is_killed_when_it_has_ended) {
  const OperatorProgramEnd end = run(sh("sleep 1000 & echo $! > child; echo answer"));

  BOOST_TEST(end.output == "answer\n");
  BOOST_TEST(is_gone("child"));
}

BOOST_AUTO_TEST_CASE(too_long_an_output_ends_it_and_errors_are_cut) {
  OperatorProgram program = sh("yes");
  program.max_output = 1000;
  BOOST_TEST((run(program).exit.ending == Ending::output_limit));

  program = sh("yes e | head -c 100000 >&2; echo ok");
  program.max_errors = 500;
  const OperatorProgramEnd end = run(program);
  BOOST_TEST(end.output == "ok\n");
  BOOST_TEST(end.errors.size() == 500u);
  BOOST_TEST(end.errors_cut);
}

BOOST_AUTO_TEST_CASE(it_need_not_read_its_input) {
  OperatorProgram program = sh("exec <&-; echo ok");
  program.input = std::string(1 << 20, 'x');

  BOOST_TEST(run(program).output == "ok\n");
}

BOOST_AUTO_TEST_CASE(what_can_not_be_started_says_why) {
  OperatorProgram program = sh("");
  program.argv = {"/no/such/program"};
  BOOST_TEST((run(program).exit.ending == Ending::not_started));
  BOOST_TEST(run(program).exit.detail == "No such file or directory");
  program.argv = {"/etc/passwd"};
  BOOST_TEST((run(program).exit.ending == Ending::not_started));
  program = sh("true");
  program.workdir = "/no/such/folder";
  BOOST_TEST((run(program).exit.ending == Ending::not_started));
  program.argv.clear();
  BOOST_TEST((run(program).exit.ending == Ending::not_started));
}

BOOST_AUTO_TEST_SUITE_END()

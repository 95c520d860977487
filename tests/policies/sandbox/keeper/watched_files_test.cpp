// What the keeper holds open of /proc while it watches the limits of commands.
#include <poll.h>
#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <memory>

#include "policies/sandbox/keeper/keeper.h"
#include "tests/policies/sandbox/keeper_fixture.h"

namespace sortie::test {
namespace {

using Running = std::unique_ptr<RunningCommand>;

/// How many files of processes in /proc a process holds open; -1 if it can't be looked into.
int open_of_processes(pid_t process) {
  std::error_code error;
  int count = 0;
  for (const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    std::error_code closed;  // meanwhile
    const fs::path file = fs::read_symlink(entry.path(), closed).filename();
    if (file == "stat" || file == "io") ++count;
  }
  return error ? -1 : count;
}

pid_t youngest_child(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t youngest = 0;
  for (pid_t child = 0; children >> child;) youngest = child;
  return youngest;
}

/// When it has printed something.
void wait_for_output(const Running& command) {
  pollfd output{command->output().get(), POLLIN, 0};
  BOOST_REQUIRE(::poll(&output, 1, 30'000) == 1);
}

void wait_for_end(const Running& command) {
  command->end(Ending::cancelled);
  pollfd ended{command->ended_descriptor(), POLLIN, 0};
  BOOST_REQUIRE(::poll(&ended, 1, 30'000) == 1);
  BOOST_REQUIRE(command->status().has_value());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(watched_files)

BOOST_AUTO_TEST_CASE(none_is_handed_to_a_command_or_left_open_after_the_last) {
  const Sandboxed here;
  Keeper keeper(here.profile);
  if (open_of_processes(keeper.pid()) < 0) {
    BOOST_TEST_MESSAGE("skipped: this user can't look into the keeper");
    return;
  }
  const std::string script = "for i in 1 2 3 4; do sleep 100 & done; echo begun; wait";
  const Running first = keeper.launcher().start(here.shell(script));
  wait_for_output(first);
  // Two of each of the four, of the shell and of what is above them.
  while (open_of_processes(keeper.pid()) < 10) ::sched_yield();

  const Running second = keeper.launcher().start(here.shell("echo begun; sleep 100"));
  wait_for_output(second);
  const pid_t of_second = youngest_child(keeper.pid());
  BOOST_REQUIRE(of_second > 0);
  BOOST_TEST(open_of_processes(of_second) == 0);

  wait_for_end(second);
  // Those of the second are closed, and those of the first stay.
  const int of_first = 14;
  while (open_of_processes(keeper.pid()) > of_first || open_of_processes(keeper.pid()) < 10)
    ::sched_yield();
  wait_for_end(first);
  BOOST_TEST(open_of_processes(keeper.pid()) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test

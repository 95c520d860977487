#include "app/run/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// A child that waits for its end, with nothing open that somebody reads to the end of.
pid_t fork_child() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not stay where nobody ends it
  ::close_range(0, ~0U, 0);
  for (;;) ::pause();
}

/// A process that says "ready", and then opens a pipe that nobody writes into.
class Blocked {
 public:
  explicit Blocked(const std::function<void(const std::function<void()>&)>& play) {
    BOOST_REQUIRE(::mkfifo((folder_ / "pipe").c_str(), 0600) == 0);
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    said_ = Fd(ends[0]);
    Fd says(ends[1]);
    pid_ = ::fork();
    BOOST_REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(says.get(), STDERR_FILENO);
      set_up_signals();
      play([this] {
        static_cast<void>(::write(STDERR_FILENO, "ready\n", 6) + 1);
        ::open((folder_ / "pipe").c_str(), O_RDONLY | O_CLOEXEC);
      });
      ::_exit(99);
    }
    says = Fd();
    wait_for("ready\n");
  }

  void signal(int number) const { ::kill(pid_, number); }

  /// Sends it again and again until the process has ended.
  void signal_to_its_end(int number) const {
    pollfd said{said_.get(), POLLIN, 0};
    do signal(number);
    while (::poll(&said, 1, 50) == 0);
  }

  /// Its exit status; it has ended when all that it said is read.
  int finish() {
    wait_for("");
    int status = 0;
    BOOST_REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  const std::string& text() const { return text_; }

 private:
  /// To the end where the words are none. The test program's own time limit bounds it.
  void wait_for(const std::string& words) {
    char part[512];
    while (words.empty() || text_.find(words) == text_.npos) {
      const ssize_t count = ::read(said_.get(), part, sizeof part);
      if (count <= 0) return;
      text_.append(part, static_cast<std::size_t>(count));
    }
  }

  TemporaryFolder folder_{};
  Fd said_;
  pid_t pid_ = -1;
  std::string text_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(signals)

BOOST_AUTO_TEST_CASE(one_that_is_held_ends_a_process_that_is_blocked) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    Blocked process([](const auto& block) {
      const HeldSignals held;
      block();
    });
    process.signal(number);
    BOOST_TEST(process.finish() == (number == SIGINT ? 130 : 143));
    BOOST_TEST(process.text().find("it was blocked") != std::string::npos, process.text());
  }
}

BOOST_AUTO_TEST_CASE(one_before_the_work_leaves_no_child_to_process_1) {
  // What a process leaves becomes this one's child.
  BOOST_REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Blocked process([](const auto& block) {
    const EndsWithProcess ends_with_it(fork_child());
    block();
  });
  process.signal(SIGTERM);
  BOOST_TEST(process.finish() == 143);
  BOOST_TEST(process.text().find("before the work began") != std::string::npos, process.text());
  BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

BOOST_AUTO_TEST_CASE(one_while_a_child_is_made_waits_until_the_child_is_known) {
  BOOST_REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Blocked process([](const auto& block) {
    std::optional<EndsWithProcess> ends_with_it;
    {
      const DeferredSignals until_it_is_known;
      const pid_t child = fork_child();
      ::kill(::getpid(), SIGTERM);
      ends_with_it.emplace(child);
    }
    block();
  });
  BOOST_TEST(process.finish() == 143);
  BOOST_TEST(process.text().find("before the work began") != std::string::npos, process.text());
  BOOST_TEST(process.text().find("ready") == std::string::npos, process.text());
  BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

BOOST_AUTO_TEST_CASE(a_stop_request_that_nothing_hears_ends_the_process) {
  for (const int number : {SIGINT, SIGTERM}) {
    Blocked process([](const auto& block) {
      const HeldSignals held;
      const Signals signals(100ms);
      block();
    });
    process.signal(number);
    BOOST_TEST(process.finish() == (number == SIGINT ? 130 : 143));
    BOOST_TEST(process.text().find("it was blocked") != std::string::npos, process.text());
  }
}

BOOST_AUTO_TEST_CASE(signals_that_come_together_are_one) {
  Blocked process([](const auto& block) {
    const HeldSignals held;
    const Signals signals(100ms);  // shorter than signals are together
    block();
  });
  // As timeout(1) and a terminal do, to the process and to its group; SIGHUP of a closed one.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGTERM}) process.signal(number);
  const int status = process.finish();
  BOOST_TEST((status == 143 || status == 130), status);
  BOOST_TEST(process.text().find("it was blocked") != std::string::npos, process.text());
}

BOOST_AUTO_TEST_CASE(a_second_signal_ends_the_process_at_once_and_says_so) {
  Blocked process([](const auto& block) {
    const HeldSignals held;
    const Signals signals;
    block();
  });
  process.signal_to_its_end(SIGTERM);
  BOOST_TEST(process.finish() == 143);
  BOOST_TEST(process.text().find("the second signal, at once") != std::string::npos,
             process.text());
}

BOOST_AUTO_TEST_CASE(a_signal_that_was_held_is_a_stop_request_with_its_time) {
  Blocked process([](const auto& block) {
    const HeldSignals held;
    ::raise(SIGTERM);
    const Signals signals(100ms);
    if (signals.received() == SIGTERM && signals.token().stop_requested()) block();
  });
  BOOST_TEST(process.finish() == 143);
}

BOOST_AUTO_TEST_CASE(the_hard_limit_of_the_time_ends_a_process_that_is_blocked) {
  Blocked process([](const auto& block) {
    Signals signals;
    signals.end_at(std::chrono::steady_clock::now() + 100ms);
    block();
  });
  BOOST_TEST(process.finish() == 4);
  BOOST_TEST(process.text().find("the time is over") != std::string::npos, process.text());
}

BOOST_AUTO_TEST_CASE(a_limit_that_was_lifted_ends_nothing) {
  Blocked process([](const auto& block) {
    Signals signals(100ms);
    signals.end_at(std::chrono::steady_clock::now() + 1h);
    signals.never_end();
    block();
  });
  process.signal(SIGTERM);
  BOOST_TEST(process.finish() == 143);
}

BOOST_AUTO_TEST_SUITE_END()

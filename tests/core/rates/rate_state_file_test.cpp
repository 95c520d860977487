#include "core/rates/rate_state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/model/model.h"
#include "tests/fakes/fake_boot_time.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct Bench {
  TemporaryFolder folder;
  FakeBootTime time;
  FakeClock clock;
  std::vector<std::string> said;
  fs::path path() const { return folder / "rates.state"; }

  RateStateFile open(std::stop_token stop = {}) {
    return RateStateFile({.path = path(),
                          .time = time,
                          .clock = clock,
                          .stop = std::move(stop),
                          .say = [this](const std::string& line) { said.push_back(line); }});
  }
  /// The number of requests taken, after one more.
  std::int64_t take(RateStateFile& file) {
    std::int64_t taken = 0;
    file.change([&taken](RateState& state, std::chrono::nanoseconds now) {
      taken = ++state.queue("openai", now).bucket.taken;
    });
    return taken;
  }
  std::string refusal() {
    try {
      open();
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Runs it in a process of its own. @return  its process id
template <typename Work>
pid_t in_child(Work work) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child != 0) return child;
  try {
    work();
  } catch (const std::exception&) {
    ::_exit(3);
  }
  ::_exit(0);
}

int status_of(pid_t child) {
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_state_file)

BOOST_AUTO_TEST_CASE(a_state_is_kept_and_is_the_users_own) {
  Bench bench;
  {
    RateStateFile file = bench.open();
    BOOST_TEST(bench.take(file) == 1);
    BOOST_TEST(bench.take(file) == 2);
  }
  RateStateFile again = bench.open();

  BOOST_TEST(bench.take(again) == 3);
  struct stat status {};
  BOOST_REQUIRE(::stat(bench.path().c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 07777) == 0600u);
  BOOST_TEST(fs::file_size(bench.path()) == 2 * kMostStateBytes);
  BOOST_TEST(bench.said.empty());
}

BOOST_AUTO_TEST_CASE(what_another_start_of_the_machine_left_does_not_count) {
  Bench bench;
  RateStateFile file = bench.open();
  bench.take(file);
  bench.time.id = "0f4c5a1e-two";
  bench.time.time = 10s;

  BOOST_TEST(bench.take(file) == 1);
  BOOST_TEST(bench.take(file) == 2);
  BOOST_TEST(bench.said.empty());  // that is usual
}

BOOST_AUTO_TEST_CASE(what_a_later_clock_left_does_not_count_where_the_kernel_names_no_start) {
  Bench bench;
  bench.time.id = "";
  RateStateFile file = bench.open();
  bench.take(file);
  BOOST_TEST(bench.take(file) == 2);
  bench.time.time = 10s;

  BOOST_TEST(bench.take(file) == 1);
}

BOOST_AUTO_TEST_CASE(a_change_that_was_torn_leaves_the_one_before) {
  Bench bench;
  RateStateFile file = bench.open();
  for (int i = 0; i < 3; ++i) bench.take(file);  // places 0, 1, 0
  const std::string whole = read_file(bench.path());
  std::string torn = whole;
  torn.replace(40, 20, std::string(20, 'x'));
  write_file(bench.path(), torn, 0600);
  RateStateFile again = bench.open();

  BOOST_TEST(bench.take(again) == 3);  // 2, and one more
  BOOST_TEST(bench.said.empty());
}

BOOST_AUTO_TEST_CASE(a_state_that_is_damaged_begins_anew_and_that_is_said) {
  Bench bench;
  RateStateFile file = bench.open();
  for (int i = 0; i < 3; ++i) bench.take(file);
  std::string torn = read_file(bench.path());
  for (const std::size_t place : {std::size_t{0}, kMostStateBytes})
    torn.replace(place + 40, 20, std::string(20, 'x'));
  // In place, as whoever has it open sees it.
  const Fd direct(::open(bench.path().c_str(), O_WRONLY | O_CLOEXEC));
  BOOST_REQUIRE(::pwrite(direct.get(), torn.data(), torn.size(), 0) ==
                static_cast<ssize_t>(torn.size()));

  BOOST_TEST(bench.take(file) == 1);
  BOOST_REQUIRE(bench.said.size() == 1u);
  BOOST_TEST(has(bench.said[0], "was damaged: it begins anew"));
  BOOST_TEST(bench.take(file) == 2);
  BOOST_TEST(bench.said.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_state_that_was_removed_or_replaced_is_found_again) {
  Bench bench;
  RateStateFile one = bench.open();
  RateStateFile other = bench.open();
  bench.take(one);
  fs::remove(bench.path());

  BOOST_TEST(bench.take(one) == 1);
  BOOST_TEST(bench.take(other) == 2);
}

BOOST_AUTO_TEST_CASE(what_is_no_file_of_ours_is_refused_and_left_as_it_is) {
  const struct {
    const char* name;
    std::function<void(const fs::path& path)> plant;
    const char* refusal;
  } rows[] = {
      {"a link", [](const fs::path& path) { fs::create_symlink("elsewhere", path); }, "is a link"},
      {"a link to a file",
       [](const fs::path& path) {
         write_file(path.string() + ".target", "");
         fs::create_symlink(path.string() + ".target", path);
       },
       "is a link"},
      {"a hard link",
       [](const fs::path& path) {
         write_file(path.string() + ".target", "");
         fs::create_hard_link(path.string() + ".target", path);
       },
       "has another name as well"},
      {"a folder", [](const fs::path& path) { fs::create_directory(path); }, "is a folder"},
      {"a pipe", [](const fs::path& path) { ::mkfifo(path.c_str(), 0600); },
       "is not a regular file"},
      {"a text", [](const fs::path& path) { write_file(path, "dear diary\n"); },
       "holds something else, which would be overwritten"},
      {"no folder", [](const fs::path& path) { fs::remove(path.parent_path()); },
       "No such file or directory"},
  };
  for (const auto& row : rows) {
    Bench bench;
    row.plant(bench.path());
    const bool is_text = fs::is_regular_file(bench.path()) && fs::file_size(bench.path()) > 0;

    std::string what;
    try {
      bench.open();
    } catch (const Error& error) {
      what = error.what();
      BOOST_TEST(static_cast<int>(error.code()) == static_cast<int>(ExitCode::usage), row.name);
    }
    BOOST_TEST(has(what, row.refusal), row.name << ": " << what);
    if (is_text) BOOST_TEST((read_file(bench.path()) == "dear diary\n"));
  }
}

BOOST_AUTO_TEST_CASE(a_file_of_another_user_is_refused_unless_the_limits_are_theirs) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: only root can give a file away");
    return;
  }
  constexpr uid_t kUser = 12345;
  Bench bench;
  fs::permissions(bench.path().parent_path(), fs::perms::all);
  write_file(bench.path(), "", 0666);
  const auto open_as = [&bench](uid_t user, std::optional<uid_t> owner) {
    return status_of(in_child([&] {
      if (::setresuid(user, user, user) != 0) ::_exit(9);
      try {
        RateStateFile(
            {.path = bench.path(), .owner = owner, .time = bench.time, .clock = bench.clock});
      } catch (const Error& error) {
        ::_exit(static_cast<int>(error.code()));
      }
    }));
  };

  BOOST_TEST(open_as(kUser, {}) == 0);  // root's
  BOOST_REQUIRE(::chown(bench.path().c_str(), kUser + 1, kUser + 1) == 0);
  BOOST_TEST(open_as(kUser, {}) == 2 << 8);
  BOOST_TEST(open_as(kUser, kUser + 1) == 0);
  BOOST_REQUIRE(::chmod(bench.path().c_str(), 0600) == 0);
  BOOST_TEST(open_as(kUser, kUser + 1) == 2 << 8);  // it may not be opened
}

BOOST_AUTO_TEST_CASE(no_change_of_many_processes_is_lost) {
  Bench bench;
  constexpr int kProcesses = 8;
  constexpr int kTimes = 200;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i)
    children.push_back(in_child([&bench] {
      SystemClock clock;
      RateStateFile file({.path = bench.path(), .time = bench.time, .clock = clock});
      for (int n = 0; n < kTimes; ++n) bench.take(file);
    }));
  for (const pid_t child : children) BOOST_TEST(status_of(child) == 0);

  RateStateFile file = bench.open();
  BOOST_TEST(bench.take(file) == kProcesses * kTimes + 1);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_with_the_lock_held_leaves_it_free) {
  Bench bench;
  RateStateFile file = bench.open();
  bench.take(file);
  const Pipe pipe = make_pipe();
  const pid_t child = in_child([&] {
    RateStateFile own = bench.open();
    own.change([&pipe](RateState& state, std::chrono::nanoseconds) {
      state.queues.clear();
      write_all(pipe.write.get(), "x");
      for (;;) ::pause();
    });
  });
  char byte = 0;
  BOOST_REQUIRE(::read(pipe.read.get(), &byte, 1) == 1);
  ::kill(child, SIGKILL);
  status_of(child);

  BOOST_TEST(bench.take(file) == 2);
}

BOOST_AUTO_TEST_CASE(processes_that_are_killed_at_any_moment_leave_a_state_that_is_whole) {
  Bench bench;
  {
    RateStateFile file = bench.open();
    bench.take(file);
  }
  for (int i = 0; i < 40; ++i) {
    const Pipe pipe = make_pipe();
    const pid_t child = in_child([&] {
      SystemClock clock;
      RateStateFile own({.path = bench.path(), .time = bench.time, .clock = clock});
      for (int n = 0;; ++n) {
        bench.take(own);
        if (n == i) write_all(pipe.write.get(), "x");
      }
    });
    char byte = 0;
    BOOST_REQUIRE(::read(pipe.read.get(), &byte, 1) == 1);
    ::kill(child, SIGKILL);
    status_of(child);
  }
  RateStateFile file = bench.open();

  // Each has made at least so many changes.
  BOOST_TEST(bench.take(file) >= 1 + 40 * 41 / 2);
  BOOST_TEST(bench.said.empty());
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_kept_is_not_waited_for_without_end) {
  Bench bench;
  RateStateFile holder = bench.open();
  RateStateFile waiting = bench.open();
  holder.change([&](RateState&, std::chrono::nanoseconds) {
    BOOST_CHECK_EXCEPTION(bench.take(waiting), Error, [](const Error& error) {
      return error.code() == ExitCode::busy && has(error.what(), "has had its lock for 10 s");
    });
  });
  BOOST_TEST(bench.take(waiting) == 1);
}

BOOST_AUTO_TEST_CASE(a_stop_ends_the_wait_for_the_lock) {
  Bench bench;
  std::stop_source stop;
  RateStateFile holder = bench.open();
  RateStateFile waiting = bench.open(stop.get_token());
  stop.request_stop();
  holder.change([&](RateState&, std::chrono::nanoseconds) {
    BOOST_CHECK_THROW(bench.take(waiting), Stopped);
  });
}

BOOST_AUTO_TEST_SUITE_END()

#include "policies/sandbox/layers/process_files.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// A process that waits for its end.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
    BOOST_REQUIRE(pid_ > 0);
  }
  Child(const Child&) = delete;
  ~Child() { end(); }

  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

/// How many files in /proc this process holds open.
int open_in_proc() {
  int count = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd"))
    if (const fs::path file = fs::read_symlink(entry.path(), error);
        file.filename() == "stat" || file.filename() == "io")
      ++count;
  return count;
}

std::string number_of(const std::string& stat) { return stat.substr(0, stat.find(' ')); }

/// Its number in the parent field is this process'.
bool is_ours(const std::string& stat) {
  const std::string after = stat.substr(stat.rfind(')') + 1);
  return after.find(' ' + std::to_string(::getpid()) + ' ') == 2;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process_files)

BOOST_AUTO_TEST_CASE(they_tell_of_a_process_until_it_is_gone) {
  Child child;
  ProcessFiles files;
  for (int look = 0; look < 2; ++look) {
    BOOST_TEST(number_of(files.stat(child.pid())) == std::to_string(child.pid()));
    BOOST_TEST(is_ours(files.stat(child.pid())));
    BOOST_TEST(files.io(child.pid()).find("write_bytes: ") != std::string::npos);
  }
  const pid_t gone = child.pid();
  child.end();
  BOOST_TEST(files.stat(gone) == "");
  BOOST_TEST(files.io(gone) == "");
}

BOOST_AUTO_TEST_CASE(what_they_tell_is_of_now) {
  const Child child;
  ProcessFiles files;
  const auto state = [&] {
    const std::string text = files.stat(child.pid());
    return text.substr(text.rfind(')') + 2, 1);
  };
  BOOST_TEST((state() == "S" || state() == "R"));
  ::kill(child.pid(), SIGSTOP);
  BOOST_REQUIRE(::waitpid(child.pid(), nullptr, WUNTRACED) == child.pid());
  BOOST_TEST(state() == "T");
}

BOOST_AUTO_TEST_CASE(a_number_that_is_another_process_by_now_tells_of_that_one) {
  ProcessFiles files;
  Child first;
  const pid_t number = first.pid();
  BOOST_REQUIRE(!files.stat(number).empty());
  BOOST_REQUIRE(!files.io(number).empty());
  first.end();
  // The next one gets the number that is written there (proc(5)); another program may be faster.
  pid_t again = -1;
  for (int tries = 0; tries < 50 && again != number; ++tries) {
    if (!(std::ofstream("/proc/sys/kernel/ns_last_pid") << number - 1).flush()) break;
    const Child second;
    again = second.pid();
    if (again != number) continue;
    BOOST_TEST(number_of(files.stat(number)) == std::to_string(number));
    BOOST_TEST(!files.io(number).empty());
  }
  BOOST_WARN_MESSAGE(again == number, "skipped: no process got the number again");
}

BOOST_AUTO_TEST_CASE(files_that_were_not_read_again_are_closed) {
  const Child one;
  const Child other;
  ProcessFiles files;
  const int before = open_in_proc();
  for (const pid_t pid : {one.pid(), other.pid()}) {
    files.stat(pid);
    files.io(pid);
  }
  files.close_unread();
  BOOST_TEST(open_in_proc() == before + 4);
  files.stat(one.pid());
  files.close_unread();
  BOOST_TEST(open_in_proc() == before + 2);
  files.close_all();
  BOOST_TEST(open_in_proc() == before);
}

BOOST_AUTO_TEST_CASE(a_quarter_of_the_files_that_may_be_open_stays_open) {
  std::vector<std::unique_ptr<Child>> children;
  while (children.size() < 20) children.push_back(std::make_unique<Child>());
  rlimit now{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
  const rlimit small{80, now.rlim_max};
  BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &small) == 0);
  const int before = open_in_proc();
  ProcessFiles files;
  for (int look = 0; look < 2; ++look)
    for (const auto& child : children) {
      BOOST_TEST(is_ours(files.stat(child->pid())));
      BOOST_TEST(!files.io(child->pid()).empty());
    }
  BOOST_TEST(open_in_proc() == before + 20);
  ::setrlimit(RLIMIT_NOFILE, &now);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test

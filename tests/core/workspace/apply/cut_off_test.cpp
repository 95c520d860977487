// Changes that are cut off while they are written: by kills, and by a full disk.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/workspace/apply/recover_tree.h"
#include "core/workspace/apply/tree_apply.h"
#include "tests/core/workspace/apply/real_tree.h"
#include "tests/support/program.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// Runs it in a process of its own, killed after that time. @return  as waitpid(2) says
int run_child(const std::function<void()>& work, std::optional<std::chrono::nanoseconds> killed) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      work();
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  if (killed) {
    const timespec instant{0, static_cast<long>(killed->count() % 1'000'000'000)};
    ::nanosleep(&instant, nullptr);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Runs it in a process of its own, killed when it enters or leaves a system call for the Nth time.
/// @return  whether it was killed before its end
bool kill_at_call(const std::function<void()>& work, int calls) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    try {
      work();
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int i = 0; i < calls && WIFSTOPPED(status); ++i) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
  }
  if (!WIFSTOPPED(status)) return false;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_off)

BOOST_AUTO_TEST_CASE(a_killed_application_is_rolled_back_or_complete_at_the_next_start) {
  const char* wanted = std::getenv("SORTIE_APPLY_KILLS");
  const int kills = wanted == nullptr ? 20 : std::atoi(wanted);
  const std::string diff = diff_of(kBefore, kAfter);
  const std::string back = diff_of(kAfter, kBefore);
  const RealTree tree(kBefore);
  std::mt19937 random(17);
  // The instants are to lie within the work: as long as it takes unkilled, fork included.
  const auto begin = std::chrono::steady_clock::now();
  run_child([&] { tree.apply(diff); }, std::nullopt);
  run_child([&] { tree.apply(back); }, std::nullopt);
  const long longest =
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count() / 2;
  int rolled_back = 0;
  for (int i = 0; i < kills; ++i) {
    const bool is_old = tree.entries() == kBefore;
    const std::chrono::nanoseconds instant(random() % static_cast<unsigned long>(longest));
    const int status = run_child([&] { tree.apply(is_old ? diff : back); }, instant);
    BOOST_TEST((!WIFEXITED(status) || WEXITSTATUS(status) == 0));
    const Recovery recovery = recover_tree(tree.path());
    rolled_back += recovery.what == Recovery::What::rolled_back;
    BOOST_TEST_CONTEXT("kill " << i) {
      const TouchedFiles now = tree.entries();
      BOOST_REQUIRE((now == kBefore || now == kAfter));
      BOOST_TEST(!tree.has_folder(kApplyFolder));
    }
  }
  BOOST_TEST_MESSAGE(rolled_back << " of " << kills << " were rolled back");
}

// A small file system in a mount namespace of the child; skipped where there is none.
BOOST_AUTO_TEST_CASE(a_disk_that_fills_up_at_any_write_changes_nothing) {
  const TemporaryFolder place;
  const std::string big(40'000, 'x');
  const TouchedFiles before = {{"a", {kFile, "a\n"}}, {"d/b", {kFile, "b\n"}}, {"e", {kFile, "e"}}};
  const TouchedFiles after = {
      {"a", {kFile, big}}, {"d/b", {kFile, big + "1"}}, {"n/m", {kFile, big}}};
  const std::string diff = diff_of(before, after);
  enum Outcome { skipped = 3, applied = 4, refused = 5, torn = 6 };
  bool was_refused = false;
  bool was_applied = false;
  for (int room = 4; room <= 300; room += 4) {
    const auto work = [&] {
      const int flags = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
      if (::unshare(flags) != 0) ::_exit(skipped);
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
      const std::string size = "size=" + std::to_string(room + 12) + "k";
      if (::mount("none", place.path().c_str(), "tmpfs", 0, size.c_str()) != 0) ::_exit(skipped);
      const Fd root(::open(place.path().c_str(), O_PATH | O_DIRECTORY));
      fs::create_directory(place / "d");
      for (const auto& [path, entry] : before) std::ofstream(place / path) << entry.content;
      const auto was = read_tree(place.path());
      try {
        const PlannedChanges planned =
            plan_changes(read_patches(diff),
                         [&](const std::string& path) { return read_present(root.get(), path); });
        TreeApply apply(root.get(), planned.changes);
        apply.perform();
        apply.settle();
      } catch (const Error& error) {
        const bool clear = error.code() == ExitCode::environment &&
                           std::string(error.what()).find("No space left") != std::string::npos;
        ::_exit(clear && read_tree(place.path()) == was ? refused : torn);
      }
      ::_exit(applied);
    };
    const int status = WEXITSTATUS(run_child(work, std::nullopt));
    if (status == skipped) {
      BOOST_TEST_MESSAGE("skipped: no mount namespace");
      return;
    }
    BOOST_TEST((status == applied || status == refused), room << " KiB: " << status);
    was_refused = was_refused || status == refused;
    was_applied = was_applied || status == applied;
  }
  BOOST_TEST(was_refused);
  BOOST_TEST(was_applied);
}

BOOST_AUTO_TEST_CASE(killed_at_any_system_call_the_tree_is_wholly_old_or_new) {
  const char* wanted = std::getenv("SORTIE_APPLY_KILLS");
  const std::string diff = diff_of(kBefore, kAfter);
  const std::string back = diff_of(kAfter, kBefore);
  const RealTree tree(kBefore);
  const auto was = read_tree(tree.path());
  int calls = 0;
  while (kill_at_call([&] { tree.apply(diff); }, calls) && calls < 100'000) {
    recover_tree(tree.path());
    BOOST_TEST_CONTEXT("system call " << calls) {
      const TouchedFiles now = tree.entries();
      BOOST_REQUIRE((now == kBefore || now == kAfter));
      BOOST_REQUIRE(!tree.has_folder(kApplyFolder));
      if (now == kBefore) BOOST_REQUIRE((read_tree(tree.path()) == was));
      if (now == kAfter) tree.apply(back);
    }
    // All of them take a minute.
    calls += wanted == nullptr ? 37 : 1;
  }
  BOOST_TEST_MESSAGE("killed at system calls up to " << calls);
  BOOST_TEST((tree.entries() == kAfter));
}

BOOST_AUTO_TEST_CASE(a_recovery_that_is_killed_is_done_by_the_next_start) {
  const std::string diff = diff_of(kBefore, kAfter);
  const RealTree tree(kBefore);
  for (int calls = 1;; calls += std::getenv("SORTIE_APPLY_KILLS") == nullptr ? 23 : 1) {
    run_child(
        [&] {
          TreeApply apply(tree.root(), tree.plan(diff).changes);
          apply.perform();
          ::raise(SIGKILL);
        },
        std::nullopt);
    const bool killed = kill_at_call([&] { recover_tree(tree.path()); }, calls);
    recover_tree(tree.path());
    BOOST_TEST_CONTEXT("system call " << calls) {
      BOOST_REQUIRE((tree.entries() == kBefore));
      BOOST_REQUIRE(!tree.has_folder(kApplyFolder));
    }
    if (!killed) break;
  }
}

BOOST_AUTO_TEST_SUITE_END()

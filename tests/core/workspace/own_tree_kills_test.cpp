// Putting back the user's own tree, and setting aside what a run did in it, killed at each write.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <set>

#include "core/files/files.h"
#include "core/workspace/own_tree.h"
#include "core/workspace/own_tree_aside.h"
#include "core/workspace/undo_own_tree.h"
#include "tests/core/workspace/own_tree_bench.h"

using namespace sortie;
using test::everything;
using test::next_tick;
using test::OwnBench;
using test::put;
namespace fs = std::filesystem;

namespace {

enum class Traced { killed, ended, failed, refused };

/// Runs the work in a process that is killed before its n-th system call that can change a disk.
Traced kill_at_write(int n, const std::function<void()>& work) {
  static const std::set<long> writes = {
      SYS_write,    SYS_pwrite64,        SYS_unlinkat,  SYS_mkdirat,   SYS_renameat2, SYS_fchmod,
      SYS_fchmodat, SYS_fchown,          SYS_fchownat,  SYS_utimensat, SYS_linkat,    SYS_symlinkat,
      SYS_openat,   SYS_copy_file_range, SYS_ftruncate, SYS_mknodat,   SYS_renameat,
#ifdef SYS_rename
      SYS_unlink,   SYS_rmdir,           SYS_mkdir,     SYS_rename,    SYS_chmod,     SYS_open,
#endif
  };
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(4);
    ::raise(SIGSTOP);
    try {
      work();
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return Traced::refused;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  for (int seen = 0;;) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    if (::waitpid(child, &status, 0) != child) return Traced::refused;
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? Traced::ended : Traced::failed;
    if (WIFSIGNALED(status)) return Traced::killed;
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    __ptrace_syscall_info info{};
    if (::ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), child,
                 reinterpret_cast<void*>(sizeof info), &info) <= 0)
      return Traced::refused;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    const bool opens =
        info.entry.nr == SYS_openat && (info.entry.args[2] & (O_CREAT | O_TRUNC)) == 0;
    if (!opens && writes.count(static_cast<long>(info.entry.nr)) != 0 && ++seen == n)
      ::kill(child, SIGKILL);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree_kills)

BOOST_AUTO_TEST_CASE(an_undo_that_is_killed_at_any_write_is_completed_by_the_next) {
  const bool all = std::getenv("SORTIE_TEST_ALL_WRITES") != nullptr;
  const auto work = [](const OwnBench& bench) {
    put(bench.root / "a", "changed");
    ::chmod((bench.root / "script").c_str(), 0640);
    fs::remove(bench.root / "one");
    fs::remove(bench.root / "other");
    fs::remove_all(bench.root / "folder");
    put(bench.root / "folder", "now a file");
    fs::remove(bench.root / "link");
    put(bench.root / "link/below", "now a folder");
    put(bench.root / "made/x", "made");
    ::mkfifo((bench.root / "made/pipe").c_str(), 0600);
    fs::remove(bench.root / "pipe");
    fs::rename(bench.root / "src", bench.root / "made/lib");
    fs::rename(bench.root / ".env", bench.root / "env.txt");
    ::chmod((bench.root / "closed").c_str(), 0);
    ::chmod(bench.root.c_str(), 0);
  };
  for (int at = 1, step = 1; at < 10'000; at += step) {
    BOOST_TEST_CONTEXT("write " << at) {
      OwnBench bench;
      put(bench.root / "a", "start");
      put(bench.root / "script", "#!/bin/sh\n");
      ::chmod((bench.root / "script").c_str(), 0750);
      put(bench.root / "one", "two names");
      fs::create_hard_link(bench.root / "one", bench.root / "other");
      put(bench.root / "folder/deep/x", "x");
      fs::create_symlink("a", bench.root / "link");
      ::mkfifo((bench.root / "pipe").c_str(), 0640);
      put(bench.root / "closed/x", "x");
      put(bench.root / "src/deep/x", "x");
      put(bench.root / ".env", "ignored");
      put(bench.root / ".gitignore", ".*\n");  // also the names of unfinished files
      const std::string before = everything(bench.root);
      {
        const auto workspace = bench.open();
        next_tick(bench.folder.path());
        bench.run(*workspace, [&] { work(bench); });
      }
      next_tick(bench.folder.path());

      const Traced traced = kill_at_write(at, [&] { undo_own_tree(bench.options.state); });
      if (traced == Traced::refused) {
        BOOST_TEST_MESSAGE("processes can't be traced here");
        return;
      }
      BOOST_TEST((traced == Traced::ended || has_own_tree(bench.options.state) ||
                  undo_has_begun(bench.options.state) || everything(bench.root) != before));
      const UndoneTree undone = undo_own_tree(bench.options.state);

      BOOST_TEST(undone.failed.empty(), text_of(undone));
      BOOST_TEST(undone.left.empty(), text_of(undone));
      BOOST_TEST(everything(bench.root) == before);
      if (traced == Traced::ended) return;
      step = all ? 1 : 5;
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_put_aside_for_a_verification_comes_back_after_a_kill_at_any_write) {
  const bool all = std::getenv("SORTIE_TEST_ALL_WRITES") != nullptr;
  for (int at = 1, step = 1; at < 10'000; at += step) {
    BOOST_TEST_CONTEXT("write " << at) {
      OwnBench bench;
      bench.options.keeps_ignored = [](const std::string&) { return true; };
      put(bench.root / ".gitignore", "*.log\nbuild/\n");
      put(bench.root / "a", "start");
      put(bench.root / "b", "start");
      put(bench.root / "x.log", "start");
      put(bench.root / "build/out", "start");
      const auto times = [&](const fs::path& name) {
        return fs::last_write_time(bench.root / name).time_since_epoch().count();
      };
      {
        const auto workspace = bench.open();
        next_tick(bench.folder.path());
        bench.run(*workspace, [&] {
          put(bench.root / "a", "by the run");
          put(bench.root / "x.log", "by the run");
          fs::remove(bench.root / "build/out");
          put(bench.root / "build/new", "by the run");
          fs::create_symlink("a", bench.root / "link");
        });
      }
      next_tick(bench.folder.path());
      const std::string run = everything(bench.root);
      const auto written = times("a");

      const auto verify = [&] {
        const OwnTreeWorkspace workspace(bench.options, "");
        OwnTreeAside aside(workspace, {});
        if (read_file(bench.root / "x.log") != "start" ||
            read_file(bench.root / "build/out") != "start" || fs::exists(bench.root / "build/new"))
          ::_exit(3);
        put(bench.root / "b", "by the verification");
        put(bench.root / "build/made", "by the verification");
        aside.end();
      };
      const Traced traced = kill_at_write(at, verify);
      if (traced == Traced::refused) return;
      BOOST_REQUIRE(traced != Traced::failed);
      const auto workspace = bench.open();

      BOOST_TEST(everything(bench.root) == run);
      BOOST_TEST(times("a") == written);
      undo_own_tree(bench.options.state);
      BOOST_TEST(read_file(bench.root / "a") == "start");
      BOOST_TEST(read_file(bench.root / "x.log") == "by the run");
      BOOST_TEST(!fs::exists(bench.root / "build/made"));
      if (traced == Traced::ended) return;
      step = all ? 1 : 7;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

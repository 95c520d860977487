#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <iostream>
#include <set>

#include "core/base/error.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/own_tree_aside.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/undo_own_tree.h"
#include "core/workspace/work_times.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

// A run that works in the user's own tree (isolation none): what it changed, its diff, and putting
// the tree back.

using namespace sortie;
using test::Bench;
using test::next_tick;
using test::Tree;
namespace fs = std::filesystem;

namespace {

/// A bench whose workspace is the tree itself.
struct OwnBench : Bench {
  OwnBench() { options.isolation = Isolation::none; }

  std::unique_ptr<Workspace> open() const { return open_workspace(options); }
  /// What the run does, while it works.
  void run(Workspace& workspace, const std::function<void()>& work) const {
    const WorkTimeGuard guard(*workspace.work_times());
    work();
  }
  DiskFiles view() const {
    return DiskFiles(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }
  std::string diff(const Workspace& workspace) const {
    return make_diff(workspace, view(), root, {}).text;
  }
  void git(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"git", "-c", "user.name=a", "-c", "user.email=a@b"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto said = test::run_program(argv, root);
    BOOST_REQUIRE_MESSAGE(said.status == 0, said.output);
  }
  void commit_all() const {
    git({"init", "-q"});
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "one"});
  }
  std::size_t kept_copies() const {
    const auto kept = fs::directory_iterator(start_place(options.state).kept());
    return static_cast<std::size_t>(std::distance(begin(kept), end(kept)));
  }
};

std::vector<std::string> names_of(const std::vector<ChangedPath>& changes) {
  std::vector<std::string> names;
  for (const ChangedPath& one : changes) names.push_back(one.path);
  return names;
}

struct stat status_at(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

using Names = std::vector<std::string>;

/// All that a tree holds: kinds, modes, links, times of files, contents.
std::string everything(const fs::path& root) {
  return test::run_program({"sh", "-c",
                            "find . -path ./.git -prune -o -printf '%p %y %m %l\n' | sort; "
                            "find . -path ./.git -prune -o -type f -printf '%p %T@ %n\n' | sort; "
                            "find . -path ./.git -prune -o -type f -print | sort | xargs -r "
                            "sha256sum"},
                           root)
      .output;
}

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

void put(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  test::put_file(file, content);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree)

BOOST_AUTO_TEST_CASE(random_changes_are_found_put_back_and_their_diff_makes_them_again) {
  const char* count = std::getenv("SORTIE_TREES");
  const unsigned trees = count != nullptr ? static_cast<unsigned>(std::atoi(count)) : 30;
  for (unsigned seed = 0; seed < trees; ++seed) {
    BOOST_TEST_CONTEXT(seed) {
      OwnBench bench;
      test::RandomTrees random(5000 + seed);
      const Tree before = random.make(12);
      const Tree after = random.change(before, 10);
      test::become(bench.root, {}, before);
      if (seed % 3 != 0) bench.commit_all();
      if (seed % 3 == 2) put(bench.root / "dirty-before", "the user's work");
      const Tree start = test::read_tree(bench.root);
      const auto workspace = bench.open();
      next_tick(bench.folder.path());

      bench.run(*workspace, [&] { test::become(bench.root, before, after); });

      const Tree changed = test::read_tree(bench.root);
      const std::string text = bench.diff(*workspace);
      const UndoneTree undone = undo_own_tree(bench.options.state);
      BOOST_TEST(undone.left.empty());
      BOOST_TEST(undone.failed.empty(), text_of(undone));
      BOOST_TEST(test::difference(test::read_tree(bench.root), start) == "");
      put(bench.folder / "changes.diff", text);
      const auto said =
          test::run_program({"git", "apply", "--allow-empty", "../changes.diff"}, bench.root);
      BOOST_TEST(said.status == 0, said.output);
      BOOST_TEST(test::difference(test::read_tree(bench.root), changed) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_git_lacks_is_copied) {
  OwnBench bench;
  for (int i = 0; i < 50; ++i)
    put(bench.root / ("f" + std::to_string(i)), "text " + std::to_string(i));
  put(bench.root / ".gitignore", "*.log\nbuild/\n");
  bench.commit_all();
  next_tick(bench.folder.path());
  put(bench.root / "f1", "edited before the run");
  put(bench.root / "new", "not tracked");
  put(bench.root / "x.log", "ignored");
  put(bench.root / "build/big", "ignored");
  fs::last_write_time(bench.root / "f2", fs::file_time_type::clock::now());

  const auto workspace = bench.open();

  BOOST_TEST(bench.kept_copies() == 2);  // f1, new
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] {
    for (const char* name : {"f1", "f2", "new", "x.log", "build/big"})
      put(bench.root / name, "by the run");
    fs::remove(bench.root / "f3");
  });
  BOOST_TEST((names_of(workspace->changed_paths(bench.view())) ==
              Names{"build/big", "f1", "f2", "f3", "new", "x.log"}));
  const Files& start = workspace->start();
  BOOST_TEST(*start.read("f1") == "edited before the run");
  BOOST_TEST(*start.read("f2") == "text 2");
  BOOST_TEST(*start.read("f3") == "text 3");
  BOOST_TEST(*start.read("f4") == "text 4");
  BOOST_TEST(*start.read("new") == "not tracked");
  BOOST_TEST(!start.read("x.log"));  // nobody knows what it was
  BOOST_TEST(start.list("build").empty());

  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST((undone.put_back == Names{"f1", "f2", "f3", "new"}));
  BOOST_TEST(test::run_program({"git", "status", "--porcelain"}, bench.root).output ==
             " M f1\n?? new\n");
  BOOST_TEST(read_file(bench.root / "x.log") == "by the run");  // ignored files stay
}

BOOST_AUTO_TEST_CASE(links_modes_folders_and_times_are_put_back) {
  OwnBench bench;
  put(bench.root / "script", "#!/bin/sh\n");
  ::chmod((bench.root / "script").c_str(), 0750);
  put(bench.root / "one", "two names");
  fs::create_hard_link(bench.root / "one", bench.root / "other");
  put(bench.root / "closed/inner", "x");
  fs::create_directories(bench.root / "empty/below");
  fs::create_symlink("script", bench.root / "link");
  put(bench.root / "was-file", "y");
  put(bench.root / "was-folder/z", "z");
  const Tree before = test::read_tree(bench.root);
  const auto time = fs::last_write_time(bench.root / "script");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());

  bench.run(*workspace, [&] {
    put(bench.root / "script", "changed");
    ::chmod((bench.root / "script").c_str(), 0644);
    put(bench.root / "one", "changed");
    fs::remove(bench.root / "other");
    fs::remove_all(bench.root / "empty");
    fs::remove(bench.root / "link");
    fs::create_symlink("elsewhere", bench.root / "link");
    fs::remove(bench.root / "was-file");
    put(bench.root / "was-file/deep/er", "new");
    fs::remove_all(bench.root / "was-folder");
    put(bench.root / "was-folder", "new");
    fs::create_directories(bench.root / "made/folders");
    ::mkfifo((bench.root / "made/pipe").c_str(), 0600);
    ::chmod((bench.root / "closed").c_str(), 0);
  });
  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(test::difference(test::read_tree(bench.root), before) == "");
  BOOST_TEST((status_at(bench.root / "script").st_mode & 07777) == 0750);
  BOOST_TEST((status_at(bench.root / "closed").st_mode & 07777) == 0755);
  BOOST_CHECK(fs::last_write_time(bench.root / "script") == time);
  BOOST_TEST(fs::is_directory(bench.root / "empty/below"));
  BOOST_TEST(!fs::exists(fs::symlink_status(bench.root / "made")));
  BOOST_TEST(status_at(bench.root / "one").st_ino == status_at(bench.root / "other").st_ino);
  BOOST_TEST(!has_own_tree(bench.options.state));
  BOOST_TEST(text_of(undo_own_tree(bench.options.state)) == "");
}

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
    ::chmod((bench.root / "closed").c_str(), 0);
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

BOOST_AUTO_TEST_CASE(what_somebody_else_changed_while_the_run_did_not_work_is_left) {
  OwnBench bench;
  put(bench.root / "a", "start");
  put(bench.root / "b", "start");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] {
    put(bench.root / "a", "by the run");
    put(bench.root / "b", "by the run");
    put(bench.root / "made/c", "by the run");
  });
  next_tick(bench.folder.path());
  put(bench.root / "b", "by the user");
  put(bench.root / "made/d", "by the user");
  put(bench.root / "e", "by the user");

  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST((undone.put_back == Names{"a", "made/c"}));
  BOOST_TEST((undone.left == Names{"b", "e", "made/d"}));
  BOOST_TEST(read_file(bench.root / "a") == "start");
  BOOST_TEST(read_file(bench.root / "b") == "by the user");
  BOOST_TEST(read_file(bench.root / "made/d") == "by the user");
  BOOST_TEST(!fs::exists(bench.root / "made/c"));
}

BOOST_AUTO_TEST_CASE(files_whose_bytes_git_converts_are_put_back_byte_for_byte) {
  const struct {
    const char* name;
    const char* attributes;
    Names config;
    std::string content;
  } rows[] = {
      {"crlf by attribute", "*.txt text eol=crlf\n", {}, "one\r\ntwo\r\n"},
      {"crlf by setting", "", {"core.autocrlf", "true"}, "one\r\ntwo\r\n"},
      {"ident", "*.txt ident\n", {}, "$Id: whatever $\n"},
      {"a filter of the same size", "*.txt filter=f\n", {"filter.f.clean", "tr a-z b-za"}, "abc\n"},
      {"another encoding",
       "*.txt working-tree-encoding=UTF-16LE\n",
       {},
       std::string("a\0b\0\n\0", 6)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OwnBench bench;
      bench.git({"init", "-q"});
      if (!row.config.empty()) bench.git({"config", row.config[0], row.config[1]});
      put(bench.root / ".gitattributes", row.attributes);
      put(bench.root / "a.txt", row.content);
      next_tick(bench.folder.path());
      bench.commit_all();
      next_tick(bench.folder.path());
      const auto workspace = bench.open();

      bench.run(*workspace, [&] { put(bench.root / "a.txt", "changed"); });

      BOOST_TEST(*workspace->start().read("a.txt") == row.content);
      undo_own_tree(bench.options.state);
      BOOST_TEST(read_file(bench.root / "a.txt") == row.content);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_full_of_traps_runs_nothing_and_its_git_folder_stays_as_it_is) {
  OwnBench bench;
  const std::string trap = "touch " + (bench.folder / "ran").string() + "; cat";
  put(bench.root / ".gitattributes", "* filter=trap diff=trap merge=trap text=auto\n");
  put(bench.root / "a", "text");
  bench.commit_all();
  for (const char* key : {"filter.trap.clean", "filter.trap.smudge", "filter.trap.process",
                          "diff.trap.textconv", "diff.trap.command", "diff.external",
                          "core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand"})
    bench.git({"config", key, trap});
  for (const char* hook : {"post-index-change", "pre-commit", "post-checkout"}) {
    put(bench.root / ".git/hooks" / hook, "#!/bin/sh\n" + trap + "\n");
    ::chmod((bench.root / ".git/hooks" / hook).c_str(), 0755);
  }
  fs::remove(bench.folder / "ran");
  const auto digest = [&] {
    return test::run_program({"sh", "-c",
                              "find .git -type f | sort | xargs sha256sum; find .git | "
                              "sort | xargs stat -c '%n %Y %i %a'"},
                             bench.root)
        .output;
  };
  const std::string git_before = digest();
  const auto workspace = bench.open();
  next_tick(bench.folder.path());

  bench.run(*workspace, [&] {
    put(bench.root / "a", "changed");
    put(bench.root / ".gitattributes", "* filter=other\n");
    put(bench.root / ".gitignore", "*\n");
    put(bench.root / "new", "new");
  });
  bench.diff(*workspace);
  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST((undone.put_back == Names{".gitattributes", ".gitignore", "a", "new"}));
  BOOST_TEST(!fs::exists(bench.folder / "ran"));
  BOOST_TEST(digest() == git_before);
}

BOOST_AUTO_TEST_CASE(a_record_that_was_made_elsewhere_undoes_nothing) {
  OwnBench bench;
  put(bench.root / "a", "start");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] { put(bench.root / "a", "by the run"); });
  const fs::path copy = bench.folder / "planted";
  fs::copy(bench.options.state, copy, fs::copy_options::recursive);

  BOOST_CHECK_EXCEPTION(undo_own_tree(copy), Error, [](const Error& error) {
    return std::string(error.what()).find("was made in another folder") != std::string::npos;
  });

  BOOST_TEST(read_file(bench.root / "a") == "by the run");
}

BOOST_AUTO_TEST_CASE(more_than_may_be_copied_is_refused_with_the_ways_out) {
  OwnBench bench;
  bench.options.copy_limit = 10'000;
  put(bench.root / "big", std::string(20'000, 'x'));

  BOOST_CHECK_EXCEPTION(bench.open(), Error, [](const Error& error) {
    const std::string what = error.what();
    return error.code() == ExitCode::environment && what.find("big") != std::string::npos &&
           what.find("workspace.copy_limit") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(without_namespaces_it_needs_a_policy_that_protects_nothing) {
  OwnBench bench;
  bench.options.namespaces = false;

  BOOST_CHECK_EXCEPTION(bench.open(), Error, [](const Error& error) {
    return error.code() == ExitCode::environment &&
           std::string(error.what()).find("paths.protect: []") != std::string::npos;
  });
  bench.options.protects = false;
  BOOST_CHECK(bench.open()->mount_plan().kind == MountPlan::Kind::direct);
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_on_keeps_the_start_of_its_first_process) {
  OwnBench bench;
  put(bench.root / "a", "start");
  {
    const auto first = bench.open();
    next_tick(bench.folder.path());
    bench.run(*first, [&] { put(bench.root / "a", "by the run"); });
  }
  bench.options.isolation = Isolation::automatic;
  const auto second = bench.open();

  BOOST_CHECK(second->isolation() == Isolation::none);
  BOOST_TEST((names_of(second->changed_paths(bench.view())) == Names{"a"}));
  BOOST_TEST(*second->start().read("a") == "start");
}

BOOST_AUTO_TEST_SUITE_END()

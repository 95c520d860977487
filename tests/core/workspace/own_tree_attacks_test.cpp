// What a command can do to make putting back the user's own tree fail, or lose something.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <iostream>

#include "core/files/files.h"
#include "core/workspace/own_tree.h"
#include "core/workspace/undo_own_tree.h"
#include "tests/core/workspace/own_tree_bench.h"

using namespace sortie;
using test::everything;
using test::next_tick;
using test::OwnBench;
using test::put;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// What one run does in a tree, and then putting it back.
UndoneTree undo_of(
    OwnBench& bench, const std::function<void()>& work,
    const std::function<void()>& since = [] {}) {
  {
    const auto workspace = bench.open();
    next_tick(bench.folder.path());
    bench.run(*workspace, work);
  }
  next_tick(bench.folder.path());
  since();
  return undo_own_tree(bench.options.state);
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

void listen_at(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  BOOST_REQUIRE(path.native().size() < sizeof address.sun_path);
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  BOOST_REQUIRE(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree_attacks)

BOOST_AUTO_TEST_CASE(the_trees_own_folder_is_opened_again_and_gets_its_mode) {
  for (const unsigned mode : {0u, 0111u, 0444u, 0700u, 0777u}) {
    BOOST_TEST_CONTEXT(mode) {
      OwnBench bench;
      ::chmod(bench.root.c_str(), 0750);
      put(bench.root / "a", "start");
      put(bench.root / "d/b", "start");

      const UndoneTree undone = undo_of(bench, [&] {
        put(bench.root / "a", "by the run");
        put(bench.root / "new", "by the run");
        ::chmod((bench.root / "d").c_str(), 0);
        ::chmod(bench.root.c_str(), mode);
      });

      BOOST_TEST(undone.failed.empty(), text_of(undone));
      BOOST_TEST(mode_of(bench.root) == 0750u);
      BOOST_TEST(mode_of(bench.root / "d") == 0755u);
      BOOST_TEST(read_file(bench.root / "a") == "start");
      BOOST_TEST(!has_own_tree(bench.options.state));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_in_a_tree_that_it_has_closed) {
  OwnBench bench;
  put(bench.root / "a", "start");
  {
    const auto workspace = bench.open();
    next_tick(bench.folder.path());
    bench.run(*workspace, [&] {
      put(bench.root / "a", "by the run");
      ::chmod(bench.root.c_str(), 0);
    });
  }
  const auto workspace = bench.open();

  BOOST_TEST(bench.diff(*workspace).find("+by the run") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_ignored_file_that_was_only_moved_is_moved_back) {
  OwnBench bench;
  put(bench.root / ".gitignore", ".env\nbuild/\n");
  put(bench.root / ".env", "the user's secret");
  put(bench.root / "build/deep/object", "took an hour");
  put(bench.root / "build/other", "took a minute");
  put(bench.root / "a", "start");
  bench.commit_all();
  const std::string before = everything(bench.root);

  const UndoneTree undone = undo_of(bench, [&] {
    fs::rename(bench.root / ".env", bench.root / "env.txt");
    fs::create_directories(bench.root / "made/here");
    fs::rename(bench.root / "build", bench.root / "made/here/output");
    put(bench.root / "build", "a file now");
  });

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(everything(bench.root) == before);
}

BOOST_AUTO_TEST_CASE(a_folder_that_the_run_moved_is_moved_back_with_what_is_older_than_the_run) {
  const struct {
    const char* name;
    std::function<void(const fs::path&)> move;
  } rows[] = {
      {"to a new name", [](const fs::path& tree) { fs::rename(tree / "src", tree / "lib"); }},
      {"into a new folder",
       [](const fs::path& tree) {
         fs::create_directories(tree / "x/y");
         fs::rename(tree / "src", tree / "x/y/z");
       }},
      {"in place of another one",
       [](const fs::path& tree) {
         fs::rename(tree / "src", tree / "old");
         fs::rename(tree / "other", tree / "src");
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OwnBench bench;
      for (const char* name : {"src/a", "src/deep/b", "other/a", "other/deep/b"})
        put(bench.root / name, std::string("start of ") + name);
      const std::string before = everything(bench.root);
      std::vector<std::string> others;

      const UndoneTree undone = undo_of(
          bench, [&] { row.move(bench.root); },
          [&] { others = changed_by_others(bench.options.state, {}); });

      BOOST_TEST(others.empty());
      BOOST_TEST(undone.left.empty(), text_of(undone));
      BOOST_TEST(undone.failed.empty(), text_of(undone));
      BOOST_TEST(everything(bench.root) == before);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_folder_that_somebody_else_moved_stays_where_they_moved_it) {
  OwnBench bench;
  put(bench.root / "src/a", "start");
  put(bench.root / "b", "start");
  std::vector<std::string> others;

  const UndoneTree undone = undo_of(
      bench, [&] { put(bench.root / "b", "by the run"); },
      [&] {
        fs::rename(bench.root / "src", bench.root / "lib");
        others = changed_by_others(bench.options.state, {});
      });

  BOOST_TEST((others == Names{"lib/a", "src/a"}));
  BOOST_TEST((undone.left == Names{"lib/a"}), text_of(undone));
  BOOST_TEST(read_file(bench.root / "lib/a") == "start");
  BOOST_TEST(read_file(bench.root / "src/a") == "start");  // what they remove comes back
}

BOOST_AUTO_TEST_CASE(a_new_file_is_not_taken_for_an_ignored_one_that_is_gone) {
  OwnBench bench;
  put(bench.root / ".gitignore", "*.log\n");
  put(bench.root / "x.log", "of the user");

  const UndoneTree undone = undo_of(bench, [&] {
    fs::rename(bench.root / "x.log", bench.root / "new.txt");
    put(bench.root / "new.txt", "by the run");
  });

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(!fs::exists(bench.root / "new.txt"));
  BOOST_TEST(!fs::exists(bench.root / "x.log"));  // nobody knows what it was
}

BOOST_AUTO_TEST_CASE(what_is_neither_file_nor_link_is_removed_made_again_or_named) {
  OwnBench bench;
  listen_at(bench.root / "user.sock");
  ::mkfifo((bench.root / "user.pipe").c_str(), 0640);
  listen_at(bench.root / "quiet.sock");
  const bool devices =
      ::mknod((bench.root / "user.null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;

  const UndoneTree undone = undo_of(bench, [&] {
    for (const char* name : {"user.sock", "user.pipe", "user.null"}) fs::remove(bench.root / name);
    put(bench.root / "user.pipe", "now a file");
    listen_at(bench.root / "made.sock");
    ::mkfifo((bench.root / "made.pipe").c_str(), 0600);
    if (devices) ::mknod((bench.root / "made.zero").c_str(), S_IFCHR | 0600, makedev(1, 5));
    put(bench.root / "con", "a name that is a device elsewhere");
    put(bench.root / "-rf", "a name like a flag");
  });

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  Names wanted = {
      "user.sock, a socket that the run removed: the program that listened there makes "
      "it again"};
  if (devices)
    wanted.insert(wanted.begin(),
                  "user.null, a device that the run removed: make it again with mknod(1)");
  BOOST_TEST((undone.inexact == wanted), text_of(undone));
  BOOST_TEST(text_of(undone).find("not wholly as before: ") != std::string::npos);
  for (const char* name : {"made.sock", "made.pipe", "made.zero", "con", "-rf"})
    BOOST_TEST(!fs::exists(fs::symlink_status(bench.root / name)), name);
  BOOST_TEST(fs::is_fifo(bench.root / "user.pipe"));
  BOOST_TEST(mode_of(bench.root / "user.pipe") == 0640u);
  BOOST_TEST(fs::is_socket(bench.root / "quiet.sock"));
}

BOOST_AUTO_TEST_CASE(no_link_that_somebody_laid_where_a_folder_was_is_followed) {
  OwnBench bench;
  put(bench.root / "d/x", "start of d");
  put(bench.root / "other/x", "of the user");
  const auto remove_and_link = [&] {
    undo_of(
        bench, [&] { fs::remove_all(bench.root / "d"); },
        [&] { fs::create_symlink("other", bench.root / "d"); });
  };

  remove_and_link();

  BOOST_TEST(read_file(bench.root / "other/x") == "of the user");
  BOOST_TEST(fs::is_symlink(bench.root / "d"));
  BOOST_TEST(has_own_tree(bench.options.state));
  fs::remove(bench.root / "d");
  const UndoneTree undone = undo_own_tree(bench.options.state);
  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(read_file(bench.root / "d/x") == "start of d");
}

BOOST_AUTO_TEST_CASE(files_of_many_gigabytes_with_holes_cost_what_they_store) {
  OwnBench bench;
  const fs::path huge = bench.root / "huge";
  put(huge, "begin");
  if (::truncate(huge.c_str(), 1ll << 36) != 0) {
    BOOST_TEST_MESSAGE("no file of that size here");
    return;
  }
  const auto write_at = [&](off_t at, const std::string& text) {
    const Fd file(::open(huge.c_str(), O_WRONLY | O_CLOEXEC));
    BOOST_REQUIRE(::pwrite(file.get(), text.data(), text.size(), at) ==
                  static_cast<ssize_t>(text.size()));
  };
  write_at(33ll << 30, "of the user");
  put(bench.root / "touched", "begin");
  BOOST_REQUIRE(::truncate((bench.root / "touched").c_str(), 1ll << 36) == 0);
  const auto text_at = [&](const char* name, off_t at) {
    const Fd file(::open((bench.root / name).c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(11, '\0');
    BOOST_REQUIRE(::pread(file.get(), text.data(), text.size(), at) == 11);
    return text;
  };

  const UndoneTree undone = undo_of(bench, [&] {
    write_at(33ll << 30, "by the run!");
    fs::last_write_time(bench.root / "touched", fs::file_time_type::clock::now());
    put(bench.root / "new", "x");
    BOOST_REQUIRE(::truncate((bench.root / "new").c_str(), 1ll << 37) == 0);
  });

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST((undone.put_back == Names{"huge", "new"}), text_of(undone));
  BOOST_TEST(text_at("huge", 33ll << 30) == "of the user");
  BOOST_TEST(text_at("touched", 0) == std::string("begin") + std::string(6, '\0'));
  BOOST_TEST(fs::file_size(huge) == 1ull << 36);
}

BOOST_AUTO_TEST_CASE(hard_links_and_held_files_of_the_run_do_not_reach_what_was_put_back) {
  OwnBench bench;
  put(bench.root / "a", "start");
  put(bench.root / "b", "start");
  const std::string before = everything(bench.root);
  Fd held;

  const UndoneTree undone = undo_of(bench, [&] {
    fs::create_hard_link(bench.root / "a", bench.root / "another name");
    put(bench.root / "another name", "by the run");
    put(bench.root / "b", "by the run");
    held = Fd(::open((bench.root / "b").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  });
  BOOST_TEST(write_all(held.get(), "later"));

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(everything(bench.root) == before);
}

BOOST_AUTO_TEST_CASE(files_of_the_user_with_the_names_of_unfinished_ones_stay) {
  OwnBench bench;
  put(bench.root / "a", "start");
  const std::string name = ".sortie-undo-" + std::to_string(::getpid());
  put(bench.root / name, "of the user");
  put(bench.root / ".sortie-undo-1", "of the user");
  const std::string before = everything(bench.root);

  const UndoneTree undone = undo_of(bench, [&] {
    put(bench.root / "a", "by the run");
    put(bench.root / ".sortie-undo-1", "by the run");
    put(bench.root / ".sortie-undo-2", "by the run");
  });

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(everything(bench.root) == before);
}

BOOST_AUTO_TEST_CASE(repositories_in_the_tree_are_found_to_be_protected) {
  OwnBench bench;
  put(bench.root / ".gitignore", "vendor/\n");
  put(bench.root / "vendor/one/.git/config", "");
  put(bench.root / "module/.git", "gitdir: ../.git/modules/module\n");
  put(bench.root / "odd/.GIT/config", "");
  put(bench.root / "no/.gitignore", "");
  bench.git({"init", "-q"});
  const OwnTreeWorkspace workspace(bench.options, "");

  BOOST_TEST((workspace.nested_repositories() ==
              std::vector<fs::path>{bench.root / "module/.git", bench.root / "odd/.GIT",
                                    bench.root / "vendor/one/.git"}));
}

namespace {

/// Runs the work where the folder is a disk of this size, in a process of its own.
/// @return  false where nothing can be mounted
bool on_small_disk(const fs::path& folder, const char* size, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(9);
    const auto write = [](const char* file, const std::string& text) {
      const Fd open(::open(file, O_WRONLY | O_CLOEXEC));
      if (!open || !write_all(open.get(), text)) ::_exit(9);
    };
    write("/proc/self/setgroups", "deny");
    write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
    write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    if (::mount("small", folder.c_str(), "tmpfs", 0, size) != 0) ::_exit(9);
    try {
      work();
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) != 9) BOOST_TEST(WEXITSTATUS(status) == 0);
  return WEXITSTATUS(status) != 9;
}

/// For the process of its own, whose checks nobody counts.
void check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

void fill(const fs::path& file) {
  const Fd open(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string piece(4096, 'x');
  while (write_all(open.get(), piece)) {
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(on_a_full_disk_nothing_is_torn_and_the_rest_is_done_once_there_is_room) {
  for (const bool state_too : {false, true}) {
    BOOST_TEST_CONTEXT(state_too) {
      OwnBench bench;
      const fs::path disk = state_too ? bench.folder.path() : bench.root;
      const auto work = [&] {
        fs::create_directories(bench.root);
        fs::create_directories(bench.options.state.parent_path());
        const std::string was(300'000, 's');
        const std::string made(100, 'r');
        for (const char* name : {"a", "b", "c"}) put(bench.root / name, was);
        const std::string before = everything(bench.root);
        const fs::path filling = disk / "filling";
        const UndoneTree first = undo_of(
            bench,
            [&] {
              for (const char* name : {"a", "b"}) put(bench.root / name, made);
            },
            [&] { fill(filling); });
        check(!first.failed.empty() &&
                  first.failed.front().find("No space left") != std::string::npos,
              "not named: " + text_of(first));
        check(has_own_tree(bench.options.state), "it was given up");
        for (const char* name : {"a", "b"}) {
          const std::string now = read_file(bench.root / name);
          check(now == was || now == made, std::string("torn: ") + name);
        }
        check(read_file(bench.root / "c") == was, "c was changed");
        fs::remove(filling);
        const UndoneTree second = undo_own_tree(bench.options.state);
        check(second.failed.empty(), text_of(second));
        check(everything(bench.root) == before, "not as at the start");
        check(!has_own_tree(bench.options.state), "there is a rest");
      };
      if (!on_small_disk(disk, state_too ? "size=2M" : "size=1M", work))
        BOOST_TEST_MESSAGE("nothing can be mounted here");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

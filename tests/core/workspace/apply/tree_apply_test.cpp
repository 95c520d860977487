#include "core/workspace/apply/tree_apply.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/workspace/apply/recover_tree.h"
#include "core/workspace/diff/patch_text.h"
#include "tests/support/git_repository.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

constexpr unsigned kFile = 0100644;
constexpr unsigned kProgram = 0100755;
constexpr unsigned kLink = 0120000;

/// A real tree in a folder of its own.
class Tree {
 public:
  explicit Tree(const TouchedFiles& files) {
    for (const auto& [path, entry] : files) put(path, entry);
    root_ = Fd(::open(path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  fs::path path() const { return folder_.path(); }
  int root() const { return root_.get(); }
  void put(const std::string& name, const TreeEntry& entry) const {
    const fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    if (entry.mode == kLink) {
      fs::create_symlink(entry.content, file);
      return;
    }
    std::ofstream(file, std::ios::binary) << entry.content;
    ::chmod(file.c_str(), entry.mode == kProgram ? 0755 : 0644);
  }
  TouchedFiles entries() const {
    TouchedFiles found;
    for (const auto& one : fs::recursive_directory_iterator(path())) {
      const std::string name = one.path().lexically_relative(path()).string();
      if (fs::is_directory(one.symlink_status())) continue;
      found[name] = read_present(root(), name).entry;
    }
    return found;
  }
  bool has_folder(const std::string& name) const {
    return fs::is_directory(fs::symlink_status(folder_ / name));
  }
  PlannedChanges plan(const std::string& diff, const PlanOptions& options = {}) const {
    return plan_changes(
        read_patches(diff), [this](const std::string& name) { return read_present(root(), name); },
        options);
  }
  void apply(const std::string& diff) const {
    const PlannedChanges planned = plan(diff);
    if (!planned.conflicts.empty())
      throw Error("conflict: " + planned.conflicts.front(), ExitCode::conflict);
    TreeApply apply(root(), planned.changes);
    apply.perform();
    apply.settle();
  }

 private:
  TemporaryFolder folder_;
  Fd root_;
};

std::string diff_of(const TouchedFiles& before, const TouchedFiles& after) {
  return make_patch(before, after, 3, true).text;
}

std::string lines(int count, const std::string& word = "line") {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + " " + std::to_string(i) + "\n";
  return text;
}

const std::string kBytes("\0\1\2binary\xff\xfe", 11);

/// Everything that a diff can say.
const TouchedFiles kBefore = {
    {"a.txt", {kFile, lines(30)}},
    {"deep/er/only.txt", {kFile, "only\n"}},
    {"empty", {kFile, ""}},
    {"image", {kFile, kBytes}},
    {"link", {kLink, "a.txt"}},
    {"moved/from.txt", {kFile, lines(40, "moved")}},
    {"odd \"name\"\n\xc3\xa4 \xff", {kFile, "odd\n"}},
    {"script", {kFile, "#!/bin/sh\n"}},
    {"stays/a", {kFile, "a"}},
    {"to_folder", {kFile, "file\n"}},
    {"to_file/x", {kFile, "x\n"}},
    {"to_link", {kFile, "file\n"}},
};
const TouchedFiles kAfter = {
    {"a.txt", {kFile, lines(30) + "no newline"}},
    {"image", {kFile, kBytes + kBytes}},
    {"link", {kLink, "elsewhere"}},
    {"moved/to.txt", {kFile, lines(40, "moved")}},
    {"new/folder/file", {kProgram, "#!/bin/sh\r\n"}},
    {"odd \"name\"\n\xc3\xa4 \xff", {kFile, "odd\r\n\xff\xfe\n"}},
    {"script", {kProgram, "#!/bin/sh\n"}},
    {"stays/a", {kFile, "a"}},
    {"to_folder/y", {kFile, "y\n"}},
    {"to_file", {kFile, "file\n"}},
    {"to_link", {kLink, "a.txt"}},
};

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

BOOST_AUTO_TEST_SUITE(tree_apply)

BOOST_AUTO_TEST_CASE(a_diff_with_every_kind_of_change_makes_exactly_the_tree_that_it_says) {
  const Tree tree(kBefore);

  tree.apply(diff_of(kBefore, kAfter));

  BOOST_TEST((tree.entries() == kAfter));
  BOOST_TEST(!tree.has_folder("deep"));
  BOOST_TEST(!tree.has_folder(kApplyFolder));
  tree.apply(diff_of(kAfter, kBefore));
  BOOST_TEST((tree.entries() == kBefore));
  BOOST_TEST(!tree.has_folder("new"));
}

BOOST_AUTO_TEST_CASE(changes_that_are_there_already_are_no_conflict_and_nothing_is_written) {
  const TouchedFiles before = {{"a", {kFile, "1\n"}}, {"b", {kFile, "b\n"}}};
  const TouchedFiles after = {{"a", {kFile, "2\n"}}, {"c", {kFile, "c\n"}}};
  const Tree tree(after);

  const PlannedChanges planned = tree.plan(diff_of(before, after));

  BOOST_TEST(planned.conflicts.empty());
  BOOST_TEST(planned.changes.empty());
}

BOOST_AUTO_TEST_CASE(a_touched_path_that_changed_meanwhile_is_a_conflict) {
  const struct {
    const char* name;
    const char* path;
    TreeEntry entry;
    const char* conflict;
  } rows[] = {
      {"content", "a.txt", {kFile, "mine\n"}, "a.txt: has another content now"},
      {"mode", "a.txt", {kProgram, lines(30)}, "a.txt: has another mode now"},
      {"kind", "a.txt", {kLink, "b"}, "a.txt: has another mode now"},
      {"a new file is there",
       "new/folder/file",
       {kFile, "mine"},
       "new/folder/file: is there already"},
      {"a file in a new folder's place",
       "new",
       {kFile, "mine"},
       "new/folder/file: needs a folder in the place of the file new"},
      {"a link in a folder's place", "new", {kLink, "/tmp"}, "new/folder/file: is behind a link"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Tree tree(kBefore);
      fs::remove(tree.path() / row.path);
      tree.put(row.path, row.entry);
      const auto before = read_tree(tree.path());

      const PlannedChanges planned = tree.plan(diff_of(kBefore, kAfter));

      BOOST_REQUIRE(!planned.conflicts.empty());
      BOOST_TEST(planned.conflicts.front() == row.conflict);
      BOOST_TEST((read_tree(tree.path()) == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_moved_file_is_compared_where_its_id_is_known) {
  const TouchedFiles before = {{"a", {kFile, lines(20)}}};
  const TouchedFiles after = {{"b", {kFile, lines(20)}}};
  const std::string diff = diff_of(before, after);
  const Tree tree({{"a", {kFile, "mine\n"}}});

  BOOST_TEST(tree.plan(diff).conflicts.empty());
  BOOST_TEST(
      tree.plan(diff, {.moved_ids = {{"a", id_text(blob_id(lines(20)))}}}).conflicts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(lines_that_changed_elsewhere_are_merged_and_the_same_ones_are_not) {
  const TouchedFiles before = {{"a", {kFile, lines(30)}}, {"image", {kFile, kBytes}}};
  const TouchedFiles after = {{"a", {kProgram, lines(30) + "end\n"}}, {"image", {kFile, "x\n"}}};
  const std::string diff = diff_of(before, after);
  const PlanOptions three_way{.base = [](const std::string& id) {
    return id == id_text(blob_id(lines(30))) ? std::optional(lines(30)) : std::nullopt;
  }};
  const Tree tree({{"a", {kFile, "begin\n" + lines(30)}}, {"image", {kFile, kBytes}}});

  const PlannedChanges merged = tree.plan(diff, three_way);

  BOOST_TEST(merged.conflicts.empty());
  BOOST_REQUIRE(merged.changes.size() == 2u);
  BOOST_TEST((merged.changes[0].after ==
              std::optional(TreeEntry{kProgram, "begin\n" + lines(30) + "end\n"})));
  const Tree same({{"a", {kFile, lines(30) + "my end\n"}}, {"image", {kFile, kBytes}}});
  BOOST_TEST(same.plan(diff, three_way).conflicts.size() == 1u);
  const Tree unknown({{"a", {kFile, lines(30)}}, {"image", {kFile, "\1\2"}}});
  BOOST_TEST(unknown.plan(diff, three_way).conflicts.size() == 1u);
  const Tree gone({{"image", {kFile, kBytes}}});
  BOOST_TEST(gone.plan(diff, three_way).conflicts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(permissions_stay_and_only_the_executable_bits_follow_the_diff) {
  const TouchedFiles before = {{"a", {kFile, "1\n"}}, {"b", {kProgram, "1\n"}}};
  const TouchedFiles after = {{"a", {kProgram, "2\n"}}, {"b", {kProgram, "2\n"}}};
  const Tree tree(before);
  ::chmod((tree.path() / "a").c_str(), 0640);
  ::chmod((tree.path() / "b").c_str(), 0700);

  tree.apply(diff_of(before, after));

  struct stat status {};
  ::stat((tree.path() / "a").c_str(), &status);
  BOOST_TEST((status.st_mode & 07777) == 0750u);
  ::stat((tree.path() / "b").c_str(), &status);
  BOOST_TEST((status.st_mode & 07777) == 0700u);
}

BOOST_AUTO_TEST_CASE(root_gives_new_files_to_the_owner_of_their_folder) {
  if (::geteuid() != 0) return;
  const Tree tree({{"a/x", {kFile, "1\n"}}});
  give_to(tree.path(), 12345);

  tree.apply(diff_of({{"a/x", {kFile, "1\n"}}},
                     {{"a/x", {kFile, "2\n"}}, {"a/new/y", {kFile, "y"}}, {"l", {kLink, "a"}}}));

  for (const char* name : {"a/x", "a/new", "a/new/y", "l"}) {
    struct stat status {};
    ::lstat((tree.path() / name).c_str(), &status);
    BOOST_TEST(status.st_uid == 12345u, name);
  }
}

BOOST_AUTO_TEST_CASE(what_comes_between_planning_and_writing_is_a_conflict_and_nothing_changes) {
  const Tree tree(kBefore);
  const PlannedChanges planned = tree.plan(diff_of(kBefore, kAfter));
  fs::remove(tree.path() / "image");
  tree.put("image", {kFile, "mine\n"});
  const auto before = read_tree(tree.path());

  BOOST_CHECK_EXCEPTION(TreeApply(tree.root(), planned.changes), Error,
                        [](const Error& error) { return error.code() == ExitCode::conflict; });

  BOOST_TEST((read_tree(tree.path()) == before));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_empty_is_not_replaced_and_all_is_undone) {
  const TouchedFiles before = {{"d/x", {kFile, "x\n"}}, {"a", {kFile, "a\n"}}};
  const TouchedFiles after = {{"d", {kFile, "d\n"}}, {"a", {kFile, "b\n"}}};
  const Tree tree(before);
  tree.put("d/untracked", {kFile, "mine\n"});
  const auto was = read_tree(tree.path());

  BOOST_CHECK_EXCEPTION(tree.apply(diff_of(before, after)), Error,
                        [](const Error& error) { return error.code() == ExitCode::conflict; });

  BOOST_TEST((read_tree(tree.path()) == was));
}

BOOST_AUTO_TEST_CASE(changes_that_were_not_settled_are_undone) {
  const Tree tree(kBefore);
  const auto before = read_tree(tree.path());
  {
    TreeApply apply(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);
    apply.perform();
    BOOST_TEST((read_tree(tree.path()) != before));
  }
  BOOST_TEST((read_tree(tree.path()) == before));
}

BOOST_AUTO_TEST_CASE(another_process_at_work_in_the_tree_is_named_busy) {
  const Tree tree(kBefore);
  const TreeApply first(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);

  BOOST_CHECK_EXCEPTION(recover_tree(tree.path()), Error,
                        [](const Error& error) { return error.code() == ExitCode::busy; });
}

BOOST_AUTO_TEST_CASE(a_folder_of_that_name_which_a_repository_brought_is_left_alone) {
  const Tree tree(kBefore);
  // A real one, as an archive or a checkout would bring it along.
  const Tree elsewhere(kBefore);
  TreeApply apply(elsewhere.root(), elsewhere.plan(diff_of(kBefore, kAfter)).changes);
  apply.perform();
  fs::copy(elsewhere.path() / kApplyFolder, tree.path() / kApplyFolder,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const auto before = read_tree(tree.path());

  BOOST_TEST((recover_tree(tree.path()).what == Recovery::What::nothing));

  BOOST_TEST((read_tree(tree.path()) == before));
  BOOST_CHECK_EXCEPTION(tree.apply(diff_of(kBefore, kAfter)), Error,
                        [](const Error& error) { return error.code() == ExitCode::environment; });
}

BOOST_AUTO_TEST_CASE(a_file_that_was_edited_after_the_kill_is_not_lost) {
  const Tree tree(kBefore);
  const pid_t child = ::fork();
  if (child == 0) {
    TreeApply apply(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);
    apply.perform();
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  std::ofstream(tree.path() / "a.txt", std::ios::app) << "edited\n";

  BOOST_CHECK_EXCEPTION(recover_tree(tree.path()), Error, [](const Error& error) {
    return error.code() == ExitCode::conflict &&
           std::string(error.what()).find("a.txt: somebody has changed it since") !=
               std::string::npos;
  });
  BOOST_TEST(read_file(tree.path() / "a.txt").ends_with("edited\n"));
  BOOST_TEST((tree.entries().at("image") == kBefore.at("image")));
}

BOOST_AUTO_TEST_CASE(a_killed_application_is_rolled_back_or_complete_at_the_next_start) {
  const char* wanted = std::getenv("SORTIE_APPLY_KILLS");
  const int kills = wanted == nullptr ? 20 : std::atoi(wanted);
  const std::string diff = diff_of(kBefore, kAfter);
  const std::string back = diff_of(kAfter, kBefore);
  const Tree tree(kBefore);
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
  const Tree tree(kBefore);
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
  const Tree tree(kBefore);
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

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <thread>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

namespace {

/// What lies below a folder: kind, mode, inode, links and content of each entry.
std::map<std::string, std::string> snapshot(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    struct stat status {};
    BOOST_REQUIRE(::lstat(entry.path().c_str(), &status) == 0);
    std::string text = std::to_string(status.st_mode) + " " + std::to_string(status.st_ino) + " " +
                       std::to_string(status.st_nlink) + " ";
    if (entry.is_symlink())
      text += fs::read_symlink(entry.path()).native();
    else if (entry.is_regular_file())
      text += read_file(entry.path());
    else
      text = "folder";
    tree[entry.path().lexically_relative(root)] = text;
  }
  return tree;
}

/// a, two (hard link of a), d/b, link → a, way (a file), z
void fill(const fs::path& root) {
  fs::create_directories(root / "d");
  write_file(root / "a", "old a", 0755);
  fs::create_hard_link(root / "a", root / "two");
  write_file(root / "d/b", "old b", 0640);
  fs::create_symlink("a", root / "link");
  write_file(root / "way", "in the way");
  write_file(root / "z", "old z", 0600);
}

/// What is done to that tree: each kind of step, and z last of what is written.
std::vector<Replacement> replacements() {
  return {{.path = "way"},
          {.path = "a", .content = "new a", .mode = 04755},
          {.path = "d/b", .content = "new b", .mode = 0640},
          {.path = "n/e/w", .content = "new w"},
          {.path = "way/x", .content = "new x"},
          {.path = "z", .content = "new z", .mode = 0600},
          {.path = "link"}};
}

DiskFiles open(const fs::path& root) {
  return DiskFiles(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

/// Replaces all, which must fail with this cause, and expects the same tree afterwards: the same
/// files where `exact`, else files with the same content and mode.
void check_undone(const fs::path& root, const std::string& cause, bool exact = true,
                  const std::vector<Replacement>& what = replacements()) {
  auto before = snapshot(root);
  try {
    open(root).replace_all(what);
    BOOST_ERROR("not refused");
  } catch (const ToolError& error) {
    const std::string text = error.what();
    BOOST_TEST(text.find(cause) != std::string::npos, text);
    BOOST_TEST(text.ends_with("No file was changed."), text);
  }
  auto after = snapshot(root);
  if (!exact)
    for (auto* tree : {&before, &after})
      for (auto& [name, text] : *tree)
        if (text != "folder") text = text.substr(0, text.find(' ')) + text.substr(text.rfind(' '));
  BOOST_TEST((before == after));
}

/// Runs it in a thread that has its own mounts, rights and filters.
template <typename Act>
void in_own_thread(const Act& act) {
  std::thread thread([&] {
    const bool ready = ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (ready)
      act();
    else
      BOOST_TEST_MESSAGE("skipped: no mounts of one's own");
  });
  thread.join();
}

/// From here on renameat2(2) fails in this thread as on a file system that does not know it.
void refuse_exchange() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(rules), rules};
  BOOST_REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  BOOST_REQUIRE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/// A file that nobody can replace, as long as this lives. `set` is false where that can't be made.
class Immutable {
 public:
  explicit Immutable(const fs::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    set = change(true);
    if (!set) BOOST_TEST_MESSAGE("skipped: no immutable files here");
  }
  ~Immutable() { change(false); }
  bool set = false;

 private:
  bool change(bool on) const {
    int flags = 0;
    if (::ioctl(file_.get(), FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    return ::ioctl(file_.get(), FS_IOC_SETFLAGS, &flags) == 0;
  }
  Fd file_;
};

void check_replaced(const fs::path& root) {
  open(root).replace_all(replacements());

  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (!entry.is_directory())
      contents[entry.path().lexically_relative(root)] = read_file(entry.path());
  BOOST_TEST((contents == std::map<std::string, std::string>{{"a", "new a"},
                                                             {"d/b", "new b"},
                                                             {"n/e/w", "new w"},
                                                             {"two", "old a"},
                                                             {"way/x", "new x"},
                                                             {"z", "new z"}}));
  BOOST_TEST(open(root).status("a")->mode == 04755u);
  BOOST_TEST(open(root).status("d/b")->mode == 0640u);
  BOOST_TEST(open(root).status("n/e/w")->mode == 0644u);
  BOOST_TEST(open(root).status("two")->links == 1u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(disk_replacement)

BOOST_AUTO_TEST_CASE(all_is_written_and_removed_and_nothing_is_left_beside_it) {
  test::TemporaryFolder folder;
  fill(folder.path());
  check_replaced(folder.path());
}

BOOST_AUTO_TEST_CASE(a_file_system_that_cannot_exchange_names_takes_it_too) {
  test::TemporaryFolder folder;
  fill(folder.path());
  in_own_thread([&] {
    refuse_exchange();
    check_replaced(folder.path());
  });
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_replaced_leaves_the_very_files_before_it) {
  for (const char* path : {"a", "d/b", "z", "way"}) {
    BOOST_TEST_CONTEXT(path) {
      test::TemporaryFolder folder;
      fill(folder.path());
      const Immutable locked(folder / path);
      if (locked.set) check_undone(folder.path(), std::string(path) + ": no permission");
    }
  }
}

BOOST_AUTO_TEST_CASE(contents_come_back_where_names_cannot_be_exchanged) {
  test::TemporaryFolder folder;
  fill(folder.path());
  in_own_thread([&] {
    refuse_exchange();
    const Immutable locked(folder / "z");
    if (locked.set) check_undone(folder.path(), "z: no permission", false);
  });
}

BOOST_AUTO_TEST_CASE(a_full_disk_changes_nothing) {
  test::TemporaryFolder folder;
  in_own_thread([&] {
    const char* options = "size=96k,mode=0755";
    if (::mount("none", folder.path().c_str(), "tmpfs", 0, options) != 0) {
      BOOST_TEST_MESSAGE("skipped: no tmpfs");
      return;
    }
    fill(folder.path());
    const std::string large(60'000, 'x');
    check_undone(folder.path(), "Failed to write file z: No space left on device", true,
                 {{.path = "a", .content = large},
                  {.path = "new/n", .content = "n"},
                  {.path = "z", .content = large},
                  {.path = "link"}});
    ::umount2(folder.path().c_str(), MNT_DETACH);
  });
}

BOOST_AUTO_TEST_CASE(a_folder_that_can_only_be_read_changes_nothing) {
  test::TemporaryFolder folder;
  fill(folder.path());
  in_own_thread([&] {
    const std::string part = folder / "d";
    BOOST_REQUIRE(::mount(part.c_str(), part.c_str(), nullptr, MS_BIND, nullptr) == 0);
    const auto flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
    BOOST_REQUIRE(::mount(nullptr, part.c_str(), nullptr, flags, nullptr) == 0);
    check_undone(folder.path(), "d/b: is protected: it can be read, not changed");
    check_undone(folder.path(), "d/b: is protected", true,
                 {{.path = "a", .content = "new"}, {.path = "link"}, {.path = "d/b"}});
  });
}

BOOST_AUTO_TEST_CASE(another_user_changes_nothing_where_one_folder_is_not_theirs) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: needs root");
    return;
  }
  test::TemporaryFolder folder;
  fill(folder.path());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    BOOST_REQUIRE(::lchown(entry.path().c_str(), 1000, 1000) == 0);
  BOOST_REQUIRE(::chown(folder.path().c_str(), 1000, 1000) == 0);
  BOOST_REQUIRE(::chown((folder / "d").c_str(), 0, 0) == 0);
  in_own_thread([&] {
    BOOST_REQUIRE(::syscall(SYS_setresuid, 1000, 1000, 1000) == 0);
    check_undone(folder.path(), "d/b: no permission");
    check_undone(folder.path(), "d/b: no permission", true,
                 {{.path = "a", .content = "new"}, {.path = "link"}, {.path = "d/b"}});
  });
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_refused_before_anything_appears) {
  test::TemporaryFolder folder;
  fill(folder.path());
  const std::vector<std::pair<Replacement, const char*>> rows = {
      {{.path = "d", .content = "x"}, "Failed to write file d: is a folder"},
      {{.path = "d"}, "Failed to delete file d: is a folder"},
      {{.path = "none"}, "Failed to delete file none: no such file"},
      {{.path = "two/x", .content = "x"}, "a part of the path is a file, not a folder"},
      {{.path = "../x", .content = "x"}, "leads outside the workspace"},
  };
  for (const auto& [what, cause] : rows)
    check_undone(folder.path(), cause, true, {{.path = "a", .content = "new"}, what});
}

BOOST_AUTO_TEST_CASE(one_of_many_files_that_cannot_be_exchanged_leaves_the_very_files_before_it) {
  test::TemporaryFolder folder;
  std::vector<Replacement> all;
  for (int i = 0; i < 400; ++i) {
    const fs::path path = fs::path("d" + std::to_string(i / 20)) / ("f" + std::to_string(i));
    fs::create_directories(folder / path.parent_path());
    write_file(folder / path, "old");
    all.push_back({.path = path, .content = "new"});
    if (i == 250) all.push_back({.path = path.parent_path() / "appears/f", .content = "new"});
  }
  for (const std::size_t at : {0, 199, 399}) {
    BOOST_TEST_CONTEXT("failing at " << at) {
      const std::string path = all[at].path.string();
      const Immutable locked(folder / path);
      if (locked.set) check_undone(folder.path(), path + ": no permission", true, all);
    }
  }
}

BOOST_AUTO_TEST_CASE(many_files_in_many_folders_are_all_replaced_or_none) {
  test::TemporaryFolder folder;
  std::vector<Replacement> all;
  for (int i = 0; i < 500; ++i) {
    const fs::path path = fs::path("d" + std::to_string(i / 20)) / ("f" + std::to_string(i));
    fs::create_directories(folder / path.parent_path());
    write_file(folder / path, "old");
    if (i % 3 == 0)
      all.push_back({.path = path});
    else
      all.push_back({.path = path, .content = "new", .mode = 0600});
    if (i % 7 == 0)
      all.push_back({.path = path.parent_path() / "n" / path.filename(), .content = "new"});
  }
  for (const std::size_t at : {std::size_t{3}, all.size() / 2, all.size() - 2}) {
    BOOST_TEST_CONTEXT("failing at " << at) {
      auto failing = all;
      failing.insert(failing.begin() + static_cast<std::ptrdiff_t>(at), {.path = "d1"});
      check_undone(folder.path(), "Failed to delete file d1: is a folder", true, failing);
      failing[at].content = "x";
      check_undone(folder.path(), "Failed to write file d1: is a folder", true, failing);
    }
  }

  open(folder.path()).replace_all(all);

  std::size_t left = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (!entry.is_directory()) {
      BOOST_TEST(read_file(entry.path()) == "new");
      ++left;
    }
  const auto written = [](const auto& what) { return what.content.has_value(); };
  BOOST_TEST(left == static_cast<std::size_t>(std::count_if(all.begin(), all.end(), written)));
}

BOOST_AUTO_TEST_SUITE_END()

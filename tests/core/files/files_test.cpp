#include "core/files/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

/// A tree with an outside: `tree/` is the root of the files, `secret` lies beside it.
struct Tree {
  test::TemporaryFolder folder;
  fs::path root = folder / "tree";
  DiskFiles files = open();

  DiskFiles open() {
    fs::create_directory(root);
    write_file(folder / "secret", "outside");
    return DiskFiles(Fd(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), root);
  }
  unsigned mode(const std::string& name) const { return files.status(name)->mode; }
};

auto says(const std::string& text) {
  return [text](const std::exception& error) {
    BOOST_TEST_MESSAGE(error.what());
    return std::string(error.what()).find(text) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back_with_its_mode) {
  Tree tree;
  const std::string odd_names[] = {"plain",
                                   "a/b/c/deep",
                                   "line\nbreak",
                                   "\xff\xfe bad utf-8",
                                   std::string(255, 'n'),
                                   "quote\"back\\slash"};

  for (const auto& name : odd_names) {
    tree.files.write(name, "first\r\n\0"s, 0755);
    tree.files.write(name, "second " + name, 0640);
  }

  for (const auto& name : odd_names) {
    BOOST_TEST((tree.files.read(name) == std::optional("second " + name)));
    BOOST_TEST(tree.mode(name) == 0640u);
  }
  BOOST_TEST(tree.files.list(".").size() == std::size(odd_names));  // no temporary file is left
}

BOOST_AUTO_TEST_CASE(absolute_links_that_lead_back_into_the_root_are_followed) {
  Tree tree;
  tree.files.write("a/b.txt", "inside", 0644);
  fs::create_symlink(tree.root / "a/b.txt", tree.root / "file");
  fs::create_directory_symlink(tree.root / "a", tree.root / "folder");
  fs::create_symlink("folder/b.txt", tree.root / "chain");
  fs::create_directory_symlink(tree.root, tree.root / "a/top");

  for (const char* path : {"file", "folder/b.txt", "chain", "a/top/file", "a/top/folder/b.txt"}) {
    BOOST_TEST_CONTEXT(path) {
      BOOST_TEST((tree.files.read(path) == std::optional<std::string>("inside")));
      BOOST_TEST(tree.files.resolve(path) == "a/b.txt");
      BOOST_TEST(tree.files.status(path).has_value());
    }
  }
  BOOST_TEST(tree.files.list("folder").size() == 2u);
  BOOST_TEST((tree.files.status("file")->kind == FileStatus::Kind::symlink));

  // The same text where commands see the tree at another place, or it is not known where.
  for (const fs::path& place : {fs::path(), fs::path("/elsewhere")}) {
    const DiskFiles other(Fd(::open(tree.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), place);
    BOOST_CHECK_EXCEPTION(other.read("file"), ToolError, says("leads outside"));
    BOOST_CHECK_EXCEPTION(other.resolve("chain"), ToolError, says("leads outside"));
  }
  // Past the end of the place's name, and back out of it.
  fs::create_symlink(tree.root.native() + "x/b.txt", tree.root / "beside");
  fs::create_symlink(tree.root / "../secret", tree.root / "out");
  for (const char* path : {"beside", "out"})
    BOOST_CHECK_EXCEPTION(tree.files.read(path), ToolError, says("leads outside"));
}

BOOST_AUTO_TEST_CASE(nothing_leads_out_of_the_root) {
  Tree tree;
  fs::create_symlink("../secret", tree.root / "up");
  fs::create_symlink(tree.folder / "secret", tree.root / "absolute");
  fs::create_directory_symlink("..", tree.root / "parent");
  fs::create_symlink("up", tree.root / "chain");
  fs::create_symlink("/proc/self/root", tree.root / "magic");

  for (const char* path : {"up", "absolute", "parent/secret", "chain", "../secret",
                           "magic/etc/passwd", "a/../../secret", "parent/tree/../secret"}) {
    BOOST_TEST_CONTEXT(path) {
      if (std::string_view(path) != "a/../../secret") {
        BOOST_CHECK_EXCEPTION(tree.files.read(path), ToolError, says("leads outside"));
      }
      BOOST_CHECK_EXCEPTION(tree.files.resolve(path), ToolError, says("leads outside"));
    }
  }
  BOOST_CHECK_EXCEPTION(tree.files.read((tree.folder / "secret").c_str()), ToolError,
                        says("is absolute"));
  BOOST_CHECK_THROW(tree.files.write("parent/new", "x", 0644), ToolError);
  BOOST_CHECK_THROW(tree.files.write("../new", "x", 0644), ToolError);
  BOOST_CHECK_THROW(tree.files.write("parent/x/y/new", "x", 0644), ToolError);
  BOOST_CHECK_THROW(tree.files.remove("parent/secret"), ToolError);
  BOOST_CHECK_THROW(tree.files.list("parent"), ToolError);
  BOOST_TEST(!fs::exists(tree.folder / "new"));
  BOOST_TEST(!fs::exists(tree.folder / "x"));
  BOOST_TEST(read_file(tree.folder / "secret") == "outside");
}

BOOST_AUTO_TEST_CASE(many_files_are_read_at_once_in_the_order_they_are_named_in) {
  Tree tree;
  std::vector<fs::path> paths;
  std::vector<std::optional<RegularFile>> expected;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "d" + std::to_string(i % 7) + "/f" + std::to_string(i);
    const unsigned mode = i % 2 == 0 ? 0644 : 0750;
    tree.files.write(name, std::string(static_cast<std::size_t>(i) * 40, 'x'), mode);
    paths.push_back(i % 5 == 0 ? name + "/" : name);
    expected.push_back(RegularFile{std::string(static_cast<std::size_t>(i) * 40, 'x'), mode});
  }
  fs::create_symlink("d0/f0", tree.root / "link");
  fs::create_symlink("../secret", tree.root / "up");
  fs::create_directory_symlink("..", tree.root / "parent");
  BOOST_REQUIRE(::mkfifo((tree.root / "pipe").c_str(), 0600) == 0);
  for (const char* none : {"d0", "none", "none/f", "d0/f0/f", "link", "up", "parent/secret", "pipe",
                           "../secret", "/etc/passwd", ".", ""}) {
    paths.insert(paths.begin() + 100, none);
    expected.insert(expected.begin() + 100, std::nullopt);
  }

  BOOST_TEST((tree.files.read_many(paths) == expected));
  BOOST_TEST((tree.files.Files::read_many(paths) == expected));  // one after the other
}

BOOST_AUTO_TEST_CASE(a_path_is_plain_where_making_it_normal_would_change_nothing) {
  for (const char* path : {"a", "a/b", "a.b/..c", "...", "a b/é"}) {
    BOOST_TEST(is_plain_path(path), path);
    BOOST_TEST(fs::path(path).lexically_normal().native() == path);
  }
  for (const char* path :
       {"", ".", "..", "/", "/a", "a/", "a//b", "./a", "../a", "a/.", "a/..", "a/./b", "a/../b"})
    BOOST_TEST(!is_plain_path(path), path);
}

BOOST_AUTO_TEST_CASE(a_written_link_is_replaced_and_its_target_kept) {
  Tree tree;
  tree.files.write("target", "kept", 0644);
  fs::create_symlink("target", tree.root / "link");

  tree.files.write("link", "own", 0644);

  BOOST_TEST((tree.files.read("link") == std::optional("own"s)));
  BOOST_TEST((tree.files.read("target") == std::optional("kept"s)));
  BOOST_TEST((tree.files.status("link")->kind == FileStatus::Kind::file));
}

BOOST_AUTO_TEST_CASE(resolve_follows_chains_inside_and_keeps_missing_tails) {
  Tree tree;
  fs::create_directories(tree.root / "a/b");
  fs::create_directory_symlink("a/b", tree.root / "one");
  fs::create_directory_symlink("one", tree.root / "two");
  fs::create_symlink("../../gone/file", tree.root / "a/b/dangling");
  fs::create_symlink("self", tree.root / "self");
  const struct {
    const char* path;
    const char* resolved;
  } rows[] = {
      {"two/x/y", "a/b/x/y"},     {"two/..", "a"},     {"two/dangling", "gone/file"},
      {"./a//b/", "a/b"},         {"", "."},           {"missing/../one", "a/b"},
      {"missing/x", "missing/x"}, {"a/../a/b", "a/b"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.path) { BOOST_TEST(tree.files.resolve(row.path) == row.resolved); }
  }
  BOOST_CHECK_EXCEPTION(tree.files.resolve("self"), ToolError, says("loop of links"));
  BOOST_CHECK_EXCEPTION(tree.files.read("self"), ToolError, says("loop of links"));
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_nothing_and_what_is_no_file_is_said) {
  Tree tree;
  fs::create_directory(tree.root / "folder");
  fs::create_symlink("nowhere", tree.root / "dangling");
  tree.files.write("file", "12345", 0644);
  BOOST_REQUIRE(::mkfifo((tree.root / "pipe").c_str(), 0644) == 0);

  BOOST_TEST(!tree.files.read("missing"));
  BOOST_TEST(!tree.files.read("file/below"));
  BOOST_TEST(!tree.files.read("dangling"));
  BOOST_TEST(!tree.files.status("missing"));
  BOOST_CHECK_EXCEPTION(tree.files.read("folder"), ToolError, says("folder: is a folder"));
  BOOST_CHECK_EXCEPTION(tree.files.read("pipe"), ToolError, says("pipe: is not a regular file"));
  BOOST_CHECK_EXCEPTION(tree.files.read("file", 4), ToolError, says("5 bytes of at most 4"));
  BOOST_CHECK_EXCEPTION(tree.files.list("gone"), ToolError, says("gone: no such folder"));
  BOOST_CHECK_EXCEPTION(tree.files.list("file"), ToolError, says("is not a folder"));
  BOOST_CHECK_EXCEPTION(tree.files.read_link("file"), ToolError, says("is not a link"));
  BOOST_CHECK_EXCEPTION(tree.files.remove("gone"), ToolError, says("gone: no such file"));
  BOOST_CHECK_EXCEPTION(tree.files.remove("folder"), ToolError, says("is a folder"));
  BOOST_CHECK_EXCEPTION(tree.files.write("folder", "", 0644), ToolError, says("is a folder"));
  BOOST_CHECK_EXCEPTION(tree.files.write("file/x", "", 0644), ToolError, says("is a file"));
  BOOST_TEST(tree.files.read_link("dangling") == "nowhere");
  const std::vector<FolderEntry> entries{{"dangling", FileStatus::Kind::symlink},
                                         {"file", FileStatus::Kind::file},
                                         {"folder", FileStatus::Kind::folder},
                                         {"pipe", FileStatus::Kind::other}};
  BOOST_TEST((tree.files.list("") == entries));
}

BOOST_AUTO_TEST_CASE(only_empty_folders_are_removed) {
  Tree tree;
  tree.files.write("full/file", "", 0644);
  BOOST_TEST(!tree.files.remove_empty_folder("full"));

  tree.files.remove("full/file");

  BOOST_TEST(tree.files.remove_empty_folder("full"));
  BOOST_TEST(!tree.files.status("full"));
}

BOOST_AUTO_TEST_CASE(no_race_of_links_leads_out) {
  Tree tree;
  fs::create_directory(tree.root / "real");
  write_file(tree.root / "real/secret", "inside");
  fs::create_directory_symlink("..", tree.root / "link");
  std::atomic<bool> done = false;
  std::thread racer([&] {
    const auto at = [&](const char* name) { return tree.root / name; };
    while (!done) {
      ::renameat2(AT_FDCWD, at("real").c_str(), AT_FDCWD, at("link").c_str(), RENAME_EXCHANGE);
    }
  });

  int inside = 0;
  int escaped = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      const auto content = tree.files.read("real/secret");
      inside += content == "inside";
      escaped += content == "outside";
      tree.files.write("real/new", "x", 0644);
    } catch (const ToolError&) {
    }
  }
  done = true;
  racer.join();

  BOOST_TEST(escaped == 0);
  BOOST_TEST(!fs::exists(tree.folder / "new"));
  BOOST_TEST_MESSAGE("read inside " << inside << " times");
}

BOOST_AUTO_TEST_CASE(what_root_writes_belongs_to_the_owner_of_the_tree) {
  if (::geteuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: needs root");
    return;
  }
  Tree tree;
  BOOST_REQUIRE(::chown(tree.root.c_str(), 1000, 1001) == 0);

  tree.files.write("new/folder/file", "x", 0644);

  for (const char* name : {"new", "new/folder", "new/folder/file"}) {
    struct stat status {};
    BOOST_REQUIRE(::stat((tree.root / name).c_str(), &status) == 0);
    BOOST_TEST(status.st_uid == 1000u);
    BOOST_TEST(status.st_gid == 1001u);
  }
}

BOOST_AUTO_TEST_CASE(an_atomic_file_appears_whole_or_not_at_all) {
  test::TemporaryFolder folder;
  write_file(folder / "file", "before");
  {
    AtomicFile file(folder / "file", 0600);
    file.write("half");
  }
  BOOST_TEST(read_file(folder / "file") == "before");
  BOOST_TEST(std::distance(fs::directory_iterator(folder.path()), {}) == 1);

  write_file(folder / "file", "after", 0600);

  BOOST_TEST(read_file(folder / "file") == "after");
  BOOST_TEST((fs::status(folder / "file").permissions() == fs::perms(0600)));
}

BOOST_AUTO_TEST_CASE(errors_of_files_name_the_path_and_the_cause) {
  test::TemporaryFolder folder;
  BOOST_CHECK_EXCEPTION(read_file(folder / "gone"), Error, [](const Error& error) {
    return says("/gone: No such file")(error) && error.code() == ExitCode::usage;
  });
  BOOST_CHECK_EXCEPTION(AtomicFile(folder / "no/where"), Error, says("/no/where: No such file"));
  BOOST_CHECK_EXCEPTION(AtomicFile{folder.path()}, Error, says("Is a directory"));
  write_file(folder / "large", std::string(100, 'x'));
  BOOST_CHECK_EXCEPTION(read_file(folder / "large", 99), Error, says("larger than 99 bytes"));
}

BOOST_AUTO_TEST_CASE(a_disk_that_takes_no_more_leaves_the_old_file) {
  test::TemporaryFolder folder;
  write_file(folder / "file", "before");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  ::setrlimit(RLIMIT_FSIZE, &small);

  BOOST_CHECK_EXCEPTION(write_file(folder / "file", std::string(5000, 'x')), Error,
                        [](const Error& error) { return error.code() == ExitCode::environment; });

  ::setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(read_file(folder / "file") == "before");
  BOOST_TEST(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/workspace/tree_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using namespace sortie;
using namespace sortie::test;

namespace {

struct stat status_of(const fs::path& path) {
  struct stat status {};
  BOOST_TEST_REQUIRE(::lstat(path.c_str(), &status) == 0, path);
  return status;
}

/// Sets another time for each path, as tools leave them.
void set_time(const fs::path& path, long seconds) {
  const timespec times[2] = {{seconds, 1}, {seconds, 7}};
  BOOST_TEST_REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

/// 40 folders in 4, each with 30 files, links and folders below it.
void make_tree(const fs::path& tree) {
  long seconds = 1'000'000'000;
  for (int i = 0; i < 40; ++i) {
    const fs::path folder = tree / ("g" + std::to_string(i % 4)) / ("d" + std::to_string(i));
    fs::create_directories(folder / "a/b/c");
    for (int file = 0; file < 30; ++file) {
      const fs::path path = folder / ("f" + std::to_string(file));
      write_file(path, path.native() + std::string(static_cast<std::size_t>(file) * 300, 'x'));
      ::chmod(path.c_str(), file % 2 == 0 ? 0640 : 0755);
      set_time(path, ++seconds);
    }
    fs::create_symlink("f1", folder / "link");
    write_file(folder / "a/b/c/deep", "deep\n");
    fs::create_directory(folder / "empty");
  }
  for (auto entry = fs::recursive_directory_iterator(tree); const auto& one : entry)
    if (one.is_directory() && !one.is_symlink()) {
      ::chmod(one.path().c_str(), seconds % 2 == 0 ? 0750 : 0500);
      set_time(one.path(), ++seconds);
    }
}

void open_all(const fs::path& tree) {
  std::error_code ignored;
  for (const auto& one : fs::recursive_directory_iterator(tree, ignored))
    if (one.is_directory() && !one.is_symlink()) ::chmod(one.path().c_str(), 0700);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_copy)

BOOST_AUTO_TEST_CASE(a_copy_by_several_threads_is_the_tree) {
  TemporaryFolder folder;
  const fs::path tree = folder / "tree";
  const fs::path copy = folder / "copy";
  make_tree(tree);
  set_time(tree, 1'234'567'890);

  const CopyManifest manifest = copy_tree(tree, copy, {"g3/d3", "g2/d2/f5"});

  std::size_t leaves = 0;
  for (const auto& one : fs::recursive_directory_iterator(tree)) {
    const std::string name = one.path().lexically_relative(tree).native();
    BOOST_TEST_CONTEXT(name) {
      const struct stat source = status_of(one.path());
      const bool left_out = name.starts_with("g3/d3/") || name == "g2/d2/f5";
      BOOST_TEST(manifest.files.count(name) == (left_out || S_ISDIR(source.st_mode) ? 0u : 1u));
      if (left_out) {
        BOOST_TEST(!fs::exists(fs::symlink_status(copy / name)));
        continue;
      }
      const struct stat made = status_of(copy / name);
      BOOST_TEST(made.st_mode == source.st_mode);
      BOOST_TEST(made.st_uid == source.st_uid);
      BOOST_TEST(made.st_mtim.tv_sec == source.st_mtim.tv_sec);
      BOOST_TEST(made.st_mtim.tv_nsec == source.st_mtim.tv_nsec);
      if (S_ISDIR(source.st_mode)) continue;
      ++leaves;
      const CopiedFile& record = manifest.files.at(name);
      BOOST_TEST((record.source == stamp_of(source)));
      BOOST_TEST((record.copy == stamp_of(made)));
      if (S_ISLNK(source.st_mode))
        BOOST_TEST(fs::read_symlink(copy / name) == fs::read_symlink(one.path()));
      else
        BOOST_TEST((read_file(copy / name) == read_file(one.path())));
    }
  }
  BOOST_TEST(leaves == manifest.files.size());
  BOOST_TEST(status_of(copy).st_mtim.tv_sec == 1'234'567'890);
  BOOST_TEST(fs::is_empty(copy / "g3/d3"));
  open_all(tree);
  open_all(copy);
}

BOOST_AUTO_TEST_CASE(what_is_hidden_is_left_out) {
  TemporaryFolder folder;
  make_tree(folder / "tree");

  const CopyManifest manifest = copy_tree(
      folder / "tree", folder / "copy", {},
      [](const std::string& path) { return path.ends_with("/f7") || path.ends_with("/a"); });

  BOOST_TEST(manifest.files.size() == 40u * 30);  // 29 files and a link in each
  BOOST_TEST(!fs::exists(folder / "copy/g0/d0/f7"));
  BOOST_TEST(!fs::exists(folder / "copy/g0/d0/a"));
  open_all(folder / "tree");
  open_all(folder / "copy");
}

BOOST_AUTO_TEST_CASE(holes_stay_holes) {
  TemporaryFolder folder;
  fs::create_directory(folder / "tree");
  write_file(folder / "tree/sparse", "begin");
  const std::size_t size = 8u << 20;
  BOOST_REQUIRE(::truncate((folder / "tree/sparse").c_str(), size) == 0);
  std::fstream(folder / "tree/sparse", std::ios::in | std::ios::out).seekp(5 << 20) << "middle";
  write_file(folder / "tree/whole", std::string(300'000, 'w'));

  copy_tree(folder / "tree", folder / "copy", {});

  BOOST_TEST((read_file(folder / "copy/sparse") == read_file(folder / "tree/sparse")));
  BOOST_TEST((read_file(folder / "copy/whole") == read_file(folder / "tree/whole")));
  BOOST_TEST(status_of(folder / "copy/sparse").st_blocks * 512 < 1 << 20);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_copied_ends_the_copy) {
  TemporaryFolder folder;
  make_tree(folder / "tree");
  open_all(folder / "tree");
  fs::path deep = folder / "tree/g1";
  for (int i = 0; i < 210; ++i) deep /= "d";
  fs::create_directories(deep);

  BOOST_CHECK_EXCEPTION(
      copy_tree(folder / "tree", folder / "copy", {}), Error, [](const Error& error) {
        return std::string(error.what()).find("nested too deeply") != std::string::npos;
      });
  open_all(folder / "copy");
}

BOOST_AUTO_TEST_SUITE_END()

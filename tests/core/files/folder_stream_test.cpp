#include "core/files/folder_stream.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(folder_stream)

BOOST_AUTO_TEST_CASE(entries_come_with_their_kind_and_without_dots) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / ".file") << "x";
  fs::create_directory(folder / "below");
  fs::create_symlink("below", folder / "link");
  const std::map<std::string, int> wanted = {
      {".file", DT_REG}, {"below", DT_DIR}, {"link", DT_LNK}};

  std::map<std::string, int> by_name;
  FolderStream named{fs::path(folder / "")};
  while (const dirent* entry = named.next()) by_name[entry->d_name] = named.kind(entry);
  BOOST_TEST(errno == 0);
  BOOST_TEST((by_name == wanted));

  std::map<std::string, int> by_descriptor;
  FolderStream opened(Fd(::open((folder / "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  while (const dirent* entry = opened.next()) by_descriptor[entry->d_name] = opened.kind(entry);
  BOOST_TEST((by_descriptor == wanted));
}

BOOST_AUTO_TEST_CASE(what_is_no_folder_is_not_open_and_has_no_entries) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";

  FolderStream file{fs::path(folder / "file")};
  BOOST_TEST(errno == ENOTDIR);
  BOOST_TEST(!file);
  BOOST_TEST(file.next() == nullptr);
  FolderStream none{Fd()};
  BOOST_TEST(!none);
  BOOST_TEST(none.next() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

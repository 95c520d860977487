#include "core/files/files.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(text_file)

BOOST_AUTO_TEST_CASE(a_text_is_read_whole_and_what_is_none_has_its_reason) {
  const test::TemporaryFolder folder;
  const auto put = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  put("good", "a\r\nb");
  put("large", std::string(101, 'x'));
  put("latin", "\xe9");
  put("binary", std::string("a\0b", 3));
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);

  BOOST_TEST(read_text_file(folder / "good", 100).text == "a\r\nb");
  const struct {
    const char* name;
    const char* problem;
  } rows[] = {
      {"good", ""},
      {"nothing", "no such file"},
      {"good/x", "no such file"},
      {".", "is a folder"},
      {"large", "is larger than 100 bytes"},
      {"latin", "is not UTF-8"},
      {"binary", "is binary (a NUL byte)"},
      {"pipe", "is not a regular file"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read_text_file(folder / row.name, 100).problem == row.problem);
    }
  BOOST_TEST(read_text_file("/dev/zero", 100).problem == "is not a regular file");
}

BOOST_AUTO_TEST_SUITE_END()

// The archive of checkpoints.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "core/files/files.h"
#include "core/workspace/checkpoint/tar.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(tar)

BOOST_AUTO_TEST_CASE(members_come_back_as_they_were_written_and_as_tar_reads_them) {
  const std::string deep(90, 'd');
  const struct {
    TarEntry entry;
    std::string content;
  } rows[] = {
      {{.name = "tree/a.txt", .mode = 0644, .mtime = 1'700'000'000'123'456'789, .size = 3}, "abc"},
      {{.name = "tree/empty", .mode = 0755, .mtime = 1'000'000'000}, ""},
      {{.name = "tree/" + deep + "/" + deep + "/\xe4 =\n.bin", .size = 512},
       std::string(512, '\0')},
      {{.name = "tree/link", .is_link = true, .mode = 0777, .target = "../" + deep + deep}, ""},
      {{.name = "checkpoint.json", .size = 2}, "{}"},
  };
  std::string archive;
  for (const auto& row : rows)
    archive += tar_header(row.entry) + row.content + tar_padding(row.entry.size);
  const std::size_t length = archive.size();
  archive += tar_end();

  TarReader reader(archive);
  for (const auto& row : rows) {
    const auto member = reader.next();
    BOOST_REQUIRE(member.has_value());
    BOOST_TEST((member->entry == row.entry), member->entry.name);
    BOOST_TEST(member->content == row.content);
  }
  BOOST_TEST(!reader.next().has_value());
  BOOST_TEST(reader.offset() == length);

  const TemporaryFolder folder;
  write_file(folder / "all.tar", archive);
  const std::string unpack = "cd '" + (folder / "").string() + "' && tar -xf all.tar";
  BOOST_REQUIRE(std::system(unpack.c_str()) == 0);
  for (const auto& row : rows) {
    if (row.entry.is_link)
      BOOST_TEST(std::filesystem::read_symlink(folder / row.entry.name) == row.entry.target);
    else
      BOOST_TEST(read_file(folder / row.entry.name) == row.content);
  }
}

BOOST_AUTO_TEST_CASE(a_torn_archive_ends_before_the_torn_member) {
  const std::string first = tar_header({.name = "a", .size = 1}) + "a" + tar_padding(1);
  const std::string all = first + tar_header({.name = "b", .size = 600}) + std::string(600, 'b') +
                          tar_padding(600) + tar_end();
  for (std::size_t size = 0; size < all.size(); size += 7) {
    TarReader reader(std::string_view(all).substr(0, size));
    int members = 0;
    while (reader.next()) ++members;
    BOOST_TEST(members <= 2);
    if (size < first.size() - 511) BOOST_TEST(members == 0);
    if (size < first.size() + 1536 + 600) BOOST_TEST(members <= 1);
  }
  std::string other = all;
  other[1024] ^= 1;  // the header behind that of pax
  TarReader reader(other);
  BOOST_TEST(!reader.next().has_value());
}

BOOST_AUTO_TEST_CASE(times_that_no_file_has_are_bounded_or_refused) {
  const std::string whole = tar_header({.name = "a", .mtime = 1'000'000'000'500'000'000});
  const std::string was = "mtime=1000000000.500000000";
  const struct {
    std::string is;
    bool is_read;
  } rows[] = {{"mtime=9223372036854775807.", true},
              {"mtime=-9223372036854775807", true},
              {"mtime=1.-92233720368547758", false},
              {"mtime=1.922337203685477580", false}};
  for (const auto& row : rows) {
    BOOST_REQUIRE(row.is.size() == was.size());
    std::string other = whole;
    other.replace(other.find(was), was.size(), row.is);
    TarReader reader(other);
    BOOST_TEST(reader.next().has_value() == row.is_read, row.is);
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/workspace/diff/binary_patch.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// git's own binary patch of two contents, from "GIT binary patch" on.
std::string patch_by_git(const TemporaryFolder& folder, const std::string& old,
                         const std::string& now) {
  write_file(folder / "old.bin", old);
  write_file(folder / "new.bin", now);
  const std::string line = "cd '" + (folder / "").string() +
                           "' && git diff --no-index --binary --no-ext-diff old.bin new.bin > diff";
  const int status = std::system(line.c_str());
  const std::string diff = read_file(folder / "diff");
  const std::size_t begin = diff.find("GIT binary patch\n");
  BOOST_REQUIRE_MESSAGE(begin != std::string::npos, status << diff);
  return diff.substr(begin);
}

std::string failure(const std::string& before, const std::string& body) {
  try {
    apply_binary_patch(before, body);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binary_patch)

BOOST_AUTO_TEST_CASE(patches_of_git_give_gits_content_in_both_forms) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  bool deltas = false;
  bool literals = false;
  for (int round = 0; round < 40; ++round) {
    const std::size_t size = random() % 200'000;
    std::string old(size, '\0');
    for (char& byte : old) byte = static_cast<char>(random() % (round % 2 == 0 ? 256 : 3));
    std::string now = old;
    if (round % 3 == 0)
      now = std::string(1, '\0') + std::string(random() % 70'000, 'x');
    else
      for (int change = 0; change < 5; ++change)
        now.insert(random() % (now.size() + 1), std::string(random() % 300 + 1, '\1'));
    if (old == now || (old.find('\0') == old.npos && now.find('\0') == now.npos)) continue;
    const std::string patch = patch_by_git(folder, old, now);
    deltas = deltas || patch.find("\ndelta ") < patch.find("\n\n");
    literals = literals || patch.find("\nliteral ") < patch.find("\n\n");

    BOOST_TEST((apply_binary_patch(old, patch) == now), round);
  }
  BOOST_TEST(deltas);
  BOOST_TEST(literals);
}

BOOST_AUTO_TEST_CASE(what_does_not_apply_is_refused_with_why) {
  const TemporaryFolder folder;
  const std::string old(1000, '\0');
  const std::string good = patch_by_git(folder, old, std::string("\0x", 2));
  const std::string title = "GIT binary patch\n";
  const struct {
    std::string body;
    const char* why;
  } rows[] = {
      {"", "has no content"},
      {title, "cut off"},
      {title + "liberal 1\n\nliteral 0\n\n", "neither literal nor delta"},
      {title + "literal x\n\nliteral 0\n\n", "no size"},
      {title + "literal 99999999999999999999\n\nliteral 0\n\n", "no size"},
      {title + "literal 300000000\n\nliteral 0\n\n", "says that it has 300000000 bytes"},
      {title + "literal 1\nAAAA\n\nliteral 0\n\n", "another length than it says"},
      {title + "literal 1\nA\x01\x01\x01\x01\x01\n\nliteral 0\n\n", "no digit"},
      {title + "literal 1\nD~~~~~\n\nliteral 0\n\n", "no number of base 85"},
      {title + "literal 1\nD00000\n\nliteral 0\n\n", "not deflated"},
      {title + "literal 1\n\nliteral 0\n\n", "inflates to 0 bytes"},
      {good.substr(0, good.size() - 1), "cut off"},
      {good + "more\n", "something follows"},
  };
  for (const auto& row : rows)
    BOOST_TEST(failure(old, row.body).find(row.why) != std::string::npos,
               row.body << " " << failure(old, row.body));
  const std::string delta =
      patch_by_git(folder, old + std::string(5000, '\2'), old + std::string(4000, '\2') + "x");
  BOOST_REQUIRE(delta.find("\ndelta ") < delta.find("\n\n"));
  BOOST_TEST(failure(old, delta) == "its delta is for a file of another size");
}

BOOST_AUTO_TEST_SUITE_END()

#include "app/artifacts/leaks.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

std::string diff_of(const std::string& lines) {
  return "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,3 @@\n" + lines;
}

const Redactor& redactor() {
  static const Redactor known(std::vector<Secret>{{"DB_PASSWORD", "s3cr3t-value"}});
  return known;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leaks)

BOOST_AUTO_TEST_CASE(a_leak_is_named_with_its_place_and_never_with_its_value) {
  const struct {
    const char* name;
    std::string lines;
    Leak::Kind kind;
    std::string text;
  } rows[] = {
      {"a value in an added line", " one\n+key = s3cr3t-value\n", Leak::Kind::value,
       "the value of DB_PASSWORD at a.c:2"},
      {"a value in an old line", "-s3cr3t-value\n+gone\n", Leak::Kind::value, "DB_PASSWORD"},
      {"a mark of the redactor", "+key = [REDACTED:DB_PASSWORD]\n", Leak::Kind::marker, "a.c:1"},
      {"a token of no one's", "+ghp_abcdefghijklmnopqrstuvwxyz0123456789\n", Leak::Kind::shape,
       "a.c:1"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      const auto found = find_leaks(redactor(), diff_of(row.lines));

      const std::string text = describe_leaks(found, row.kind);
      BOOST_TEST(text.find(row.text) != text.npos, text);
      BOOST_TEST(text.find("s3cr3t") == text.npos);
    }
}

BOOST_AUTO_TEST_CASE(a_value_that_is_wrapped_over_added_lines_is_found) {
  const Redactor wrapped(std::vector<Secret>{{"KEY", "first-half\nsecond-half"}});

  const auto found = find_leaks(wrapped, diff_of("+first-half\n+second-half\n"));

  BOOST_TEST(describe_leaks(found, Leak::Kind::value) != "");
}

BOOST_AUTO_TEST_CASE(each_leak_is_at_its_line_in_whichever_hunk_and_file_it_is) {
  const std::string token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  const std::string diff =
      "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
      "@@ -1,3 +1,3 @@\n one\n-s3cr3t-value\n+s3cr3t-value 2\n three\n"
      "@@ -101,2 +101,4 @@ main\n x\n+y s3cr3t-value\n+z s3cr3t-value s3cr3t-value\n q\n"
      "diff --git a/b.c b/b.c\n--- a/b.c\n+++ b/b.c\n"
      "@@ -7,2 +7,3 @@\n " +
      token + "\n+" + token + "\n\n";

  std::vector<std::string> places;
  for (const Leak& leak : find_leaks(redactor(), diff)) places.push_back(leak.place);

  const std::vector<std::string> expected = {"a.c:2", "a.c:102", "a.c:103", "a.c:2 (removed)",
                                             "b.c:8"};
  BOOST_TEST(places == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_binary_patch_is_looked_through_by_its_content) {
  const std::string diff =
      "diff --git a/a.bin b/a.bin\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmYzzz\n\n";
  std::string asked;

  const auto found = find_leaks(redactor(), diff, [&](const std::string& path) {
    asked = path;
    return std::optional<std::string>("\1\2s3cr3t-value\3");
  });

  BOOST_TEST(asked == "a.bin");
  BOOST_REQUIRE_EQUAL(found.size(), 1u);
  BOOST_TEST(found[0].in_binary);
}

BOOST_AUTO_TEST_CASE(a_clean_diff_has_none) {
  const auto found = find_leaks(redactor(), diff_of(" one\n-two\n+three\n"));

  BOOST_TEST(found.empty());
  BOOST_TEST(describe_leaks(found, Leak::Kind::value) == "");
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/workspace/patch_text.h"

#include <boost/test/unit_test.hpp>

#include "core/base/files.h"
#include "tests/core/workspace/trees.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(patch_text)

BOOST_AUTO_TEST_CASE(git_apply_turns_one_random_tree_into_the_other) {
  int kept_renames = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      test::TemporaryFolder folder;
      fs::create_directory(folder / "tree");
      test::RandomTrees random(seed);
      const test::Tree before = random.make(12);
      const test::Tree after = random.change(before, 10);
      test::become(folder / "tree", {}, before);

      const PatchText patch = make_patch(before, after, 3, true);
      BOOST_TEST(check_patch(patch.text, before, after) == "");
      for (const auto& file : patch.files) kept_renames += file.old_path.empty() ? 0 : 1;

      test::put_file(folder / "changes.diff", patch.text);
      const test::Said said =
          test::run_program({"git", "apply", "--allow-empty", "../changes.diff"}, folder / "tree");
      BOOST_TEST(said.status == 0, said.output);
      BOOST_TEST(test::difference(test::read_tree(folder / "tree"), after) == "");
    }
  }
  BOOST_TEST(kept_renames > 10);
}

BOOST_AUTO_TEST_CASE(the_same_change_gives_the_same_bytes) {
  test::RandomTrees random(7);
  const test::Tree before = random.make(20);
  const test::Tree after = random.change(before, 20);

  const PatchText first = make_patch(before, after, 3, true);

  BOOST_TEST(make_patch(before, after, 3, true).text == first.text);
}

BOOST_AUTO_TEST_CASE(a_small_change_is_written_as_git_writes_it) {
  const TouchedFiles before{{"a.txt", {0100644, "one\ntwo\nthree\n"}}};
  const TouchedFiles after{{"a.txt", {0100755, "one\n2\nthree"}}};

  const PatchText patch = make_patch(before, after, 1, true);

  BOOST_TEST(patch.text ==
             "diff --git a/a.txt b/a.txt\n"
             "old mode 100644\n"
             "new mode 100755\n"
             "index 4cb29ea38f70d7c61b2a3a25b02e3bdf44905402.."
             "a623a0b003e0a9d68f0cffe69882989f57df4d00\n"
             "--- a/a.txt\n"
             "+++ b/a.txt\n"
             "@@ -1,3 +1,3 @@\n"
             " one\n"
             "-two\n"
             "-three\n"
             "+2\n"
             "+three\n"
             "\\ No newline at end of file\n");
  BOOST_REQUIRE(patch.files.size() == 1u);
  BOOST_TEST(patch.files[0].added_lines == 2);
  BOOST_TEST(patch.files[0].deleted_lines == 2);
}

BOOST_AUTO_TEST_CASE(a_text_that_says_something_else_is_found) {
  const TouchedFiles before{{"a", {0100644, "one\n"}}, {"b", {0100644, "b\n"}}};
  const TouchedFiles after{{"a", {0100644, "two\n"}}};
  const std::string text = make_patch(before, after, 3, true).text;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };

  BOOST_TEST(check_patch(text, before, after) == "");
  BOOST_TEST(check_patch(with("+two", "+tow"), before, after) != "");
  BOOST_TEST(check_patch(with("-one", "-eno"), before, after) != "");
  BOOST_TEST(check_patch(text.substr(0, text.find("diff --git a/b")), before, after) != "");
  BOOST_TEST(check_patch("", before, after) != "");
  BOOST_TEST(check_patch("nonsense\n", before, before) != "");
}

BOOST_AUTO_TEST_SUITE_END()

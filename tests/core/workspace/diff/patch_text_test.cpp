#include "core/workspace/diff/patch_text.h"
#include "core/workspace/diff/patch_check.h"
#include "core/workspace/diff/text_hunks.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/core/workspace/trees.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

namespace {

struct TextHunks {
  std::string text;
  HunkCounts counts;
};

TextHunks hunks_of(std::string_view before, std::string_view after, int context_lines,
                   std::size_t most_lines = 100'000) {
  DiffTextWriter text;
  const HunkCounts counts = make_hunks(before, after, context_lines, text, most_lines);
  return {std::string(text.take().view()), counts};
}

}  // namespace

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

// Names that all folders have, files that are alike, and files that were edited on the way.
BOOST_AUTO_TEST_CASE(hunks_that_are_not_made_by_libgit2_are_applied_by_git) {
  const struct {
    const char* name;
    std::string before;
    std::string after;
  } rows[] = {
      {"the middle", "1\n2\n3\n4\na\nb\nc\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\nb\ny\n5\n6\n7\n8\n"},
      {"the begin", "a\n1\n2\n3\n4\n", "1\n2\n3\n4\n"},
      {"the end", "1\n2\n3\n4\n", "1\n2\n3\n4\n5"},
      {"a newline at the end", "1\n2", "1\n2\n"},
      {"no newline at the end", "1\n2\n", "1\n2"},
      {"a repeated line", "a\na\n", "a\na\na\n"},
      {"a part of a line", "ab\n", "ac\n"},
      {"a longer line", "1\nab", "1\nabc"},
      {"empty lines", "\n\n\n", "\n\n"},
      {"all", "1\n2\n", "3\n"},
      {"two places", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nx\n3\n4\n5\n6\n7\n8\ny"},
      {"moved lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "6\n7\n8\n9\n1\n2\n3\n4\n5\n"},
      {"lines that are taken out of a repetition", "a\n1\na\n2\na\n3\na\n", "a\na\n3\na\n1\n"},
  };
  for (const auto& row : rows) {
    for (const int context : {0, 1, 3}) {
      BOOST_TEST_CONTEXT(row.name << ", context " << context) {
        const TextHunks hunks = hunks_of(row.before, row.after, context, 0);

        BOOST_TEST(apply_hunks(row.before, hunks.text) == row.after);
        test::TemporaryFolder folder;
        test::put_file(folder / "f", row.before);
        test::put_file(folder / "changes.diff", "--- a/f\n+++ b/f\n" + hunks.text);
        const auto said = test::run_program(
            {"git", "apply", "--unidiff-zero", "--whitespace=nowarn", "changes.diff"},
            folder.path());
        BOOST_TEST(said.status == 0, said.output);
        BOOST_TEST(read_file(folder / "f") == row.after);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(places_far_apart_in_a_very_long_file_are_hunks_as_libgit2_makes_them) {
  constexpr int kLines = 300'000;
  constexpr std::size_t kAllByLibgit2 = SIZE_MAX;
  std::mt19937 random(1);
  std::string before;
  std::string after;
  for (int i = 0; i < kLines; ++i) {
    const std::string line = std::to_string(i) + "\n";
    before += line;
    switch (random() % 3000) {
      case 0:
        after += "0 " + line;
        break;
      case 1:
        break;
      case 2:
        after += line + "0\n";
        break;
      default:
        after += line;
    }
  }

  const TextHunks hunks = hunks_of(before, after, 3);

  BOOST_TEST(hunks.counts.added > 50);
  BOOST_TEST((hunks.text == hunks_of(before, after, 3, kAllByLibgit2).text));
}

BOOST_AUTO_TEST_CASE(hunks_of_random_lines_give_the_other_text_however_they_are_cut) {
  std::mt19937 random(2);
  const auto text_of = [&](std::uint_fast32_t kinds) {
    std::string text;
    for (auto left = random() % 60; left > 0; --left)
      text += std::to_string(random() % kinds) + "\n";
    if (random() % 4 == 0) text += "end";
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const auto kinds = 1 + random() % 40;
    const std::string before = text_of(kinds);
    const std::string after = text_of(kinds);
    const std::size_t most_lines = random() % 30;
    const int context = static_cast<int>(random() % 4);
    BOOST_TEST_CONTEXT(before << "---\n" << after << "---\n" << most_lines << " " << context) {
      const TextHunks hunks = hunks_of(before, after, context, most_lines);

      BOOST_TEST(apply_hunks(before, hunks.text) == after);
      BOOST_TEST(hunks_give(before, hunks.text, after));
      BOOST_TEST(!hunks_give(before, hunks.text, after + "more\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_gives_way_to_a_folder_is_deleted_and_not_renamed) {
  const test::Tree before = {{"old", {0120000, "target"}}};
  const test::Tree after = {{"new", {0120000, "target"}}, {"old/file", {0100644, "1\n"}}};
  const PatchText patch = make_patch(before, after, 3, true);

  test::TemporaryFolder folder;
  fs::create_directory(folder / "tree");
  test::become(folder / "tree", {}, before);
  test::put_file(folder / "changes.diff", patch.text);
  const auto said = test::run_program({"git", "apply", "../changes.diff"}, folder / "tree");

  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(test::difference(test::read_tree(folder / "tree"), after) == "");
}

BOOST_AUTO_TEST_CASE(hunks_that_do_not_fit_are_refused) {
  for (const std::string hunks :
       {"@@ -1 +1 @@\n-x\n+b\n", "@@ -5 +5 @@\n-a\n+b\n", "@@ -1,2 +1 @@\n-a\n+b\n",
        "@@ -1 +1,2 @@\n-a\n+b\n", "@@ 1 @@\n", "@@ -1 +1 @@\n", "no hunk\n"})
    BOOST_CHECK_THROW(apply_hunks("a\n", hunks), Error);
}

BOOST_AUTO_TEST_CASE(a_moved_folder_is_told_as_git_tells_it) {
  test::TemporaryFolder folder;
  const fs::path root = folder / "tree";
  fs::create_directory(root);
  test::make_repository(root);
  test::Tree before;
  test::Tree after;
  for (int i = 0; i < 160; ++i) {
    const std::string part = "part" + std::to_string(i % 16) + "/";
    const std::string name = i < 16 ? "index.js" : i < 32 ? "empty" : "f" + std::to_string(i);
    std::string text;
    for (int line = 0; i >= 32 && line < 20; ++line)
      text += "line " + std::to_string(line) + " of " + std::to_string(i) + "\n";
    if (i < 16) text = "the same in all folders\n";
    before["old/" + part + name] = {0100644, text};
    if (i >= 32 && i % 2 == 0) text += "edited\n";
    after["new/place/" + part + name] = {i % 5 == 0 ? 0100755u : 0100644u, text};
  }
  test::become(root, {}, before);
  test::commit_all(root);
  test::become(root, before, after);
  test::git(root, {"add", "-A"});

  const PatchText patch = make_patch(before, after, 3, true);

  std::string told;
  for (const auto& file : patch.files) told += file.old_path + " => " + file.path + "\n";
  std::string by_git;
  const std::string status = test::git(root, {"diff", "--cached", "-M", "--name-status", "HEAD"});
  for (std::size_t at = 0; at < status.size();) {
    const std::size_t end = status.find('\n', at);
    const std::string line = status.substr(at, end - at);
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    by_git += line.substr(first + 1, second - first - 1) + " => " + line.substr(second + 1) + "\n";
    at = end + 1;
  }
  BOOST_TEST(told == by_git);
  BOOST_TEST(check_patch(patch.text, before, after) == "");
  test::put_file(folder / "changes.diff", patch.text);
  test::git(root, {"reset", "-q", "--hard"});
  test::git(root, {"apply", "--index", "../changes.diff"});
  BOOST_TEST(test::difference(test::read_tree(root), after) == "");
}

// The number of comparisons is what grows: so many files are not compared with each other.
BOOST_AUTO_TEST_CASE(many_moved_files_cost_no_square) {
  TouchedFiles before;
  TouchedFiles after;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "f" + std::to_string(i);
    std::string text = "the beginning of " + name + "\nand more of " + name + "\nthe end\n";
    before["old/" + name] = {0100644, text};
    after["new/" + name] = {0100644, i % 3 == 0 ? text + "edited\n" : text};
  }
  std::uint64_t steps = 0;

  const PatchText patch = make_patch(before, after, 3, true, [&] { ++steps; });

  BOOST_TEST(patch.files.size() == 5000u);
  BOOST_TEST(patch.files.front().old_path == "old/f0");
  BOOST_TEST(steps < 50'000u);
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
  const std::string text(make_patch(before, after, 3, true).text.view());
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

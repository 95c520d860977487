// Line ends that git converts between working tree and objects, each row against the real git.
#include <boost/test/unit_test.hpp>

#include "core/git/stored_bytes.h"
#include "core/git/working_tree_encoding.h"
#include "core/workspace/diff/diff.h"
#include "tests/core/workspace/changed_copy.h"
#include "tests/support/git_repository.h"

using namespace sortie;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

struct Row {
  const char* name;
  std::string attributes;
  std::string setting;  ///< "core.autocrlf=true"; "" for none
  std::string content;  ///< of a.txt before; "" for none
  std::string changed;
  bool gives_same_bytes = true;  ///< git apply leaves the bytes that the run left
  std::string base = "head";
};

std::string utf16(const std::string& text) { return encoded_file("UTF-16", text).value(); }

const Row kRows[] = {
    {"eol=crlf", "*.txt eol=crlf\n", "", "1\r\n2\r\n3\r\n", "1\r\nx\r\n3\r\n"},
    {"a new file", "*.txt eol=crlf\n", "", "", "1\r\n2\r\n"},
    {"no newline at its end", "*.txt eol=crlf\n", "", "1\r\n2", "1\r\n2\r\n3"},
    {"autocrlf", "", "core.autocrlf=true", "1\r\n2\r\n", "1\r\nx\r\n"},
    {"text=auto and core.eol", "* text=auto\n", "core.eol=crlf", "1\r\n2\r\n", "x\r\n2\r\n"},
    {"a line that has another end", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "1\r\nx\n2\r\n", false},
    {"all lines with another end", "*.txt eol=crlf\n", "", "1\r\n2\r\n", "1\nx\n", false},
    {"binary with eol", "*.txt eol=crlf -text\n", "", "1\r\n2\r\n", "1\r\nx\r\n"},
    {"ident", "*.txt ident\n", "", "$Id$\n1\n2\n", "$Id: ffff $\n1\nx\n"},
    {"the ident of another system", "*.txt ident\n", "", "$Id: a,v 1.1 $\n1\n",
     "$Id: a,v 1.1 $\nx\n"},
    {"UTF-16", "*.txt working-tree-encoding=UTF-16\n", "", utf16("1\n\xc3\xa4\n"),
     utf16("1\n\xe2\x82\xac\n")},
    {"UTF-16LE with eol", "*.txt text working-tree-encoding=UTF-16LE eol=crlf\n", "",
     utf16("1\r\n2\r\n").substr(2), utf16("1\r\nx\r\n").substr(2)},
    {"a new file in UTF-16", "*.txt working-tree-encoding=UTF-16\n", "", "", utf16("new\n")},
    {"another encoding", "*.txt working-tree-encoding=ISO-8859-1\n", "", "\xe4\n2\n",
     "\xe4\nx\xf6\n"},
    {"the encoding that git stores", "*.txt working-tree-encoding=utf8\n", "", "\xc3\xa4\n2\n",
     "\xc3\xa4\nx\n"},
    {"no attribute", "", "", "1\r\n2\r\n", "1\r\nx\n2\r\n"},
};

/// The tree that git would commit of a folder, with the repository's attributes and settings.
std::string git_tree_of(const fs::path& repository, const fs::path& folder) {
  const std::map<std::string, std::string> environment = {
      {"GIT_INDEX_FILE", (repository / ".git/index.of-run").string()},
      {"GIT_DIR", (repository / ".git").string()},
      {"GIT_WORK_TREE", folder.string()}};
  test::run_program({"git", "add", "-A", "."}, folder, environment);
  return test::run_program({"git", "write-tree"}, folder, environment).output;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(line_ends)

BOOST_AUTO_TEST_CASE(git_takes_the_diff_into_index_and_tree_and_makes_what_it_would_commit) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      test::ChangedCopy run;
      const fs::path root = run.bench.root;
      test::make_repository(root);
      if (!row.setting.empty())
        test::git(root, {"config", row.setting.substr(0, row.setting.find('=')),
                         row.setting.substr(row.setting.find('=') + 1)});
      run.put({{".gitattributes", {0100644, row.attributes}}, {"b", {0100644, "b\n"}}});
      if (!row.content.empty()) run.put({{"a.txt", {0100644, row.content}}});
      test::commit_all(root);
      // As a clone has it.
      if (!row.content.empty()) fs::remove(root / "a.txt");
      test::git(root, {"checkout", "-f", "--", "."});
      run.open();
      run.change({{"a.txt", {0100644, row.changed}}});

      const Diff diff = run.diff();

      BOOST_TEST(diff.base == row.base);
      BOOST_TEST((diff.applies_to == Strings{"start", "head", "index"}));
      BOOST_TEST(diff.line_ends.empty() == row.gives_same_bytes);
      const std::string wanted = git_tree_of(root, run.tree());
      test::put_file(run.bench.folder / "changes.diff", diff.text);
      const auto said = test::run_program(
          {"git", "apply", "--index", "--whitespace=nowarn", "../changes.diff"}, root);
      BOOST_TEST(said.status == 0, said.output);
      BOOST_TEST(test::git(root, {"write-tree"}) == wanted);
      if (row.gives_same_bytes)
        BOOST_TEST(same_but_ids(read_file(root / "a.txt"), read_file(run.tree() / "a.txt")));
    }
  }
}

BOOST_AUTO_TEST_CASE(against_the_start_the_diff_has_the_bytes_of_the_tree) {
  test::ChangedCopy run;
  test::make_repository(run.bench.root);
  run.put({{".gitattributes", {0100644, "*.txt eol=crlf\n"}},
           {"a.txt", {0100644, "1\r\n2\r\n"}},
           {"b", {0100644, "b\n"}}});
  test::commit_all(run.bench.root);
  test::put_file(run.bench.root / "b", "not committed\n");
  run.open();
  run.change({{"a.txt", {0100644, "1\r\nx\r\n"}}, {"b", {0100644, "changed\n"}}});

  const Diff diff = run.diff();

  BOOST_TEST(diff.base == "start");
  BOOST_TEST(diff.text.find("+x\r\n") != std::string::npos);
  test::put_file(run.bench.folder / "changes.diff", diff.text);
  const auto said = test::run_program({"git", "apply", "../changes.diff"}, run.bench.root);
  BOOST_TEST(said.status == 0, said.output);
  BOOST_TEST(read_file(run.bench.root / "a.txt") == "1\r\nx\r\n");
}

/// git reads a file as it would store it before it applies a diff.
BOOST_AUTO_TEST_CASE(against_the_start_text_that_git_converts_is_as_git_stores_it) {
  const struct {
    const char* attributes;
    std::string content;
    std::string changed;
  } rows[] = {{"ident", "$Id$\n1\n", "$Id$\nx\n"},
              {"working-tree-encoding=UTF-16", utf16("1\n2\n"), utf16("1\nx\n")}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.attributes) {
      test::ChangedCopy run;
      const fs::path root = run.bench.root;
      test::make_repository(root);
      run.put({{".gitattributes", {0100644, std::string("*.txt ") + row.attributes + "\n"}},
               {"a.txt", {0100644, row.content}},
               {"b", {0100644, "b\n"}}});
      test::commit_all(root);
      fs::remove(root / "a.txt");
      test::git(root, {"checkout", "-f", "--", "."});
      test::put_file(root / "b", "not committed\n");
      run.open();
      run.change({{"a.txt", {0100644, row.changed}}, {"b", {0100644, "changed\n"}}});

      const Diff diff = run.diff();

      BOOST_TEST(diff.base == "start");
      BOOST_TEST((diff.applies_to == Strings{"start"}));
      test::put_file(run.bench.folder / "changes.diff", diff.text);
      const auto said = test::run_program({"git", "apply", "../changes.diff"}, root);
      BOOST_TEST(said.status == 0, said.output);
      BOOST_TEST(same_but_ids(read_file(root / "a.txt"), row.changed));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include "app/show/job_notes.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr CiSystems kGithub{.github = true};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(job_notes)

BOOST_AUTO_TEST_CASE(a_place_is_read_as_compilers_and_test_programs_write_it) {
  const struct {
    const char* line;
    PlacedText found;
  } rows[] = {
      {"a.c:3: x", {{"a.c", 3, 0}, "x"}},
      {"src/a.cpp:12:5: error: no 'x'", {{"src/a.cpp", 12, 5}, "error: no 'x'"}},
      {"    x_test.go:9: got 1", {{"x_test.go", 9, 0}, "got 1"}},
      {"  --> src/main.rs:3:17", {{"src/main.rs", 3, 17}, ""}},
      {"src/a.ts(3,5): error TS1: x", {{"src/a.ts", 3, 5}, "error TS1: x"}},
      {"  File \"/w/t.py\", line 12, in f", {{"/w/t.py", 12, 0}, "in f"}},
      {"tests/t.py:5: AssertionError", {{"tests/t.py", 5, 0}, "AssertionError"}},
      {"C: d.c:3: x", {{"C: d.c", 3, 0}, "x"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const auto found = placed_text(row.line);
      BOOST_REQUIRE(found.has_value());
      BOOST_TEST((*found == row.found),
                 found->place.file << ":" << found->place.line << " " << found->text);
    }
  }
  for (const char* line : {"", ":", ":3: x", "a.c:0: x", "a.c:-1: x", "a.c:99999999999: x", "12:30",
                           "a.c:3x", "a(3): f(", "File \"", "File \"x\", line y", "(", "a.c:"})
    BOOST_TEST((!placed_text(line) || placed_text(line)->place.line > 0), line);
}

BOOST_AUTO_TEST_CASE(a_place_without_a_text_gets_the_line_before_it) {
  const auto found = placed_texts("error[E1]: no such name\n\n  --> a.rs:1:2\nx\n  --> a.rs:1:9\n");

  BOOST_TEST(found.size() == 1u);
  BOOST_TEST(found.front().text == "error[E1]: no such name");
}

BOOST_AUTO_TEST_CASE(places_of_a_python_traceback_get_its_exception) {
  const auto found = placed_texts(
      "FAIL: test_add (tests.test_calc.Calc)\n------\nTraceback (most recent call last):\n"
      "  File \"tests/test_calc.py\", line 5, in test_add\n    self.check(add(1, 2), 3)\n    ~~~~^^^\n\n"
      "  File \"tests/base.py\", line 9, in check\n    self.assertEqual(a, b)\n"
      "AssertionError: -1 != 3\n\nmore\n"
      "  File \"bad.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n"
      "  File \"cut.py\", line 7, in g\n    g()\n");

  std::string texts;
  for (const PlacedText& one : found) texts += one.place.file + ": " + one.text + "\n";
  BOOST_TEST(texts ==
             "tests/test_calc.py: AssertionError: -1 != 3\ntests/base.py: AssertionError: -1 != 3\n"
             "bad.py: SyntaxError: '(' was never closed\ncut.py: in g\n");
}

BOOST_AUTO_TEST_CASE(an_output_gives_notes_of_files_of_the_tree_alone) {
  const TemporaryFolder folder;
  write_file(folder / "a.c", "x\n");
  write_file(folder / "b:c.c", "x\n");
  const NotedTree tree{.folder = folder.path(),
                       .made = [](const std::string& path) { return path == "new.c"; }};
  const std::string output = "a.c:1: one\n" + (folder / "a.c").string() +
                             ":2:3: two\nb:c.c:7: three\nnew.c:1: four\n/etc/passwd:1: no\n"
                             "../x.c:1: no\nnone.c:1: no\n./a.c:9: ::set-env name=A::b\n";

  const std::string notes = notes_of_output(CiLog(kGithub), "make failed", output, tree, 9);

  BOOST_TEST(holds(notes, "a.c,line=1,title=make failed::one\n"), notes);
  BOOST_TEST(holds(notes, "a.c,line=2,col=3,title=make failed::two\n"), notes);
  BOOST_TEST(holds(notes, "b%3Ac.c,line=7,title=make failed::three\n"), notes);
  BOOST_TEST(holds(notes, "new.c,line=1,title=make failed::four\n"), notes);
  BOOST_TEST(holds(notes, "a.c,line=9,title=make failed::: :set-env name=A::b\n"), notes);
  BOOST_TEST(!holds(notes, "::no\n"), notes);
  const std::string two = notes_of_output(CiLog(kGithub), "t", output, tree, 2);
  BOOST_TEST((holds(two, "::two\n") && !holds(two, "::three\n")), two);
  BOOST_TEST(notes_of_output(CiLog({.gitlab = true}), "t", output, tree, 9) == "");
}

BOOST_AUTO_TEST_SUITE_END()

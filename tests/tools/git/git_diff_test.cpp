#include "tools/git/git_diff.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <stop_token>
#include <string>

#include "core/base/error.h"
#include "tests/fakes/fake_clock.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(git_diff_tool)

BOOST_AUTO_TEST_CASE(a_diff_is_shown_whole_or_by_path) {
  Diff diff;
  diff.base = "start";
  const std::string text =
      "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-diff --git a\n+b\n"
      "diff --git a/src/b.c b/src/b.c\nnew file mode 100644\n--- /dev/null\n+++ b/src/b.c\n"
      "@@ -0,0 +1 @@\n+x\n";
  diff.text = DiffText(text);
  diff.files = {{.path = "a.txt", .added_lines = 1, .deleted_lines = 1},
                {.path = "src/b.c", .kind = ChangedPath::Kind::added, .added_lines = 1}};
  const FakeClock clock;
  std::string asked_for = "-";
  GitDiff tool(
      [&](const std::string& only, const CancelCheck&) {
        asked_for = only;
        return diff;
      },
      "/w", clock);
  const auto show = [&](const char* arguments) { return tool.run(parse_json(arguments), {}); };

  BOOST_TEST(show("{}").text == diff.text);
  BOOST_TEST(asked_for.empty());
  BOOST_TEST(show("{}").head ==
             "2 files changed since the start of the run:\nM a.txt +1 -1\nA src/b.c +1 -0\n");
  BOOST_TEST(show(R"({"path":"src"})").text == text.substr(text.find("diff --git a/src")));
  BOOST_TEST(asked_for == "src");
  BOOST_TEST(show(R"({"path":"none"})").text == "No changes in none.\n");
  BOOST_CHECK_THROW(tool.actions(parse_json(R"({"path":"../x"})")), ToolError);
  GitDiff failing([](const auto&, const auto&) -> Diff { throw Error("too large: x"); }, "/w",
                  clock);
  BOOST_CHECK_THROW(failing.run(Json::object(), {}), ToolError);
  GitDiff hiding([&](const auto&, const auto&) { return diff; }, "/w", clock,
                 {.hidden = [](const fs::path& path) { return path == "a.txt"; }});
  BOOST_TEST(hiding.run(Json::object(), {}).text.find("a.txt") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(diffs_that_have_no_room_are_listed_and_told_of) {
  Diff diff;
  std::string text;
  for (int i = 1000; i < 1300; ++i) {
    const std::string name = "n" + std::to_string(i);
    text +=
        "diff --git a/" + name + " b/" + name + "\n@@ -0,0 +1 @@\n+" + std::string(100, 'x') + "\n";
    diff.files.push_back({.path = name, .kind = ChangedPath::Kind::added, .added_lines = 1});
  }
  diff.text = DiffText(text);
  const FakeClock clock;
  GitDiff tool([&](const auto&, const auto&) { return diff; }, "/w", clock, {.max_bytes = 1000});

  const ToolResult result = tool.run(Json::object(), {});

  BOOST_TEST(
      result.head.starts_with("300 files changed since the start of the run:\nA n1000 +1 -0\n"));
  BOOST_TEST(result.head.ends_with("A n1199 +1 -0\n… and 100 more\n"));
  BOOST_TEST(result.text.size() <= 1000u);
  BOOST_TEST(diff_sections(result.text).size() == 6u);
  BOOST_TEST(result.note == "the diffs of 294 files are left out; use `path` to see one of them");
  // One is always there: what is too long of it is cut like any output.
  GitDiff small([&](const auto&, const auto&) { return diff; }, "/w", clock, {.max_bytes = 1});
  BOOST_TEST(diff_sections(small.run(Json::object(), {}).text).size() == 1u);
}

BOOST_AUTO_TEST_CASE(names_are_quoted_in_the_list) {
  Diff diff;
  diff.text = DiffText("diff --git \"a/x\\ty\" \"b/x\\ty\"\nnew file mode 100644\n");
  diff.files.push_back({.path = "x\ty", .kind = ChangedPath::Kind::added, .added_lines = 1});
  const FakeClock clock;
  GitDiff tool([&](const auto&, const auto&) { return diff; }, "/w", clock, {});
  BOOST_TEST(tool.run(Json::object(), {}).head ==
             "1 file changed since the start of the run:\nA \"x\\ty\" +1 -0\n");
}

BOOST_AUTO_TEST_CASE(what_is_told_of_a_file_in_two_parts_is_one_part) {
  const std::string text =
      "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
      "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n"
      "\\ No newline at end of file\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\n";

  const auto sections = diff_sections(text);

  BOOST_REQUIRE(sections.size() == 2u);
  BOOST_TEST(sections[0] == text.substr(0, text.find("diff --git a/y")));
}

BOOST_AUTO_TEST_CASE(a_diff_is_given_up_at_its_time_limit_and_at_a_stop) {
  FakeClock clock;
  std::stop_source stop;
  int steps = 0;
  const auto error = [&](const std::function<void()>& step) {
    steps = 0;
    GitDiff tool(
        [&](const std::string&, const CancelCheck& pace) -> Diff {
          for (;;) {
            ++steps;
            step();
            pace();
          }
        },
        "/w", clock, {.time_limit = std::chrono::seconds(20)});
    try {
      (void)tool.run(Json::object(), stop.get_token());
      return std::string("made");
    } catch (const ToolError& failed) {
      return std::string(failed.what());
    }
  };

  BOOST_TEST(error([&] { clock.monotonic += std::chrono::seconds(3); }) ==
             "Can't make the diff: not done within 20 s; use a more specific `path`");
  BOOST_TEST(steps == 7);
  BOOST_TEST(error([&] {
               if (steps == 5) stop.request_stop();
             }) == "Can't make the diff: the run is ending");
  BOOST_TEST(steps == 5);
}

BOOST_AUTO_TEST_SUITE_END()

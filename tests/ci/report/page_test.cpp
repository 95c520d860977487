#include "ci/report/page/page.h"

#include <boost/test/unit_test.hpp>

#include <sstream>

#include "ci/report/page/highlight.h"
#include "ci/report/page/html.h"
#include "tests/ci/report/sample_story.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::string page_of(const RunStory& story) {
  std::ostringstream out;
  write_page(out, story);
  return out.str();
}

std::string escaped(std::string_view text) {
  std::ostringstream out;
  Html(out) << text;
  return out.str();
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string coloured(const std::string& path, const std::vector<std::string>& lines) {
  std::ostringstream out;
  Html html(out);
  Highlighter highlighter(language_of(path));
  for (const auto& line : lines) {
    highlighter.write(html, line);
    out << '\n';
  }
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report_page)

BOOST_AUTO_TEST_CASE(a_text_is_never_markup) {
  const struct {
    const char* name;
    std::string text;
    std::string html;
  } rows[] = {
      {"element", "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
      {"attribute", "\" onclick='x'", "&quot; onclick=&#39;x&#39;"},
      {"entity", "&lt;", "&amp;lt;"},
      {"escape sequence", "\x1b[31m", "[U+001B][31m"},
      {"carriage return", "a\rb", "a[U+000D]b"},
      {"zero byte", std::string("a\0b", 3), "a[U+0000]b"},
      {"C1 control",
       "a\xc2\x9b"
       "b",
       "a[U+009B]b"},
      {"right-to-left override",
       "a\xe2\x80\xae"
       "b",
       "a[U+202E]b"},
      {"isolate", "\xe2\x81\xa6", "[U+2066]"},
      {"Arabic letter mark", "\xd8\x9c", "[U+061C]"},
      {"zero width space",
       "a\xe2\x80\x8b"
       "b",
       "a[U+200B]b"},
      {"byte order mark", "\xef\xbb\xbf", "[U+FEFF]"},
      {"not UTF-8",
       "a\xff"
       "b\xc3",
       "a\xef\xbf\xbd"
       "b\xef\xbf\xbd"},
      {"words of any script", "é日本 g̈ नमस्ते 👨‍👩‍👧",
       "é日本 g̈ नमस्ते 👨‍👩‍👧"},
      {"a pile of marks", "a" + repeated("\xcc\x81", 9) + "b",
       "a" + repeated("\xcc\x81", 8) + "[U+0301]b"},
      {"lines", "a\n\tb", "a\n\tb"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { BOOST_TEST(escaped(row.text) == row.html); }
  }
}

BOOST_AUTO_TEST_CASE(tokens_are_coloured_by_kind) {
  BOOST_TEST(
      coloured("a.py", {"def f(x): # why"}) ==
      "<span class=\"k\">def</span> <span class=\"f\">f</span>(x): <span class=\"c\"># why</span>\n");
  BOOST_TEST(coloured("a.cpp", {"int /* a", "b */ x = 12; // \"c\""}) ==
             "<span class=\"k\">int</span> <span class=\"c\">/* a</span>\n"
             "<span class=\"c\">b */</span> x = <span class=\"n\">12</span>; "
             "<span class=\"c\">// &quot;c&quot;</span>\n");
  BOOST_TEST(
      coloured("a.js", {R"(x = "a\"<b" + 'c')"}) ==
      "x = <span class=\"s\">&quot;a\\&quot;&lt;b&quot;</span> + <span class=\"s\">&#39;c&#39;</span>\n");
  BOOST_TEST(coloured("notes.unknown", {"if <b>"}) == "if &lt;b&gt;\n");
  BOOST_TEST(coloured("a.sh", {"echo $# a#b"}) == "echo $# a#b\n");
}

BOOST_AUTO_TEST_CASE(the_page_says_verdict_cause_and_next_step_first) {
  const std::string page = page_of(sample_story());
  const char* order[] = {"<h1>Task failed (exit code 1)</h1>",
                         "the verification failed: 1 of 6 tests",
                         "<b>Next:</b>",
                         "$0.42",
                         "AssertionError",
                         "commands:\n  allow:",
                         "slug.py",
                         "I added max_length",
                         "Timeline",
                         "9 turns",
                         "not proved"};
  std::size_t at = 0;
  for (const char* part : order) {
    if (std::string_view(part) == "9 turns") continue;
    const auto found = page.find(part, at);
    BOOST_TEST_CONTEXT(part) { BOOST_REQUIRE(found != std::string::npos); }
    at = found;
  }
}

BOOST_AUTO_TEST_CASE(denied_connections_are_denials_and_one_block_allows_all) {
  RunStory story = sample_story();
  story.denials[0].part = "push";
  const std::string page = page_of(story);
  for (const char* part :
       {"<h2>Denied: 3 calls, 2 connections</h2>", "The lines of all of them as one block</span>",
        "<span class=\"soft small\">network</span> <code>registry.example.org:443</code>",
        "or add to its list <code>network.allow</code>:</div><pre class=\"output\" "
        "data-copy=\"YAML\">network: {allow: [&quot;registry.example.org:443&quot;]}</pre>",
        "The denied part: <code>push</code>"})
    BOOST_TEST((page.find(part) != std::string::npos), part);
  story.allowing_all.clear();
  BOOST_TEST(page_of(story).find("as one block") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(lines_that_nobody_counted_are_unknown) {
  RunStory story = sample_story();
  StoryChanges& changes = story.changes;
  changes.name.clear();
  changes.added = changes.removed = kUnknown;
  for (StoryFile& file : changes.files) {
    file.added = file.removed = kUnknown;
    file.hunks.clear();
  }
  const std::string page = page_of(story);
  BOOST_TEST(page.find("3 files<small>lines unknown</small>") != std::string::npos);
  BOOST_TEST(page.find("<span class=\"num small\">lines unknown</span>") != std::string::npos);
  BOOST_TEST(page.find("3 files; the record names them") != std::string::npos);
  BOOST_TEST(page.find("class=\"add\">+") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_stage_has_a_row_and_its_prompt) {
  const std::string page = page_of(sample_story());
  for (
      const char* part :
      {"<bdi>plan</bdi></th><td><span class=\"tag good\">Completed</span></td><td class=\"r\">2</td>",
       "<bdi>execute</bdi></th><td><span class=\"tag bad\">Failed</span></td><td class=\"r\">7</td>",
       "<bdi>tell</bdi></th><td><span class=\"tag\">Not started</span></td><td class=\"r\">0</td>",
       "Stage plan (read-only)", "Its prompt</summary><pre>Make a plan, and change nothing.",
       "Turn 3, stage execute:", "class=\"b-stage\""}) {
    BOOST_TEST((page.find(part) != std::string::npos), part);
  }
}

BOOST_AUTO_TEST_CASE(what_the_agent_did_not_write_itself_is_said) {
  const std::string page = page_of(sample_story());
  BOOST_TEST(page.find("Not written by the agent itself: 1 file by commands that it ran, 1 file by "
                       "the verification’s commands.") != std::string::npos);
  RunStory story = sample_story();
  for (StoryFile& file : story.changes.files) file.by_agent = true;
  BOOST_TEST(page_of(story).find("Not written by the agent") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_that_may_go_on_later_says_when) {
  RunStory story = sample_story();
  story.verdict.next = "wait";
  story.verdict.retry_after_s = 125;
  BOOST_TEST(page_of(story).find("<bdi>wait</bdi> Not before 2 min 5 s have passed") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_command_of_the_next_step_stands_as_one) {
  RunStory story = sample_story();
  story.verdict.next = "sortie sandbox -- <b> shows it by hand; its output is in a file";
  BOOST_TEST(page_of(story).find(
                 "<code>sortie sandbox -- &lt;b&gt;</code><bdi> shows it by hand; its output is "
                 "in a file</bdi>") != std::string::npos);
  story.verdict.next = "git -C project apply x.diff";
  BOOST_TEST(page_of(story).find("</b> <code>git -C project apply x.diff</code></p>") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_model_is_named_with_what_was_asked_for_where_it_differs) {
  RunStory story = sample_story();
  const struct {
    const char* asked;
    const char* served;
    const char* note;
  } rows[] = {{"openai m", "m", "<bdi>m</bdi><small><bdi>openai</bdi></small>"},
              {"openai m", "m-2", "<bdi>m-2</bdi><small><bdi>asked for: openai m</bdi></small>"},
              {"openai m", "", "<bdi>openai m</bdi></dd>"}};
  for (const auto& row : rows) {
    story.setting.model_requested = row.asked;
    story.setting.model_served = row.served;
    BOOST_TEST(page_of(story).find(row.note) != std::string::npos, row.served);
  }
}

BOOST_AUTO_TEST_CASE(the_same_story_gives_the_same_bytes) {
  BOOST_TEST(page_of(sample_story()) == page_of(sample_story()));
}

BOOST_AUTO_TEST_CASE(a_page_has_a_limit_and_says_what_it_lacks) {
  RunStory story = long_story(20'000);
  const std::string wide(4000, '&');
  for (int i = 0; i < 3000; ++i) {
    story.denials.push_back({.tool = wide, .what = wide, .yaml = wide});
    story.changes.files.push_back({.path = wide, .added = 1});
    story.changes.left_out.push_back({wide, wide, wide});
    story.changes.conflicts.push_back(wide);
    story.warnings.push_back(wide);
    story.rounds.back().commands.push_back({.command = wide, .done = true});
  }
  story.changes.files[0].hunks.push_back(
      {.header = "@@", .lines = std::vector<std::string>(5000, "+" + wide)});

  const std::string page = page_of(story);

  BOOST_TEST(page.size() <= std::size_t{10} << 20);
  BOOST_TEST(page.ends_with("</html>\n"));
  for (const char* part :
       {" steps are left out here", "more kinds are in result.json", "more lines are in the diff",
        "more files are in the diff", "more commands are in the transcript", "id=\"turn-1\"",
        "id=\"turn-20000\""})
    BOOST_TEST((page.find(part) != std::string::npos), part);
  for (const char* tag : {"details", "section", "div", "summary", "pre"}) {
    const std::string name = tag;
    BOOST_TEST(count_of(page, "<" + name + ">") + count_of(page, "<" + name + " ") ==
               count_of(page, "</" + name + ">"));
  }
}

BOOST_AUTO_TEST_CASE(no_text_of_a_run_becomes_markup) {
  const std::string attacks[] = {
      "</pre></script><script>document.title='owned'</script>",
      "<img src=x onerror=alert(1)>",
      "\"><svg onload=alert(1)>",
      "' autofocus onfocus='alert(1)",
      "</style><style>*{display:none}</style>",
      "</title><base href=//evil.test><meta http-equiv=refresh content=0>",
      "<!--",
      "<a href=\"javascript:alert(1)\">x</a><iframe src=//evil.test></iframe>",
  };
  const std::string calm = page_of(story_full_of("calm"));
  for (const auto& attack : attacks) {
    const std::string page = page_of(story_full_of(attack));
    BOOST_TEST_CONTEXT(attack) {
      for (const char* tag :
           {"<script", "<style", "<img", "<svg", "<base", "<meta", "<a ", "<iframe", "<!--"}) {
        BOOST_TEST(count_of(page, tag) == count_of(calm, tag));
      }
      BOOST_TEST(page.find("' autofocus") == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

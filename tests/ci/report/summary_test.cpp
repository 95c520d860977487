#include "ci/report/summary.h"

#include <boost/test/unit_test.hpp>

#include "ci/report/markdown.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(summary)

BOOST_AUTO_TEST_CASE(a_summary_begins_with_the_cause_then_verification_and_denials) {
  RunStory story;
  story.verdict = {
      .ended = true, .status = "task-failed", .code = 1, .cause = "it failed", .next = "look"};
  story.rounds = {{.number = 2,
                   .commands = {{.command = "make test",
                                 .done = true,
                                 .ending = "exit 2",
                                 .output = {.head = "1 failed\n"}}}}};
  story.denials = {{.tool = "shell", .what = "git push", .reason = "no", .yaml = "a: b\n"}};
  story.denied_calls = 1;

  const std::string text = summary_text(story);

  BOOST_TEST(text.starts_with("# sortie: task-failed (1)\n\nit failed\n\n**Next:** look\n"));
  BOOST_TEST(text.find("## Verification failed, round 2") < text.find("## Denied: 1 call\n"));
  BOOST_TEST(text.find("```text\n1 failed\n```\n") != text.npos);
  BOOST_TEST(text.find("```yaml\na: b\n```\n") != text.npos);
}

BOOST_AUTO_TEST_CASE(what_was_denied_can_be_allowed_by_one_block) {
  RunStory story;
  story.denials = {
      {.tool = "network",
       .what = "a.example:443",
       .host = true,
       .reason = "not listed",
       .count = 7,
       .yaml = "network: {allow: [x]}",
       .lists = {"network.allow"}},
      {.tool = "shell", .what = "make", .yaml = "commands: [m]", .lists = {"commands"}}};
  story.denied_calls = 1;
  story.denied_connections = 7;
  story.allowing_all = "commands: [m]\nnetwork: {allow: [x]}";
  story.notes = {{StoryNote::Kind::connection, "no connection to a.example", true, {}}};

  const std::string text = summary_text(story);

  BOOST_TEST(
      text.find("## Denied: 1 call, 7 connections\n\n- 7 × ` network ` ` a.example:443 `: not "
                "listed\n") != text.npos,
      text);
  BOOST_TEST(
      text.find("one block:\n\n```yaml\ncommands: [m]\nnetwork: {allow: [x]}\n```\n") != text.npos,
      text);
  BOOST_TEST(text.find("each added to its list (` network.allow `, ` commands `):\n\n```yaml\n"
                       "network: {allow: [x]}\n```\n") != text.npos,
             text);
  BOOST_TEST(text.find("no connection to") == text.npos, text);  // a denial is no warning too
}

BOOST_AUTO_TEST_CASE(lines_that_nobody_counted_are_unknown) {
  RunStory story;
  story.changes.files = {{.path = "a.txt", .added = kUnknown, .removed = kUnknown}};
  story.changes.added = story.changes.removed = kUnknown;

  const std::string text = summary_text(story);

  BOOST_TEST(
      text.find("## 1 file changed, lines unknown\n\n- ` a.txt ` modified, lines unknown\n") !=
          text.npos,
      text);
}

BOOST_AUTO_TEST_CASE(nothing_that_others_wrote_becomes_markup) {
  BOOST_TEST(
      plain_words("<b>[x](http://e) @me #1 ![i](u)\n# h") ==
      "\\<b\\>\\[x\\](http:\u200b//e) \\@\u200bme \\#\u200b1 \\!\u200b\\[i\\](u) \\#\u200b h");
  BOOST_TEST(plain_words("a*b*_c_ `d` ~~e~~ |f| &lt; $x$ \\*") ==
             "a\\*b\\*\\_c\\_ \\`d\\` \\~\\~e\\~\\~ \\|f\\| \\&lt; \\$x\\$ \\\\\\*");
  for (const char* block : {"- x", "+ x", "=== x", "1. x", "12) x"})
    BOOST_TEST(plain_words(block).find('\\') != std::string::npos, block);
  BOOST_TEST(code_span("a `` b\nc") == "``` a `` b c ```");
  BOOST_TEST(code_span("") == "` `");
  BOOST_TEST(code_block("```\n<script>\n````") == "`````text\n```\n<script>\n````\n`````\n");
}

BOOST_AUTO_TEST_CASE(of_several_failed_commands_each_output_is_named) {
  RunStory story;
  const StoryCommand lint = {.command = "make lint",
                             .done = true,
                             .ending = "exit 1",
                             .output = {.head = "a.c: long\n"},
                             .compared = "new failures: a.c"};
  story.rounds = {{.number = 1, .commands = {lint}}};
  const std::string one = summary_text(story);
  story.rounds[0].commands.push_back(
      {.command = "make test", .done = true, .ending = "exit 2", .output = {.head = "1 failed\n"}});
  const std::string two = summary_text(story);

  BOOST_TEST(one.find("` make lint `: exit 1, 0.0 s; new failures: a.c\n") != one.npos, one);
  BOOST_TEST(one.find("` make lint `:\n\n```text") == one.npos, one);
  BOOST_TEST(two.find("` make lint `:\n\n```text\na.c: long\n") != two.npos, two);
  BOOST_TEST(two.find("` make test `:\n\n```text\n1 failed\n") != two.npos, two);
}

BOOST_AUTO_TEST_CASE(words_can_be_read_in_the_file_too) {
  for (const char* words : {"cost 4.97 of 5.00 USD at turn 41", "nothing-to-do (0): it's done",
                            "the same command again, in a/b: -C 'x' + y = z; 100%"})
    BOOST_TEST(plain_words(words) == words);
}

BOOST_AUTO_TEST_CASE(commands_of_ci_systems_are_disabled) {
  RunStory story;
  story.message = {.head = "::error::no\n##vso[task.x]\n##teamcity[x]\n"};
  const std::string text = summary_text(story);
  for (const char* command : {"\n::error", "##vso[", "##teamcity["})
    BOOST_TEST(text.find(command) == text.npos);
}

BOOST_AUTO_TEST_CASE(of_a_summary_as_many_sections_are_taken_as_there_is_room_for) {
  const std::string summary =
      "# sortie: task-failed (1)\n\ncause\n\n## One\n\n````text\n```\n## no section\n````\n\n"
      "## Two\n\n" +
      std::string(500, 'x') + "\n\n## Three\n\n" + std::string(90, 'y') + "\n";

  BOOST_TEST(summary_within(summary, summary.size()) == summary);
  const std::string most = summary_within(summary, summary.size() - 1);
  const std::string some = summary_within(summary, 200);
  const std::string none = summary_within(summary, 40);

  BOOST_TEST(most.find("## Two") != most.npos);
  BOOST_TEST(most.find("## Three") == most.npos);
  BOOST_TEST(some.starts_with("# sortie: task-failed (1)\n\ncause\n\n## One\n"));
  BOOST_TEST(some.find("````\n\n**The rest is left out") != some.npos, some);
  BOOST_TEST(none.empty());
  for (std::size_t room = 0; room <= summary.size(); ++room)
    BOOST_TEST(summary_within(summary, room).size() <= room);
}

BOOST_AUTO_TEST_CASE(a_summary_has_a_limit) {
  RunStory story;
  story.verdict.cause = "the cause";
  for (int i = 0; i < 500; ++i)
    story.rounds.push_back({.commands = {{.command = std::string(4000, 'x')}}});
  story.rounds.back().commands.assign(
      400, {.command = "c", .done = true, .output = {.head = std::string(6000, 'y')}});

  const std::string text = summary_text(story);

  BOOST_TEST(text.size() <= kMostSummaryBytes);
  BOOST_TEST(text.find("the cause") != text.npos);
}

BOOST_AUTO_TEST_SUITE_END()

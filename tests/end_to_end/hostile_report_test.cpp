// `sortie report` of runs that attack whoever opens the page: it is opened in Chromium.
#include <boost/test/unit_test.hpp>
#include <map>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/support/browser/browser.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMostPageBytes = 10 << 20;

/// A run with stages, a denial, a patch, a failed verification and a second attempt at it: a record of
/// nearly everything that a page shows.
struct WholeRun : RunFolder {
  WholeRun() {
    write("work/a.txt", "a\n");
    write("work/b.txt", "b\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"rm", "-rf", "/etc"}).shell({"cat", "a.txt"}).next();
    cassette.patch("*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+c\n*** End Patch\n").next();
    cassette.shell({"sh", "-c", "echo d > b.txt; exit 3"}).next().message("I changed **both**.");
    cassette.message("I can't.");
    write("policy.yaml",
          "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: not in this job\n");
    write_task(cassette,
               "policy: policy.yaml\nverify: {commands: [grep never a.txt], rounds: 1}\n");
  }
};

/// How a page shows a part of the attack.
std::string mark_of(const std::string& name) {
  const std::map<std::string, std::string> marks = {
      {"script", "&lt;/title&gt;&lt;/textarea&gt;&lt;/script&gt;&lt;script&gt;window.owned"},
      {"handlers", "&quot;&gt;&lt;img src=x onerror=&quot;"},
      {"links", "&lt;a href=&quot;javascript:"},
      {"refresh", "&lt;meta http-equiv=refresh"},
      {"style", "&lt;style&gt;@import url(http"},
      {"frames", "&lt;iframe srcdoc=&quot;&lt;script&gt;"},
      {"unclosed", "&lt;!-- &lt;![CDATA["},
      {"encodings", "&amp;lt;script&amp;gt;"},
      {"bidi", "[U+202E]gnp."},
      {"broken-utf8", "\xef\xbf\xbd(\xef\xbf\xbd"},
      {"broken-record", "BROKEN"},
      {"large-output", "window.owned=1"},
      {"large-record", "window.owned=1"},
      {"many-records", "&lt;script&gt;window.owned=1"},
      {"long-line", "WWWWWWWWWWWW"},
      {"deep", "<span"},
      {"negative-numbers", "unknown"},
      {"large-numbers", "unknown"},
      {"fractions", "unknown"},
  };
  return marks.at(name);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// How often that is there at least.
std::size_t fewest_marks(const std::string& name) { return mark_of(name) == "unknown" ? 20 : 51; }

/// The page of that run, forged.
fs::path hostile_page(const RunFolder& run, const std::string& name) {
  const fs::path to = run.path(name);
  const ProgramEnd forged =
      run_program({.argv = {"python3", SORTIE_SOURCE_DIR "/tests/end_to_end/hostile_report.py",
                            run.out().string(), to.string(), name}});
  BOOST_TEST_REQUIRE(forged.status == 0, forged.errors);
  // Those of the run that was forged.
  for (const char* report : {"report.html", "summary.md"}) fs::remove(to / report);
  const ProgramEnd end = run_program({.argv = {sortie_binary(), "report", to.string()}});
  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  // The attack has to be there, as a text, in places of all kinds.
  BOOST_TEST(count_of(read_file(to / "report.html"), mark_of(name)) >= fewest_marks(name), name);
  return to / "report.html";
}

void check(const std::vector<std::string>& names) {
  const WholeRun run;
  BOOST_TEST_REQUIRE(run.run().status == 1);
  std::vector<PageJob> jobs;
  for (const std::string& name : names)
    jobs.push_back({.file = hostile_page(run, name), .checks = {"phone"}, .unfold = true});

  const auto found = check_pages(jobs);

  for (std::size_t i = 0; i < names.size(); ++i) {
    BOOST_TEST_CONTEXT(names[i]) {
      BOOST_TEST(found[i].all_problems() == "");
      BOOST_TEST(found[i].bytes <= kMostPageBytes);
      BOOST_TEST(!found[i].heading.empty());
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_report, *boost::unit_test::precondition(browser_is_installed))

BOOST_AUTO_TEST_CASE(markup_in_every_text_does_nothing) {
  check({"script", "handlers", "links", "refresh", "style", "frames", "unclosed"});
}

BOOST_AUTO_TEST_CASE(texts_that_hide_turn_or_are_none_are_shown) {
  check({"encodings", "bidi", "broken-utf8", "broken-record", "deep"});
}

BOOST_AUTO_TEST_CASE(however_large_a_run_is_its_page_can_be_used) {
  check({"large-output", "large-record", "many-records", "long-line"});
}

// What no run can have is not shown as if one had.
BOOST_AUTO_TEST_CASE(numbers_that_no_run_can_have_are_unknown) {
  check({"negative-numbers", "large-numbers", "fractions"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(forged_numbers)

BOOST_AUTO_TEST_CASE(reports_for_terminals_and_jobs_have_none_of_them) {
  const WholeRun run;
  BOOST_TEST_REQUIRE(run.run().status == 1);
  for (const char* name : {"negative-numbers", "large-numbers", "fractions"}) {
    BOOST_TEST_CONTEXT(name) {
      const fs::path page = hostile_page(run, name);
      const std::string to = page.parent_path().string();
      const ProgramEnd shown = run_program({.argv = {sortie_binary(), "show", "--no-diff", to}});
      const ProgramEnd summary =
          run_program({.argv = {sortie_binary(), "report", to, "--format", "summary"}});

      const std::string html = read_file(page);
      for (const std::string& text :
           {html.substr(html.find("<body")), shown.output, summary.output}) {
        BOOST_TEST(count_of(text, "unknown") > 5u);
        BOOST_TEST(text.find("unknown, unknown") == text.npos);
        BOOST_TEST(text.find("unknown)") != text.npos);  // the exit code
        for (const char* number : {"-1)", "-1 t", "-1 ms", "-0.", "-6", "-9", "9,000", "9000",
                                   "9,223", "9223", "$0", "0.0000"})
          for (const char* before : {" ", ">", "("})
            BOOST_TEST(text.find(std::string(before) + number) == text.npos, number);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

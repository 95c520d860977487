// report.html as a reader has it: opened in Chromium.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "ci/report/page/page.h"
#include "core/files/files.h"
#include "tests/ci/report/sample_story.h"
#include "tests/support/browser/browser.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::string page_of(const RunStory& story) {
  std::ostringstream out;
  write_page(out, story);
  return out.str();
}

/// What an attack would do where it comes through, each in a way that the check of pages notices.
struct Attack {
  const char* name;
  const char* text;
  const char* noticed;  ///< part of a problem, where it is markup of a page without a policy
};
constexpr Attack kAttacks[] = {
    {"a script",
     "</pre></script></style></title><script>window.owned=1;document.title='owned'</script>",
     "a script of the page ran"},
    {"a dialog", "<script>alert('owned')</script>", "a dialog: owned"},
    {"a handler", "\"><img src=x onerror=\"window.owned=1\">", "a script of the page ran"},
    {"a handler of a vector image", "'><svg onload=window.owned=1></svg>",
     "a script of the page ran"},
    {"a foreign image", "<img src=http://beacon.test/image>", "a connection: GET /image"},
    {"a foreign script", "<script src=http://beacon.test/script></script>",
     "a connection: GET /script"},
    {"a foreign style", "</style><style>@import url(http://beacon.test/style);</style>",
     "a connection: GET /style"},
    {"a style that asks for an image",
     "<b style=\"position:fixed;inset:0;background:url(http://beacon.test/background)\">x</b>",
     "a connection: GET /background"},
    {"a frame", "<iframe src=http://beacon.test/frame></iframe>", "a frame"},
    {"a frame of its own text", "<iframe srcdoc=\"<script>parent.owned=1</script>\"></iframe>",
     "a script of the page ran"},
    {"an object", "<object data=http://beacon.test/object></object>", "a connection: GET /object"},
    {"a refresh", "<meta http-equiv=refresh content=\"0;url=http://beacon.test/refresh\">",
     "a navigation to http://beacon.test/refresh"},
    {"a link to a script", "<a href=\"javascript:window.owned=1\">Next</a>",
     "a link to javascript:window.owned=1"},
    {"another base", "<base href=//beacon.test/>", "an element BASE"},
    {"a form", "<form action=http://beacon.test/><button>Next</button></form>", "an element FORM"},
    {"an image in the text", "<img src=\"data:image/svg+xml,<svg xmlns='x'/>\">", "an element IMG"},
};

struct Pages {
  std::filesystem::path write(const std::string& name, const std::string& page) const {
    write_file(folder / (name + ".html"), page);
    return folder / (name + ".html");
  }
  TemporaryFolder folder;
};

/// A success whose verification passed, and a run that was killed before it did anything.
std::vector<std::pair<std::string, RunStory>> stories() {
  RunStory success = sample_story();
  success.verdict = {.ended = true, .status = "success", .code = 0, .verified = true};
  success.rounds[0].passed = true;
  for (StoryCommand& command : success.rounds[0].commands) command.passed = true;
  success.denials.clear();
  RunStory killed;
  killed.setting.run_id = "01a206c7-4b01-7949-b590-8e5052d12bb5";
  killed.verdict.cause = "the run has not ended: it is at work, or it was killed";
  return {{"failed", sample_story()}, {"success", success}, {"killed", killed}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report_in_a_browser, *boost::unit_test::precondition(browser_is_installed))

BOOST_AUTO_TEST_CASE(everybody_can_read_it_on_any_screen_and_on_paper) {
  const Pages pages;
  std::vector<PageJob> jobs;
  for (const auto& [name, story] : stories())
    jobs.push_back({.file = pages.write(name, page_of(story)),
                    .checks = {"phone", "keyboard", "print", "axe"}});

  for (const PageFindings& found : check_pages(jobs)) {
    BOOST_TEST_CONTEXT(found.title) { BOOST_TEST(found.all_problems() == ""); }
  }
}

BOOST_AUTO_TEST_CASE(no_text_of_a_run_does_anything) {
  const Pages pages;
  std::vector<PageJob> jobs;
  for (const Attack& attack : kAttacks)
    jobs.push_back(
        {.file = pages.write(attack.name, page_of(story_full_of(attack.text))), .unfold = true});

  const auto found = check_pages(jobs);

  for (std::size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST_CONTEXT(kAttacks[i].name) {
      BOOST_TEST(found[i].all_problems() == "");
      BOOST_TEST(found[i].title.find(std::string(kAttacks[i].text).substr(0, 20)) !=
                 std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_would_get_through_would_be_noticed) {
  const Pages pages;
  std::vector<PageJob> jobs;
  for (const Attack& attack : kAttacks)
    jobs.push_back(
        {.file = pages.write(attack.name, std::string("<!doctype html><title>x</title><h1>A page") +
                                              "</h1><style></style>" + attack.text)});

  const auto found = check_pages(jobs);

  for (std::size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST_CONTEXT(kAttacks[i].name) {
      const std::string problems = found[i].all_problems();
      BOOST_TEST(problems.find(kAttacks[i].noticed) != std::string::npos, problems);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_content_policy_alone_keeps_markup_from_running_and_from_loading) {
  const Pages pages;
  std::vector<PageJob> jobs;
  for (const Attack& attack : kAttacks) {
    std::string page = page_of(sample_story());
    page.insert(page.find("</h1>") + 5, attack.text);
    jobs.push_back({.file = pages.write(attack.name, page)});
  }

  const auto found = check_pages(jobs);

  for (std::size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST_CONTEXT(kAttacks[i].name) {
      for (const char* what : {"a script of the page ran", "a connection", "a dialog"})
        // A policy of a page says nothing of where it may go: that no text becomes markup does.
        BOOST_TEST((found[i].all_problems().find(what) == std::string::npos ||
                    std::string(kAttacks[i].name) == "a refresh"),
                   found[i].all_problems());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

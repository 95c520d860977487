#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

// `sortie report`.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

ProgramEnd report(std::vector<std::string> words) {
  std::vector<std::string> argv = {sortie_binary(), "report"};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_program({.argv = argv});
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run with a denial, whose verification failed.
struct FailedRun : RunFolder {
  FailedRun() {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"rm", "-rf", "/etc"}).next();
    cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
    cassette.next().message("done <b>now</b>");
    write("policy.yaml",
          "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: not in this job\n");
    write_task(cassette,
               "policy: policy.yaml\nverify: {commands: [grep never a.txt], rounds: 1}\n");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(report_command)

BOOST_AUTO_TEST_CASE(a_page_and_a_summary_are_written_into_the_runs_folder) {
  const FailedRun folder;
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd end = report({folder.out().string()});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(end.output == (folder.out() / "report.html").string() + "\n" +
                               (folder.out() / "summary.md").string() + "\n");
  const std::string page = folder.artifact("report.html");
  BOOST_TEST(page.starts_with("<!doctype html>\n"));
  for (const char* part : {"Task failed", "grep never a.txt", "not in this job",
                           "done &lt;b&gt;now&lt;/b&gt;", "</html>\n"})
    BOOST_TEST(says(page, part), part << " in " << page);
  const std::string text = folder.artifact("summary.md");
  BOOST_TEST(text.starts_with("# sortie: task-failed (1)\n"), text);
  for (const char* part :
       {"**Next:** ", "## Verification failed, round ", "` grep never a.txt `: exit 1",
        "## Denied: 1 call", "not in this job", "## 1 file changed, +1 -1",
        "- ` a.txt ` modified, +1 -1, by a command", "done <b>now</b>", "## Turns"})
    BOOST_TEST(says(text, part), part << " in " << text);
  const ProgramEnd verified =
      run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
  BOOST_TEST(verified.status == 0, verified.errors);
  BOOST_TEST(!says(verified.output, "foreign"), verified.output);
}

BOOST_AUTO_TEST_CASE(stdout_and_a_transcript_alone_will_do) {
  const FailedRun folder;
  BOOST_TEST(folder.run().status == 1);
  fs::create_directory(folder.path("alone"));
  fs::copy_file(folder.out() / "transcript.jsonl", folder.path("alone") / "transcript.jsonl");

  const ProgramEnd end = report({(folder.path("alone") / "transcript.jsonl").string(), "-o", "-"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(says(end.output, "- ` a.txt ` modified"), end.output);
  BOOST_TEST(says(end.output, "is missing"), end.output);
  BOOST_TEST(!fs::exists(folder.path("alone") / "summary.md"));
}

BOOST_AUTO_TEST_CASE(one_of_them_goes_where_it_is_wanted) {
  const FailedRun folder;
  BOOST_TEST(folder.run().status == 1);
  fs::remove(folder.out() / "report.html");
  fs::remove(folder.out() / "summary.md");
  const std::string out = folder.out().string();

  const ProgramEnd page = report({out, "--format", "html"});
  const ProgramEnd summary = report({out, "--format=summary", "-o", "-"});
  const ProgramEnd named = report({out, "-o", folder.path("page.html").string()});
  const ProgramEnd both = report({out, "-o", folder.path("site/run").string()});
  const ProgramEnd unknown = report({out, "--format", "pdf"});

  BOOST_REQUIRE_MESSAGE(page.status == 0, page.errors);
  BOOST_TEST(page.output.starts_with("<!doctype html>\n"));
  BOOST_TEST(summary.output.starts_with("# sortie: task"));
  BOOST_TEST(named.output == folder.path("page.html").string() + "\n");
  BOOST_TEST((read_file(folder.path("page.html")) == page.output));
  BOOST_TEST((read_file(folder.path("site/run/report.html")) == page.output));
  BOOST_TEST((read_file(folder.path("site/run/summary.md")) == summary.output));
  BOOST_TEST(both.status == 0, both.errors);
  BOOST_TEST(unknown.status == 2, unknown.errors);
  BOOST_TEST(!fs::exists(folder.out() / "report.html"));
}

BOOST_AUTO_TEST_CASE(what_is_no_run_is_refused) {
  const RunFolder folder;
  folder.write("no.jsonl", "{}\n");
  for (const char* name : {"none", "no.jsonl"}) {
    const ProgramEnd end = report({folder.path(name).string()});
    BOOST_TEST(end.status == 2, name << ": " << end.errors);
    BOOST_TEST(says(end.errors, name), end.errors);
  }
}

BOOST_AUTO_TEST_SUITE_END()

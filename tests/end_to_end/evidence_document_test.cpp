#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

// The commands of docs/evidence.md, as they stand there.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// The commands in the page's blocks.
std::vector<std::string> commands_of_page() {
  const std::string page = read_file(fs::path(SORTIE_SOURCE_DIR) / "docs/evidence.md");
  std::vector<std::string> commands;
  bool fenced = false;
  for (const auto line : split_lines(page)) {
    std::string text(line);
    if (text.starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    const bool goes_on = !commands.empty() && commands.back().ends_with("\\");
    if (fenced && goes_on) {
      commands.back().pop_back();
      commands.back() += text;
    } else if (fenced && (text.starts_with("jq ") || text.starts_with("cosign ") ||
                          text.starts_with("sortie "))) {
      commands.push_back(text);
    }
  }
  return commands;
}

void replace_all(std::string& text, const std::string& old, const std::string& with) {
  for (auto at = text.find(old); at != text.npos; at = text.find(old, at + with.size()))
    text.replace(at, old.size(), with);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(evidence_document)

BOOST_AUTO_TEST_CASE(each_command_of_the_page_does_what_it_says) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\nverify: [grep b a.txt]\n");
  git(folder.path(""), {"clone", "-q", folder.workspace().string(), folder.path("clone").string()});
  // What a machine of somebody who reads the page has.
  folder.write("bin/sortie", "#!/bin/sh\nexec '" + sortie_binary() + "' \"$@\"\n");
  folder.write("bin/logger", "#!/bin/sh\nexec cat > logged\n");
  folder.write("bin/cosign",
               "#!/bin/sh\nfor last in \"$@\"; do :; done\ntest -f \"$last\" || exit 9\n"
               "case $1 in attest-blob) jq -e .buildDefinition predicate.json > /dev/null;;\n"
               "verify-blob-attestation) ;;\n*) exit 9;; esac\n");
  for (const char* name : {"sortie", "logger", "cosign"})
    fs::permissions(folder.path("bin") / name, fs::perms::owner_all);

  const ProgramEnd run =
      run_program({.argv = {sortie_binary(), "run", "task.yaml", "--anchor", "anchors.jsonl"},
                   .folder = folder.path("")});
  BOOST_REQUIRE_MESSAGE(run.status == 0, run.errors);

  folder.write("pull.diff", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n");
  const std::vector<std::string> commands = commands_of_page();

  BOOST_TEST(commands.size() >= 10u);
  for (std::string command : commands) {
    BOOST_TEST_CONTEXT(command) {
      replace_all(command, "/var/log/anchors/project.jsonl", "anchors.jsonl");
      replace_all(command, "/run/anchors.fifo", "anchors.fifo");
      replace_all(command, "~/src/project", "clone");
      replace_all(command, "../clone", "clone");
      replace_all(command, "$GITHUB_STEP_SUMMARY", "step-summary");
      if (command.starts_with("sortie run")) fs::remove_all(folder.path("sortie-out"));
      if (command.find("anchors.fifo") != command.npos)
        command = "mkfifo anchors.fifo; cat anchors.fifo > read &\n" + command +
                  "\ncode=$?; wait; exit $code";

      const ProgramEnd end =
          run_program({.argv = {"bash", "-c", "PATH=$PWD/bin:$PATH; " + command},
                       .folder = folder.path(""),
                       .environment = {{"GITHUB_STEP_SUMMARY", folder.path("step.md").string()}}});

      BOOST_TEST(end.status == 0, end.output << end.errors);
    }
  }
  for (const char* name : {"logged", "read"})
    BOOST_TEST(wait_until([&] {
      return fs::exists(folder.path(name)) &&
             read_file(folder.path(name)).find("\"anchor\":1") != std::string::npos;
    }));
}

BOOST_AUTO_TEST_SUITE_END()

// docs/result.md shows the result.json of a sample.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <regex>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/document_part.h"
#include "tests/support/git_repository.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// The result without what differs from run to run and from machine to machine.
std::string steady(std::string text) {
  const struct {
    const char* pattern;
    const char* instead;
  } rows[] = {
      {R"("run_id": "[^"]*")", R"("run_id": "019eaf4c-3a43-7d10-9f3e-8a3f0c1d2e4b")"},
      {R"("started": "[^"]*")", R"("started": "2026-11-21T03:14:15.926Z")"},
      {R"(sha256:[0-9a-f]{64})",
       "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
      {R"(/\S*/sortie-test-\w+/)", ""},
      {R"("head_commit": "[^"]*")", R"("head_commit": "8843d7f92416211de9ebb963ff4ce28125932878")"},
      {R"("total_ms": \d+)", R"("total_ms": 3308)"},
      {R"("model_ms": \d+)", R"("model_ms": 0)"},
      {R"("tools_ms": \d+)", R"("tools_ms": 1339)"},
      {R"("verification_ms": \d+)", R"("verification_ms": 1148)"},
      {R"("own_ms": \d+)", R"("own_ms": 821)"},
      {R"("duration_ms": \d+)", R"("duration_ms": 24)"},
      {R"("sortie": "[^"]*")", R"("sortie": "0.1.0")"},
      {R"("proved": (true|false))", R"("proved": true)"},
      {R"("detail": "[^"]*")", R"("detail": "tried: …")"},
      {R"("attempts": \d+)", R"("attempts": 9)"},
      {R"("layers": \{[^}]*\})",
       "\"layers\": {\n    \"namespaces\": true,\n    \"landlock_abi\": 7,\n    \"seccomp\": true,\n"
       "    \"cgroup\": true,\n    \"connect_gate\": false,\n    \"missing\": []\n  }"},
      {R"("isolation": \{[^}]*\})",
       "\"isolation\": {\n    \"mode\": \"overlay\",\n    \"reason\": \"the first choice, which works "
       "here\"\n  }"},
  };
  for (const auto& row : rows)
    text = std::regex_replace(text, std::regex(row.pattern), row.instead);
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(result_document)

BOOST_AUTO_TEST_CASE(docs_show_the_result_of_a_sample) {
  const TemporaryFolder folder;
  copy_tree(fs::path(SORTIE_SOURCE_DIR) / "samples/cpp-library", folder / "sample");
  make_repository(folder / "sample/project");
  commit_all(folder / "sample/project");

  const ProgramEnd end =
      run_program({.argv = {sortie_binary(), "run", (folder / "sample/task.yaml").string(), "--out",
                            (folder / "out").string()},
                   .folder = folder.path(),
                   .environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}}});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const std::string result = read_file(folder / "out/result.json");
  check_document_part("docs/result.md", "a result", "```json\n" + steady(result) + "```\n",
                      "documents_run_test -t result_document");
}

BOOST_AUTO_TEST_SUITE_END()

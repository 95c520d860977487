#include <boost/test/unit_test.hpp>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A workspace, and beside it a recording of a run that makes a file.
class PromptRun : public RunFolder {
 public:
  PromptRun() {
    CassetteWriter()
        .patch("*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n")
        .next()
        .message("It is made.")
        .save(path("cassette.jsonl"));
  }

  /// `sortie run` with these flags, in the workspace.
  ProgramEnd of(Arguments flags, const std::string& input = {}) const {
    flags.insert(flags.begin(), {"run", "--replay", "../cassette.jsonl", "--out", "../out"});
    return run_command_in(*this, flags, input);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(run_prompt)

BOOST_AUTO_TEST_CASE(a_prompt_without_a_task_file_runs_here_under_the_strict_policy) {
  const PromptRun run;

  const ProgramEnd end = run.of({"-p", "Make the file.", "-o", "../said.txt"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "It is made.\n");
  BOOST_TEST(holds(end.errors, "; prompt\n"), end.errors);
  BOOST_TEST(holds(run.artifact("changes.diff"), "+made"));
  BOOST_TEST(read_tree(run.workspace()).empty());
  const Json started = run.records("run.started").at(0);
  BOOST_TEST(parse_json(started["task"].string_at("text")).string_at("prompt") == "Make the file.");
  BOOST_TEST(parse_json(started["policy"].string_at("text")).string_at("name") == "strict");
  BOOST_TEST(run_command_in(run, {"verify", "../out"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_question_changes_nothing_and_is_a_success) {
  const PromptRun run;
  CassetteWriter().message("It is empty.").save(run.path("cassette.jsonl"));

  const ProgramEnd end = run.of({"-p", "What is in here?"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "It is empty.\n");
  BOOST_TEST(run.artifact("changes.diff") == "");
}

BOOST_AUTO_TEST_CASE(the_same_prompt_again_is_returned_and_another_one_is_run) {
  const PromptRun run;
  BOOST_TEST(run.of({"-p", "Make the file."}).status == 0);

  BOOST_TEST(run.of({"--prompt", "Make the file."}).status == 0);
  BOOST_TEST(run.result()["cached"].boolean());
  BOOST_TEST(run.of({"-p", "-"}, "Make the file.\n").status == 0);
  BOOST_TEST(run.result()["cached"].boolean());

  BOOST_TEST(run.of({"-p", "Make another file."}).status == 0);
  BOOST_TEST(write_json(run.result()["cached"]) != "true");
}

BOOST_AUTO_TEST_CASE(a_prompt_may_be_anything_and_from_stdin_it_is_text_alone) {
  const PromptRun run;
  const struct {
    std::string prompt;
    std::string input;
    std::string effective;  ///< or a part of it
  } rows[] = {
      {"- \"quoted\": 'x'\n\ttab # no comment\n\\n é 🦊", "",
       "- \"quoted\": 'x'\n\ttab # no comment\n\\n é 🦊"},
      {"-", "{{name}} ${{ x }} \\{{ {{{{\n", "{{name}} ${{ x }} \\{{ {{{{"},
      {"\x01 \x7f \xc2\x85", "", "\x01 \x7f \xc2\x85"},
      {"Say {{date}} and \\{{x}}.", "", " and {{x}}."},
      {"Explain {{stdin}}", "a log", "a log"},
  };
  for (const auto& row : rows) {
    const ProgramEnd end = run_command_in(run, {"task", "check", "-p", row.prompt}, row.input);
    BOOST_TEST_CONTEXT(row.prompt) {
      BOOST_TEST(end.status == 0, end.errors);
      const std::string prompt = parse_json(end.output).string_at("prompt");
      BOOST_TEST(holds(prompt, row.effective), prompt);
      if (row.prompt == "-") BOOST_TEST(prompt == row.effective);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

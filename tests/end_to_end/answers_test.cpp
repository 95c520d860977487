#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const char* const kSchema =
    R"({"type":"object","properties":{"verdict":{"type":"string","enum":["good","bad"]}},)"
    R"("required":["verdict"],"additionalProperties":false})";
const char* const kGood = R"({"verdict":"good"})";
const char* const kMisfit = R"({"verdict":"fine"})";
const char* const kPatch = "*** Begin Patch\n*** Update File: a.txt\n-a\n+b\n*** End Patch";

/// A run whose final message has to be JSON of a schema.
struct AnswerRun : ProviderRun {
  explicit AnswerRun(const std::string& more = {}, const std::string& schema = kSchema) {
    write("answer.schema.json", schema);
    write("task.yaml",
          "version: 1\nprompt: Judge it.\nworkspace: {path: work}\npolicy: auto\n"
          "model: {retries: 1}\noutput: {schema: answer.schema.json}\n" +
              more);
  }
};

CassetteWriter messages(const std::vector<std::string>& texts) {
  CassetteWriter cassette;
  for (const auto& text : texts) cassette.message(text);
  return cassette;
}

std::vector<Json> hits(const ProviderRun& run, const std::string& check) {
  std::vector<Json> found;
  for (const Json& hit : run.records("check.hit"))
    if (hit.string_at("check") == check) found.push_back(hit);
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(answers)

BOOST_AUTO_TEST_CASE(an_answer_that_fits_is_printed_and_kept_as_json) {
  const AnswerRun run;
  const ModelServer server(served(messages({kGood})));

  const ProgramEnd end = run.run(server, {"-o", run.path("answer.json").string()});

  check_end(run, end, 0, "success");
  BOOST_TEST(end.output == std::string(kGood) + "\n");
  BOOST_TEST(run.artifact("last-message.json") == std::string(kGood) + "\n");
  BOOST_TEST(!std::filesystem::exists(run.out() / "last-message.txt"));
  BOOST_TEST(run.result()["artifacts"].find("last-message.json") != nullptr);
  BOOST_TEST(read_file(run.path("answer.json")) == kGood);
  BOOST_TEST(run.artifact("changes.diff") == "");  // nothing has to change for an answer
}

BOOST_AUTO_TEST_CASE(two_misfits_go_back_and_the_third_answer_is_taken) {
  const AnswerRun run;
  const ModelServer server(served(messages({"It is good.", kMisfit, kGood})));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(run.artifact("last-message.json") == std::string(kGood) + "\n");
  BOOST_REQUIRE(server.requests().size() == 3);
  BOOST_TEST(holds(message_texts(server.requests()[1]).back(), "the message is not JSON"));
  BOOST_TEST(holds(message_texts(server.requests()[2]).back(),
                   "- /verdict: not one of the values allowed (\"good\", \"bad\")"));
  BOOST_TEST(hits(run, "output_schema").size() == 2u);
  BOOST_TEST(holds(end.errors, "check output_schema"), end.errors);
}

BOOST_AUTO_TEST_CASE(the_third_misfit_ends_the_run_and_leaves_a_partial_diff) {
  const AnswerRun run;
  CassetteWriter cassette;
  cassette.patch(kPatch).next();
  for (int i = 0; i < 3; ++i) cassette.message(kMisfit);
  cassette.message(kGood);
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server, {"-o", run.path("answer.json").string()});

  check_end(run, end, 1, "task-failed");
  BOOST_TEST(server.requests().size() == 4);
  BOOST_TEST(end.output == "");
  BOOST_TEST(
      run.result().string_at("reason") ==
      "the output does not fit its schema: /verdict: not one of the values allowed (\"good\", \"bad\")");
  BOOST_TEST(holds(run.artifact("partial.diff"), "+b"));
  BOOST_TEST(run.artifact("last-message.txt") == std::string(kMisfit) + "\n");
  BOOST_TEST(!std::filesystem::exists(run.out() / "last-message.json"));
  BOOST_TEST(!std::filesystem::exists(run.path("answer.json")));
}

BOOST_AUTO_TEST_CASE(an_answer_is_checked_before_the_verification_and_anew_after_it_failed) {
  const AnswerRun run("verify: ['test -e b.txt']\n");
  CassetteWriter cassette;
  cassette.message(kMisfit).message(kMisfit).message(kGood);
  cassette.shell({"sh", "-c", "echo b > b.txt"}).next();
  cassette.message(kMisfit).message(kMisfit).message(kGood);
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(server.requests().size() == 7);
  BOOST_TEST(hits(run, "output_schema").size() == 4u);
  BOOST_TEST(run.records("verification.completed").size() == 2u);
  BOOST_TEST(run.result()["verified"].boolean());
}

BOOST_AUTO_TEST_CASE(what_the_task_says_of_changes_holds_beside_the_schema) {
  const AnswerRun run("expect: {changes: required}\nverify: {commands: ['true'], rounds: 0}\n");
  const ModelServer server(served(messages({kGood})));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 1, "task-failed");
  BOOST_TEST(holds(run.result().string_at("reason"), "expect.changes"));
}

BOOST_AUTO_TEST_CASE(the_model_is_told_of_the_schema_in_valid_requests) {
  const AnswerRun run;
  const ModelServer server(served(messages({kMisfit, kGood})));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  for (const auto& request : server.requests()) {
    const Json body = parse_json(request.body);
    BOOST_TEST(holds(body.string_at("instructions"), kSchema));
    const Json& format = body["text"]["format"];
    BOOST_TEST(format.string_at("type") == "json_schema");
    BOOST_TEST(format["strict"].boolean());
    BOOST_TEST(write_json(format["schema"]) == kSchema);
  }
}

BOOST_AUTO_TEST_CASE(what_keeps_a_schema_from_strict_mode_is_said_at_the_start) {
  const std::string loose = R"({"type":"object","properties":{"verdict":{"type":"string",)"
                            R"("minLength":1}},"required":["verdict"]})";
  const std::string note = "#/properties/verdict/minLength: keyword 'minLength' is not allowed";
  const AnswerRun run({}, loose);
  const ModelServer server(served(messages({kGood})));

  const ProgramEnd end = run.run(server);
  ProgramStart check;
  check.argv = {sortie_binary(),     "task", "check",
                run.task().string(), "-C",   run.workspace().string()};
  check.environment = {{"OPENAI_API_KEY", ""}};
  const ProgramEnd checked = run_program(check);

  check_end(run, end, 0, "success");
  const Json format = parse_json(server.requests().at(0).body)["text"]["format"];
  BOOST_TEST(format["strict"].is_boolean());
  BOOST_TEST(!format["strict"].boolean(true));
  BOOST_TEST(holds(end.errors, note), end.errors);
  BOOST_TEST(checked.status == 0, checked.errors);
  BOOST_TEST(holds(checked.errors, note), checked.errors);
  BOOST_TEST(holds(parse_json(checked.output)["output"].string_at("schema"), "answer.schema.json"));
}

BOOST_AUTO_TEST_CASE(words_are_looked_at_in_each_mode_before_the_calls_that_come_with_them) {
  const struct {
    const char* mode;
    std::size_t hits;
    bool first_call_ran;
  } rows[] = {{"off", 0, true}, {"warn", 1, true}, {"correct", 1, false}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.mode) {
      const ProviderRun run;
      run.write_task({}, std::string("checks: {missing_paths: ") + row.mode + "}\n");
      // The two items of the first response: words about a file that there is not, and a call.
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo b > b.txt"}).message("The cause is in src/gone.py.");
      cassette.message("Done.");
      const ModelServer server(served(cassette));

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      BOOST_TEST(server.requests().size() == 2);
      const auto found = hits(run, "missing_paths");
      BOOST_TEST(found.size() == row.hits);
      BOOST_TEST(holds(run.artifact("changes.diff"), "b.txt") == row.first_call_ran);
      const std::string warnings = write_json(run.result()["warnings"]);
      BOOST_TEST(holds(warnings, "missing_paths: 1 of the agent's messages") == (row.hits > 0));
      BOOST_TEST(holds(end.errors, "check missing_paths: src/gone.py") == (row.hits > 0));
      BOOST_TEST(run.result()["counts"].integer_at("check_hits") ==
                 static_cast<std::int64_t>(row.hits));
      if (row.first_call_ran) continue;
      BOOST_TEST(holds(message_texts(server.requests()[1]).back(), "src/gone.py"));
      BOOST_TEST(run.records("tool.output").at(0).string_at("verdict") == "not_run");
    }
  }
}

BOOST_AUTO_TEST_CASE(dangerous_words_are_warned_of_by_default) {
  const ProviderRun run;
  const ModelServer server(served(messages({"I skipped the failing tests."})));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto found = hits(run, "dangerous_words");
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].string_at("saw") == "tests_off: skipped the failing tests");
  BOOST_TEST(!found[0]["sent"].is_string());
}

BOOST_AUTO_TEST_CASE(paths_are_looked_up_in_the_tree_as_the_run_has_it) {
  const ProviderRun run;
  run.write("work/src/util/text.py", "x = 1\n");
  run.commit_workspace();
  run.write_task({}, "checks: {missing_paths: warn}\n");
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "mkdir -p made && echo 1 > made/here.py && rm src/util/text.py"});
  cassette.next();
  cassette.message("See made/here.py, here.py, a.txt, text.py, /etc/gone.py and " +
                   (run.workspace() / "made/there.py").string() + ".");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto found = hits(run, "missing_paths");
  BOOST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].string_at("saw") ==
             "text.py, " + (run.workspace() / "made/there.py").string());
}

BOOST_AUTO_TEST_CASE(calls_that_nothing_can_be_made_of_are_answered_to_the_model) {
  const ProviderRun run;
  CassetteWriter cassette;
  cassette.call("no_such_tool", Json::object());
  cassette.call("shell", Json::array({"ls"}));
  cassette.next();
  cassette.message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto outputs = run.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 2u);
  BOOST_TEST(holds(outputs[0].string_at("output"), "Unknown tool"));
  BOOST_TEST(outputs[1].string_at("output") == "The arguments are not a JSON object.");
  BOOST_TEST(!outputs[1]["success"].boolean(true));
  BOOST_TEST(hits(run, "unusable_arguments").size() == 1u);
  BOOST_TEST(run.result()["counts"].integer_at("tool_calls") == 2);
  BOOST_TEST(server.requests().size() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

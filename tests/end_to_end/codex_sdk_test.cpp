// The TypeScript SDK of codex, which starts `sortie exec` as it would start `codex exec`.
#include <boost/test/unit_test.hpp>
#include <map>

#include "tests/end_to_end/exec_run.h"
#include "tests/support/images.h"
#include "tests/support/npm_packages.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// What the model answers, in the order of the script's turns.
std::vector<ServedResponse> answers() {
  CassetteWriter cassette;
  cassette.message("One.").message("Two.");
  cassette.shell({"sh", "-c", "echo hi > made.txt"}).next().message("Three.");
  cassette.message(R"({"n":3})").message("An image.");
  cassette.shell({"sleep", "600"}).next().message("After.");
  std::vector<ServedResponse> responses = served(cassette);
  responses.push_back(served_status(400, {}, R"({"error":{"message":"no such model"}})"));
  return responses;
}

std::string texts(const ReceivedRequest& request) {
  std::string text;
  for (const std::string& one : message_texts(request))
    if (!one.starts_with("<")) text += (text.empty() ? "" : " | ") + one;
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codex_sdk)

BOOST_AUTO_TEST_CASE(the_sdk_of_codex_runs_unchanged,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const ExecRun run;
  run.write("a.png", images::kPng);
  std::filesystem::create_directory(run.path("beside"));
  const ModelServer server(answers());
  const NpmPackages packages = npm_packages();
  ProgramStart start = run.exec({});
  start.argv = {packages.node,
                SORTIE_SOURCE_DIR "/tests/support/npm/codex_sdk_turns.mjs",
                packages.folder.string(),
                sortie_binary(),
                base_url(server),
                run.path("").string()};

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  std::map<std::string, Json> steps;
  for (Json& step : events_of(end.output)) steps[step.string_at("step")] = std::move(step);
  const auto requests = server.requests();
  BOOST_TEST_REQUIRE(requests.size() == 9u);

  BOOST_TEST(steps["run"].string_at("answer") == "One.");
  BOOST_TEST(steps["run"].integer_at("messages") == 1);
  BOOST_TEST(steps["run"]["usage"].integer_at("input_tokens", -1) >= 0);
  BOOST_TEST(steps["again"].string_at("answer") == "Two.");
  BOOST_TEST(steps["again"].string_at("id") == steps["run"].string_at("id"));
  BOOST_TEST(texts(requests[1]) == "first | One. | second");
  const Json body = parse_json(requests[0].body);
  BOOST_TEST(body.string_at("model") == "gpt-5");
  BOOST_TEST(body["reasoning"].string_at("effort") == "low");
  BOOST_TEST(body["reasoning"].string_at("summary") == "concise");

  BOOST_TEST(write_json(steps["streamed"]["story"]) ==
             R"(["thread.started","turn.started","item.started:command_execution",)"
             R"("item.completed:command_execution","item.completed:agent_message",)"
             R"("turn.completed"])");
  BOOST_TEST(std::filesystem::exists(run.workspace() / "made.txt"));

  BOOST_TEST(steps["schema"]["answer"].integer_at("n") == 3);
  BOOST_TEST(steps["images"].string_at("answer") == "An image.");
  BOOST_TEST(texts(requests[5]) == "look\n\nclosely");
  BOOST_TEST(requests[5].body.find("data:image/png;base64,") != std::string::npos);

  BOOST_TEST(steps["abort"].string_at("why") == "AbortError");
  BOOST_TEST(steps["after"].string_at("answer") == "After.");
  BOOST_TEST(texts(requests[7]) == "sixth | seventh");
  BOOST_TEST(steps["refused"].string_at("refused").find("no such model") != std::string::npos);
  BOOST_TEST(steps["outside"].string_at("outside").find("--skip-git-repo-check") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_option_of_the_sdk_does_what_it_says,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const ExecRun run;
  for (const char* name : {"a.png", "b.png"}) run.write(name, images::kPng);
  std::filesystem::create_directory(run.path("beside"));
  const NpmPackages packages = npm_packages();
  ProgramStart start = run.exec({});
  start.argv = {packages.node, SORTIE_SOURCE_DIR "/tests/support/npm/codex_sdk_options.mjs",
                packages.folder.string(), sortie_binary(), run.path("").string()};
  std::filesystem::create_directory(run.path("temporary"));
  start.environment["TMPDIR"] = run.path("temporary").string();

  const ProgramEnd end = run_program(start);

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  std::map<std::string, Json> steps;
  for (Json& step : events_of(end.output)) steps[step.string_at("step")] = std::move(step);
  const auto sent = [&steps](const std::string& step) -> const Json& {
    return steps[step]["sent"]["body"];
  };
  const auto tool_types = [&sent](const std::string& step) {
    std::string types;
    for (const Json& tool : sent(step)["tools"].items()) types += tool.string_at("type") + " ";
    return types;
  };
  // Those that are meant to fail, each with its reason.
  const std::map<std::string, std::string> failures = {
      {"effort persistent", "expected none, minimal, low, medium, high, xhigh or max"},
      {"schema wrong", "--output-schema"},
      {"no image", "none.png"},
      {"unknown thread", "no such thread"},
      {"aborted before", "AbortError"}};
  for (const auto& [name, step] : steps) {
    const auto failure = failures.find(name);
    const std::string error = step.string_at("error");
    BOOST_TEST(holds(error, failure == failures.end() ? "" : failure->second), name << error);
    BOOST_TEST(error.empty() == (failure == failures.end()), name << error);
  }
  for (const std::string effort : {"minimal", "low", "medium", "high", "xhigh", "max"})
    BOOST_TEST(sent("effort " + effort)["reasoning"].string_at("effort") == effort);
  BOOST_TEST(sent("effort ultra")["reasoning"].string_at("effort") == "max");
  for (const char* mode : {"cached", "live", "true"})
    BOOST_TEST(holds(tool_types(std::string("search ") + mode), "web_search"), mode);
  for (const char* mode : {"disabled", "false"})
    BOOST_TEST(!holds(tool_types(std::string("search ") + mode), "web_search"), mode);
  for (const auto& [mode, writes] :
       {std::pair("read-only", false), {"workspace-write", true}, {"danger-full-access", true}}) {
    BOOST_TEST(steps[std::string("sandbox ") + mode]["work"].boolean() == writes, mode);
    BOOST_TEST(steps[std::string("sandbox ") + mode]["beside"].boolean() == writes, mode);
  }
  BOOST_TEST(sent("model").string_at("model") == "gpt-5.1");
  BOOST_TEST(sent("config").string_at("model") == "of-overrides");
  BOOST_TEST(sent("config")["reasoning"].string_at("summary") == "detailed");
  const std::string variables = write_json(sent("config")["input"].items().back());
  BOOST_TEST(holds(variables, "FROM_ENV=of env"));
  BOOST_TEST(holds(variables, R"(FROM_CONFIG=a \"b\" c)"), variables);
  BOOST_TEST(!holds(variables, "CODEX_API_KEY"));
  BOOST_TEST(steps["mine"]["sent"].string_at("url") == "/v1/responses?team=ci");
  const Json& headers = steps["mine"]["sent"]["headers"];
  BOOST_TEST(headers.string_at("x-team") == "sdk");
  BOOST_TEST(headers.string_at("x-from-env") == "of env");
  BOOST_TEST(headers.string_at("authorization") == "Bearer sk-of-the-sdk-0123456789");
  BOOST_TEST(steps["schema"].integer_at("n") == 3);
  BOOST_TEST(steps["schema"].integer_at("left", -1) == 0);
  BOOST_TEST(steps["images"]["usage"].integer_at("input_tokens") == 42);
  BOOST_TEST(write_json(sent("images")).find("data:image") != std::string::npos);
  BOOST_TEST(steps["items"].string_at("kinds") ==
             "agent_message command_execution file_change mcp_tool_call reasoning todo_list "
             "web_search");
  BOOST_TEST(steps["items"]["wrong"].items().empty(), write_json(steps["items"]["wrong"]));
  BOOST_TEST(steps["items"].integer_at("open", -1) == 0);
  BOOST_TEST(steps["items"].string_at("last") == "turn.completed");
  BOOST_TEST(steps["at once"].integer_at("ids") == 3);
  BOOST_TEST(steps["abort and go on"].string_at("why") == "AbortError");
  BOOST_TEST(steps["abort and go on"].string_at("answer") == "Answered.");
  BOOST_TEST(steps.contains("left alone"));
}

BOOST_AUTO_TEST_SUITE_END()

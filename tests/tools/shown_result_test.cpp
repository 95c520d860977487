#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/images/image_file.h"
#include "core/text/base64.h"
#include "tests/support/images.h"
#include "tests/support/temporary_folder.h"
#include "tests/tools/runner_bench.h"
#include "tools/files/view_image.h"
#include "tools/saved_outputs.h"

using namespace sortie;
using namespace sortie::test;
using Types = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(shown_result)

namespace {

struct NarrowView : RunnerBench {
  NarrowView() : RunnerBench({.shown_output = 200}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_record_has_the_first_lines_of_an_output_too, RunnerBench) {
  files.content["a"] = {"one\ntwo\n"};

  const auto read = call("read_file", R"({"path":"a","limit":1})");
  call("shell", R"({"command":["ls"]})");

  const auto outputs = events.data_of("tool.output");
  BOOST_TEST(read.output.text.starts_with("Line"), read.output.text);
  BOOST_TEST(outputs.at(0).string_at("output") == read.output.text);
  BOOST_TEST((outputs.at(0).find("shown") == nullptr));
  // Of a command they are its exit and duration.
  BOOST_TEST(outputs.at(1).string_at("output") == "out\n");
}

BOOST_FIXTURE_TEST_CASE(a_text_that_is_shown_in_part_stands_whole_in_a_file, RunnerBench) {
  const TemporaryFolder folder;
  SavedOutputs outputs(folder.path(), 1u << 20);
  ToolRunner runner(make_tools(), engine, events, redactor, clock,
                    {.shown_output = 200, .outputs = &outputs});
  files.content["short"] = {"short\n"};
  std::string lines;
  for (int i = 1; i <= 300; ++i) lines += "line " + std::to_string(i) + "\n";
  files.content["long"] = {"s3cr3t-value\n" + lines};
  const auto read = [&](const std::string& path) {
    const ToolCall call{"id", "read_file", write_json(Json::object({{"path", path}}))};
    return run_call(runner, events, call).output;
  };

  BOOST_TEST(read("short").text.find("whole output") == std::string::npos);
  const ToolOutput output = read("long");
  const std::string& shown = output.text;

  const auto file = folder / "output-1.txt";
  BOOST_TEST(output.whole == file.string());
  BOOST_TEST(read("short").whole == "");
  BOOST_TEST(
      shown.find("left out; the whole output is in " + file.string() + " …") != std::string::npos,
      shown);
  const std::string whole = read_file(file);
  BOOST_TEST(whole.find("[REDACTED:KEY]") != std::string::npos);
  BOOST_TEST(whole.find("line 150\n") != std::string::npos);
  BOOST_TEST(shown.find("line 150\n") == std::string::npos);
  BOOST_TEST(!std::filesystem::exists(folder / "output-2.txt"));
}

BOOST_FIXTURE_TEST_CASE(secrets_are_replaced_and_long_outputs_cut, NarrowView) {
  files.content["f"] = {"s3cr3t-value\n" + std::string(5000, 'x') + "\nend\n"};

  const auto result = call("read_file", R"({"path":"f"})");

  BOOST_TEST(result.output.text.find("[REDACTED:KEY]") != std::string::npos);
  BOOST_TEST(result.output.text.find("left out …") != std::string::npos);
  BOOST_TEST(result.output.text.size() < 400u);
  const Json record = events.data_of("tool.output").at(0);
  BOOST_TEST(record.string_at("output").find("s3cr3t") == std::string::npos);
  BOOST_TEST(record.string_at("shown") == result.output.text);
  BOOST_TEST(record.integer_at("dropped_bytes") > 1000);
}

BOOST_FIXTURE_TEST_CASE(images_go_with_the_output, RunnerBench) {
  files.content["shot"] = {images::kPng};
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<ViewImage>(files, "/w"));
  ToolRunner runner(std::move(made), engine, events, redactor, clock);

  const auto shown = run_call(runner, events, {"id", "view_image", R"({"path":"shot"})"});

  BOOST_REQUIRE(shown.output.images.size() == 1u);
  BOOST_TEST(shown.output.images[0].base64 == base64_encoded(images::kPng));
}

BOOST_FIXTURE_TEST_CASE(an_image_whose_file_holds_a_secret_is_not_shown, RunnerBench) {
  const struct {
    const char* name;
    std::string behind_the_end;
    std::string note;  ///< "" where it is shown
  } rows[] = {
      {"nothing", "", ""},
      {"something else", "s3cr3t", ""},
      {"a known value", "s3cr3t-value", "[REDACTED:KEY]"},
      {"the same, shifted by one", ".s3cr3t-value", "[REDACTED:KEY]"},
      {"the same, shifted by two", "..s3cr3t-value", "[REDACTED:KEY]"},
      {"the same in hex", "7333637233742d76616c7565", "[REDACTED:KEY]"},
      {"a token of a known shape", "\nghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
       "[REDACTED:github-token]"},
  };
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(std::make_unique<ViewImage>(files, "/w"));
  ToolRunner runner(std::move(made), engine, events, redactor, clock);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      files.content["shot"] = {images::kPng + row.behind_the_end};

      const auto result = run_call(runner, events, {"id", "view_image", R"({"path":"shot"})"});

      BOOST_TEST(result.output.images.size() == (row.note.empty() ? 1u : 0u));
      BOOST_TEST((result.output.text.find("Note: the image is not shown") != std::string::npos) ==
                 !row.note.empty());
      BOOST_TEST(result.output.text.find(row.note) != std::string::npos, result.output.text);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_plan_is_an_event, RunnerBench) {
  call("update_plan", R"({"plan":[{"step":"a","status":"pending"}]})");

  BOOST_TEST((events.types() == Types{"approval", "tool.call", "tool.output", "plan.updated"}));
}

BOOST_AUTO_TEST_SUITE_END()

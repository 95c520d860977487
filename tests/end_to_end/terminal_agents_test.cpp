// ci/benchmarks/terminal: sortie as an installed agent of the harnesses of terminal tasks, in a root file
// system of its own, driven by stand-ins for the harnesses (tests/end_to_end/benchmarks/stubs).
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/end_to_end/command_run.h"
#include "tests/end_to_end/made_batch.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

boost::test_tools::assertion_result can_mount(boost::unit_test::test_unit_id) {
  const bool can =
      ::geteuid() == 0 &&
      run_program({.argv = {"unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"}}).status == 0;
  boost::test_tools::assertion_result result(can);
  if (!can) result.message() << "only root, with the right to mount, can make such a root";
  return result;
}

constexpr const char* kKey = "sk-of-the-harness-0123456789";

/// A harness, a model's server that answers with one command and a message, and the task's container.
class Harness {
 public:
  explicit Harness(std::string name) : name_(std::move(name)) {
    fs::create_directory(folder_ / "cassettes");
    CassetteWriter()
        .shell({"bash", "-c", "echo right > answer.txt; echo out > /outside.txt"})
        .next()
        .message("done")
        .save(folder_ / "recorded.jsonl");
    write_file(folder_ / "cassettes/one.jsonl",
               with_comment(read_file(folder_ / "recorded.jsonl"), "Ticket 1:"));
    server_.emplace(folder_.path());
  }

  ProgramEnd run(const std::vector<std::string>& more = {},
                 std::map<std::string, std::string> variables = {}) const {
    ProgramStart start{.argv = {"python3", "-B", kMadeBatches + "/try_agent.py", name_,
                                (folder_ / "task").string()}};
    start.argv.insert(start.argv.end(), more.begin(), more.end());
    variables.insert({{"SORTIE_BINARY", sortie_binary()},
                      {"SORTIE_CERTIFICATES", ""},
                      {"OPENAI_API_KEY", kKey},
                      {"SORTIE_BASE_URL", server_->url()}});
    start.environment = variables;
    return run_program(start);
  }
  /// A file of the container.
  std::string file(const std::string& name) const {
    return read_file(folder_ / "task/root" / name);
  }
  const fs::path& folder() const { return folder_.path(); }

 private:
  std::string name_;
  TemporaryFolder folder_;
  std::optional<CassetteServer> server_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(terminal_agents)

BOOST_AUTO_TEST_CASE(harbor_gets_the_work_in_its_container_with_tokens_and_cost,
                     *boost::unit_test::precondition(can_mount)) {
  const Harness harness("harbor");

  const ProgramEnd end = harness.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.printed());
  const Json said = parse_json(end.output);
  BOOST_TEST(said.string_at("answer") == "right\n");
  BOOST_TEST(said.string_at("version") == SORTIE_VERSION);
  BOOST_TEST(said["context"]["metadata"].string_at("status") == "success");
  BOOST_TEST(said["context"].integer_at("n_input_tokens") > 0);
  BOOST_TEST(said["context"].integer_at("n_output_tokens") > 0);
  BOOST_TEST(said["context"]["cost_usd"].real().value_or(0) > 0);
  BOOST_TEST(harness.file("outside.txt") == "out\n");
  BOOST_TEST(harness.file("logs/agent/sortie-out/changes.diff").find("+right") != std::string::npos);
  BOOST_TEST(harness.file("logs/agent/sortie-out/transcript.jsonl").find(kKey) == std::string::npos);
  // The instruction came whole, with what a shell would have read.
  BOOST_TEST(harness.file("installed-agent/instruction.md") ==
             "Ticket 1: write 'right' into answer.txt; say \"$HOME\" `id`.\n");
}

BOOST_AUTO_TEST_CASE(terminal_bench_gets_the_work_in_its_container_too,
                     *boost::unit_test::precondition(can_mount)) {
  const Harness harness("terminal-bench");

  const ProgramEnd end = harness.run();

  BOOST_TEST_REQUIRE(end.status == 0, end.printed());
  const Json said = parse_json(end.output);
  BOOST_TEST(said.string_at("answer") == "right\n");
  BOOST_TEST(end.output.find(kKey) == std::string::npos);
  BOOST_TEST(harness.file("agent-logs/sortie-out/result.json").find("\"success\"") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(work_that_the_budget_cut_off_stays_in_the_container,
                     *boost::unit_test::precondition(can_mount)) {
  for (const char* name : {"harbor", "terminal-bench"}) {
    const Harness harness(name);

    const ProgramEnd end = harness.run({"1"});

    BOOST_TEST_REQUIRE(end.status == 0, end.printed());
    BOOST_TEST(parse_json(end.output).string_at("answer") == "right\n", name);
    const std::string logs = std::string(name) == "harbor" ? "logs/agent" : "agent-logs";
    BOOST_TEST(harness.file(logs + "/sortie-out/result.json").find("\"budget\"") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_harness_is_told_what_is_missing, *boost::unit_test::precondition(can_mount)) {
  for (const char* name : {"harbor", "terminal-bench"}) {
    const Harness harness(name);
    const struct {
      const char* binary;
      const char* words;
    } rows[] = {{"", "name sortie's program: binary=PATH, or SORTIE_BINARY"},
                {"/no/sortie", "/no/sortie: no such file"}};
    for (const auto& row : rows) {
      const ProgramEnd end = harness.run({}, {{"SORTIE_BINARY", row.binary}});
      BOOST_TEST(end.status != 0);
      BOOST_TEST(holds(end.errors, row.words), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_install_without_a_program_or_with_one_for_another_machine_says_so) {
  const TemporaryFolder folder;
  const fs::path script = fs::path(SORTIE_SOURCE_DIR) / "ci/benchmarks/terminal/install.sh";
  const auto install = [&] {
    return run_program({.argv = {"sh", script.string()},
                        .environment = {{"SORTIE_INSTALL", folder.path().string()}}});
  };
  const ProgramEnd none = install();
  BOOST_TEST(none.status == 1);
  BOOST_TEST(holds(none.errors, "no " + folder.path().string() + "/sortie; build it with"),
             none.errors);
}

BOOST_AUTO_TEST_SUITE_END()

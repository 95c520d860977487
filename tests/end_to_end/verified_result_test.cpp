#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

// `sortie verify` over result.json.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

ProgramEnd verify(const fs::path& out) {
  return run_program({.argv = {sortie_binary(), "verify", out.string()}});
}

/// A finished run with a denial, a failed verification and one that passed.
struct FinishedRun : RunFolder {
  FinishedRun() {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"rm", "-rf", "/etc"}).next().message("done at once");
    cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done now");
    write("policy.yaml",
          "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: not in this job\n");
    write_task(cassette, "policy: policy.yaml\nverify: {commands: [grep b a.txt], rounds: 2}\n");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(verified_result)

BOOST_AUTO_TEST_CASE(each_member_of_result_json_is_compared_with_the_transcript) {
  const FinishedRun folder;
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const ProgramEnd good = verify(folder.out());
  BOOST_REQUIRE_MESSAGE(good.status == 0, good.errors);
  const Json result = folder.result();
  BOOST_REQUIRE(!result["denials"].items().empty());

  for (const auto& [name, value] : result.members()) {
    BOOST_TEST_CONTEXT(name) {
      Json changed = result;
      changed.set(name, name == "digests" ? Json::object({{"task", "sha256:other"}})
                                          : Json::object({{"another", "value"}}));
      write_file(folder.out() / "result.json", write_json_pretty(changed));

      const ProgramEnd found = verify(folder.out());

      BOOST_TEST(found.status == 8);
      BOOST_TEST(found.errors.find(name == "run_id" ? "of run" : name) != std::string::npos,
                 found.errors);

      Json without = Json::object();
      for (const auto& [other, kept] : result.members())
        if (other != name) without.set(other, kept);
      write_file(folder.out() / "result.json", write_json_pretty(without));
      BOOST_TEST(verify(folder.out()).status == 8);
    }
  }
  Json more = result;
  more.set("approved_by", "somebody");
  write_file(folder.out() / "result.json", write_json_pretty(more));
  BOOST_TEST(verify(folder.out()).errors.find("approved_by") != std::string::npos);

  write_file(folder.out() / "result.json", write_json_pretty(result));
  BOOST_TEST(verify(folder.out()).status == 0);
}

BOOST_AUTO_TEST_CASE(a_result_that_is_missing_or_no_file_is_named) {
  const FinishedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  const fs::path file = folder.out() / "result.json";
  fs::remove(file);

  const ProgramEnd missing = verify(folder.out());
  BOOST_TEST(missing.status == 8);
  BOOST_TEST(missing.errors.find("result.json is missing") != std::string::npos, missing.errors);

  fs::create_symlink("transcript.jsonl", file);
  BOOST_TEST(verify(folder.out()).status == 8);
  fs::remove(file);
  write_file(file, "{\"status\":");
  BOOST_TEST(verify(folder.out()).status == 8);
}

BOOST_AUTO_TEST_CASE(a_result_that_says_running_beside_the_runs_end_is_refused) {
  const FinishedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  Json result = folder.result();
  result.set("status", "running");
  write_file(folder.out() / "result.json", write_json_pretty(result));

  const ProgramEnd end = verify(folder.out());

  BOOST_TEST(end.status == 8);
  BOOST_TEST(end.errors.find("result.json") != std::string::npos, end.errors);
}

BOOST_AUTO_TEST_CASE(the_results_of_runs_of_all_kinds_fit) {
  const struct {
    const char* name;
    const char* task;
    int status;
  } rows[] = {
      {"failed", "policy: auto\nverify: {commands: ['false'], rounds: 0}\n", 1},
      {"nothing to do", "policy: auto\nverify: {commands: ['true'], before: fail}\n", 0},
      {"out of answers", "policy: strict\n", 5},
      {"out of turns", "policy: auto\nbudget: {turns: 1}\n", 4},
      {"cut", "policy: auto\nverify: ['seq 1 100000']\n", 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "echo b > a.txt; seq 1 30000"}).next().message("done");
      folder.write_task(cassette, row.task);

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.status, end.errors);
      const ProgramEnd verified = verify(folder.out());
      BOOST_TEST(verified.status == 0, verified.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_kept_is_compared_too) {
  const RunFolder folder;
  folder.write("work/.gitattributes", "*.bin filter=lfs\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo x > a.bin"}).next().message("done");
  folder.write_task(cassette, "policy: auto\nverify: {commands: ['true'], rounds: 0}\n");
  BOOST_REQUIRE(folder.run().status == 1);
  BOOST_TEST(verify(folder.out()).status == 0);

  folder.write("out/kept/b/more", "x");
  BOOST_TEST(verify(folder.out()).errors.find("kept/b/more was added") != std::string::npos);
  fs::remove_all(folder.out() / "kept/b");
  folder.write("out/blobs/sha256-0", "x");
  BOOST_TEST(verify(folder.out()).errors.find("blobs/sha256-0 was added") != std::string::npos);
  fs::remove_all(folder.out() / "blobs/sha256-0");
  BOOST_TEST(verify(folder.out()).status == 0);

  write_file(folder.out() / "kept/a.bin", "y\n");

  BOOST_TEST(verify(folder.out()).errors.find("kept/a.bin is not what was kept") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_verification_that_is_cut_off_leaves_nothing_of_the_one_before) {
  const struct {
    const char* name;
    const char* first;  ///< how the first verification ends
    const char* more;
  } rows[] = {{"after that of a stage", "true",
               "stages: [{name: one, prompt: x}, verify, {name: two, prompt: y}]\n"},
              {"after a round that failed", "false", ""}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      const std::string marker = "31557600." + std::to_string(::getpid()) + "3";
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      CassetteWriter()
          .shell({"touch", "first"})
          .next()
          .message("one")
          .shell({"touch", "second"})
          .next()
          .message("two")
          .save(folder.path("cassette.jsonl"));
      const std::string prompt = *row.more == '\0' ? "prompt: x\n" : row.more;
      folder.write("task.yaml", "version: 1\n" + prompt +
                                    "policy: auto\nworkspace: {path: work}\n"
                                    "model: {provider: replay, name: gpt-5-codex, "
                                    "cassette: cassette.jsonl}\n"
                                    "verify: ['if test -f second; then sleep " +
                                    marker + "; else " + row.first + "; fi']\n");
      Program run(folder.start());
      const std::string command = "sleep" + std::string(1, '\0') + marker;
      BOOST_REQUIRE(wait_until([&] { return !processes_with(command).empty(); }));
      run.signal(SIGTERM);
      const ProgramEnd end = run.finish();

      BOOST_TEST(end.status == 143, end.errors);
      const Json result = folder.result();
      BOOST_TEST(result["verified"].is_null());
      BOOST_TEST(result["verification"]["after"].is_null());
      BOOST_TEST(result["verification"].integer_at("rounds") == 2);
      const ProgramEnd verified = verify(folder.out());
      BOOST_TEST(verified.status == 0, verified.errors);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

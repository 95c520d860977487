#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(commands)

BOOST_AUTO_TEST_CASE(doctor_says_what_works_here) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      ProgramStart start = start_command(folder, {"doctor", "--json"});
      start.environment["OPENAI_API_KEY"] = "sk-never-shown";

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 0, end.errors << end.output);
      BOOST_TEST(!holds(end.output, "sk-never-shown"));
      const Json report = parse_json(end.output);
      BOOST_TEST(report["layers"]["namespaces"].boolean() == caller.namespaces);
      BOOST_TEST(report["layers"].integer_at("landlock_abi") > 0);
      BOOST_TEST(report["isolation"].string_at("mode") == (caller.namespaces ? "overlay" : "copy"));
      BOOST_TEST(report["own_tree"]["available"].boolean() == caller.namespaces);
      BOOST_TEST(report["own_tree"].string_at("problem").empty() == caller.namespaces);
      for (const char* guarantee : {"writes", "secrets", "network", "processes", "kernel"})
        BOOST_TEST(report["guarantees"][guarantee]["proved"].boolean(), guarantee);
      BOOST_TEST(report["surroundings"].string_at("OPENAI_API_KEY") == "set");
      BOOST_TEST(report["remedy"].is_string() == !caller.namespaces);
      std::set<std::string> layers;
      for (const Json& one : report["remedies"].items()) {
        BOOST_TEST(!one.string_at("why").empty());
        BOOST_TEST(!one.string_at("remedy").empty());
        layers.insert(one.string_at("layer"));
      }
      BOOST_TEST(layers.count("namespaces") == (caller.namespaces ? 0u : 1u));
      BOOST_TEST(layers.count("user") == (report.string_at("user") == "root" ? 1u : 0u));
      for (const char* key : {"version", "kernel", "user", "isolation", "layers", "guarantees",
                              "problem", "remedies", "surroundings", "remedy"})
        BOOST_TEST(report.find(key) != nullptr, key);
    }
  }
}

BOOST_AUTO_TEST_CASE(apply_patch_changes_this_folder_or_nothing) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  const std::string good =
      "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: d/new.txt\n+n\n"
      "*** End Patch\n";
  const std::string bad =
      "*** Begin Patch\n*** Add File: c.txt\n+c\n*** Update File: a.txt\n@@\n-missing\n+b\n"
      "*** End Patch\n";

  const ProgramEnd applied = run_command_in(folder, {"apply-patch"}, good);
  BOOST_TEST(applied.status == 0, applied.errors);
  BOOST_TEST(holds(applied.output, "M a.txt"), applied.output);
  BOOST_TEST(read_file(folder.path("work/a.txt")) == "b\n");
  BOOST_TEST(read_file(folder.path("work/d/new.txt")) == "n\n");

  const auto before = read_tree(folder.workspace());
  for (const std::string& patch :
       {bad, std::string("no patch"),
        std::string("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\n")}) {
    const ProgramEnd refused = run_command_in(folder, {"apply-patch", patch});
    BOOST_TEST(refused.status == 1, patch);
    BOOST_TEST(!refused.errors.empty());
    BOOST_TEST((read_tree(folder.workspace()) == before), patch);
  }
  BOOST_TEST(run_command_in(folder, {"apply-patch"}).status == 2);

  // Patches of generated files are large.
  std::string large = "*** Begin Patch\n*** Add File: large.txt\n";
  while (large.size() < (3u << 20)) large += "+a line of a table\n";
  BOOST_TEST(run_command_in(folder, {"apply-patch"}, large + "*** End Patch\n").status == 0);
  BOOST_TEST(std::filesystem::file_size(folder.workspace() / "large.txt") > (2u << 20));
}

BOOST_AUTO_TEST_CASE(a_signal_leaves_no_part_of_a_patch) {
  constexpr int kFiles = 4'000;
  std::string patch = "*** Begin Patch\n";
  for (int i = 0; i < kFiles; ++i) patch += "*** Add File: f" + std::to_string(i) + "\n+new\n";
  patch += "*** End Patch\n";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const RunFolder folder;
    ProgramStart start = start_command(folder, {"apply-patch"});
    start.input = patch;
    Program program(start);
    const auto files = [&] { return read_tree(folder.workspace()).size(); };
    const std::size_t before = files();
    BOOST_REQUIRE(wait_until([&] { return !std::filesystem::is_empty(folder.workspace()); }));

    program.signal(signal);
    const ProgramEnd end = program.finish();

    const bool applied = end.status == 0;
    BOOST_TEST((applied || end.status == (signal == SIGINT ? 130 : 143)), end.status);
    BOOST_TEST(files() == before + (applied ? kFiles : 0));
  }
}

BOOST_AUTO_TEST_CASE(apply_patch_writes_nothing_of_git) {
  const RunFolder folder;
  folder.commit_workspace();
  std::filesystem::create_directories(folder.path("work/sub"));
  std::filesystem::create_directory_symlink("../.git", folder.path("work/sub/link"));
  const auto before = read_tree(folder.workspace());
  for (const char* name :
       {".git/hooks/pre-commit", ".GIT/hooks/x", "sub/.git/config", "sub/link/hooks/x"}) {
    const ProgramEnd end = run_command_in(
        folder, {"apply-patch"},
        std::string("*** Begin Patch\n*** Add File: ") + name + "\n+x\n*** End Patch\n");
    BOOST_TEST(end.status == 1, name);
    BOOST_TEST(holds(end.errors, "Protected file"), end.errors);
    BOOST_TEST((read_tree(folder.workspace()) == before), name);
  }
  BOOST_TEST(
      run_command_in(folder, {"apply-patch"},
                     "*** Begin Patch\n*** Add File: .github/x\n+x\n*** Add File: .gitignore\n"
                     "+x\n*** End Patch\n")
          .status == 0);
}

BOOST_AUTO_TEST_CASE(policy_check_decides_by_its_status) {
  const RunFolder folder;
  folder.write("bad.yaml", "version: 1\ncomands: []\n");
  const struct {
    Arguments arguments;
    int status;
    const char* says;
  } rows[] = {
      {{"strict"}, 0, "valid, sha256:"},
      {{"strict", "--", "git", "status"}, 0, "allow"},
      {{"strict", "--", "ls", "-la"}, 0, "allow"},
      {{"strict", "--", "rm", "x"}, 3, "deny"},
      {{"strict", "--", "env", "rm", "x"}, 3, "deny"},
      {{"strict", "--", "bash", "-c", "ls; rm x"}, 3, "deny"},
      {{"strict", "--", "./ls"}, 3, "deny"},
      {{"auto", "--", "rm", "x"}, 0, "allow"},
      {{folder.path("bad.yaml").string()}, 2, ""},
      {{folder.path("bad.yaml").string(), "--", "ls"}, 2, ""},
      {{"no-such-preset", "--", "ls"}, 2, ""},
  };
  for (const auto& row : rows) {
    Arguments arguments = {"policy", "check"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProgramEnd end = run_command_in(folder, arguments);
    BOOST_TEST_CONTEXT(row.arguments.back() << ": " << end.output << end.errors) {
      BOOST_TEST(end.status == row.status);
      BOOST_TEST(holds(end.output, row.says));
      BOOST_TEST(end.errors.empty() == (row.status != 2));
    }
  }
  const ProgramEnd bad =
      run_command_in(folder, {"policy", "check", folder.path("bad.yaml").string()});
  BOOST_TEST(holds(bad.errors, "did you mean 'commands'?"), bad.errors);
}

BOOST_AUTO_TEST_CASE(policy_check_batch_answers_each_line_with_one) {
  const RunFolder folder;

  const ProgramEnd end = run_command_in(folder, {"policy", "check", "strict", "--batch"},
                                        "[\"ls\"]\n[\"rm\",\"x\"]\nnot json\n\n[]\n[1]\n{\"a\":1}\n"
                                        "[\"ls\",\"a\\u0000b\"]\n[\"git\",\"status\"]");

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "allow\ndeny\ndeny\ndeny\ndeny\ndeny\ndeny\ndeny\nallow\n");
}

BOOST_AUTO_TEST_CASE(task_check_prints_the_effective_task_and_runs_nothing) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: Mend {{what}}.\nvars: {what: {default: it}}\n"
               "workspace: {path: work}\nverify: ['touch ran']\n");

  const ProgramEnd end =
      run_command_in(folder, {"task", "check", folder.task().string(), "--var", "what=that"});

  BOOST_TEST(end.status == 0, end.errors);
  const Json task = parse_json(end.output);
  BOOST_TEST(task.string_at("prompt") == "Mend that.");
  BOOST_TEST(task.string_at("policy") == "strict");
  BOOST_TEST(task["budget"].integer_at("turns") == 200);
  BOOST_TEST(task["verify"].integer_at("rounds") == 3);
  BOOST_TEST(read_tree(folder.workspace()).empty());

  folder.write("task.yaml", "version: 1\nprompt: a\nverifi: []\nbudget: {turns: 0}\n");
  const ProgramEnd bad = run_command_in(folder, {"task", "check", folder.task().string()});
  BOOST_TEST(bad.status == 2);
  BOOST_TEST(holds(bad.errors,
                   "task.yaml:3:1: error: unknown key 'verifi' in task; did you mean "
                   "'verify'?\n    3 | verifi: []\n"),
             bad.errors);
  BOOST_TEST(holds(bad.errors, "task.yaml:4:17: error: "), bad.errors);
  BOOST_TEST(bad.output.empty());
}

BOOST_AUTO_TEST_CASE(schemas_are_printed_and_what_the_program_writes_fits_them) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\nverify: ['true']\n");
  BOOST_REQUIRE(folder.run().status == 0);
  const auto schema_of = [&](const char* name) {
    const ProgramEnd end = run_command_in(folder, {"schema", name});
    BOOST_TEST(end.status == 0, end.errors);
    const Json schema = parse_json(end.output);
    BOOST_TEST(schema.string_at("$schema") == "https://json-schema.org/draft/2020-12/schema", name);
    return JsonSchema(schema);
  };
  const JsonSchema task = schema_of("task");
  const JsonSchema policy = schema_of("policy");

  BOOST_TEST(task.check(parse_json(R"({"version": 1, "prompt": "x"})")).empty());
  BOOST_TEST(!task.check(parse_json(R"({"version": 1, "promt": "x"})")).empty());
  BOOST_TEST(policy.check(parse_json(R"({"version": 1, "extends": ["strict"]})")).empty());
  BOOST_TEST(!policy.check(parse_json(R"({"version": 1, "extend": ["strict"]})")).empty());
  BOOST_TEST(schema_of("result").check(folder.result()).empty());
  const JsonSchema transcript = schema_of("transcript");
  const std::string lines = folder.artifact("transcript.jsonl");
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    BOOST_TEST(transcript.check(parse_json(line)).empty(), line);
    at = end + 1;
  }
}

BOOST_AUTO_TEST_SUITE_END()

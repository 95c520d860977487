#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/end_to_end/best_of_run.h"

// What reports know of secrets that no variable of the caller holds.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

const std::string kFileKey = "sk-loopback-4f3e2d1c-from-a-file";
constexpr const char* kReports[] = {"report.html", "summary.md"};

/// A policy that lets a diff have secrets.
void write_lax_policy(const RunFolder& folder) {
  folder.write("lax.yaml", "version: 1\nextends: auto\nredact: {on_leak: report}\n");
  folder.write("key", kFileKey + "\n");
}

void check_reports(const RunFolder& folder) {
  BOOST_TEST(holds(folder.artifact("changes.diff"), kFileKey));
  for (const char* name : kReports) BOOST_TEST(!holds(folder.artifact(name), kFileKey), name);
  BOOST_TEST(holds(folder.artifact("report.html"), "[REDACTED:OPENAI_API_KEY]"));
}

/// A run whose record was changed afterwards: it holds the text.
struct ForgedRun : RunFolder {
  explicit ForgedRun(const std::string& text, const std::string& policy = {}) {
    write("work/a.txt", "a\n");
    commit_workspace();
    write("policy.yaml", "version: 1\nextends: auto\n" + policy);
    write_task(CassetteWriter().shell({"echo", "to-be-forged"}).next().message("to-be-forged"),
               "policy: policy.yaml\nexpect: {changes: any}\n");
    BOOST_REQUIRE(run().status == 0);
    std::string record = artifact("transcript.jsonl");
    const std::string placeholder = "to-be-forged";
    for (std::size_t at = 0; (at = record.find(placeholder, at)) != record.npos; at += text.size())
      record.replace(at, placeholder.size(), text);
    write_file(out() / "transcript.jsonl", record);
    write_file(out() / "last-message.txt", text + "\n");
  }

  /// All that the commands tell of it.
  std::string told(const std::vector<std::string>& flags) const {
    std::string all;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"report", "--format", "html"},
          {"report", "--format", "summary"},
          {"report", "--format", "junit"},
          {"show", "-v"}}) {
      ProgramStart start{.argv = {sortie_binary()}, .folder = workspace()};
      start.argv.insert(start.argv.end(), command.begin(), command.end());
      start.argv.push_back(out().string());
      start.argv.insert(start.argv.end(), flags.begin(), flags.end());
      const ProgramEnd end = run_program(start);
      BOOST_TEST(end.status == 0, command[0] + ": " + end.errors);
      all += end.output;
    }
    return all;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(report_secrets)

BOOST_AUTO_TEST_CASE(the_secrets_of_files_are_not_told_of_a_forged_record) {
  const ForgedRun folder(kFileKey);
  folder.write("key", kFileKey + "\n");
  folder.write("auth.json", R"({"OPENAI_API_KEY": ")" + kFileKey + R"("})");
  fs::permissions(folder.path("auth.json"), fs::perms::owner_read | fs::perms::owner_write);

  const std::string unknown = folder.told({});
  const std::string key = folder.told({"--api-key-file", folder.path("key").string()});
  const std::string sign_in = folder.told({"--auth-file", folder.path("auth.json").string()});

  BOOST_TEST(holds(unknown, kFileKey));  // it is in the record
  for (const std::string& text : {key, sign_in}) {
    BOOST_TEST(!holds(text, kFileKey), text);
    BOOST_TEST(holds(text, "[REDACTED:OPENAI_API_KEY]"));
  }
}

BOOST_AUTO_TEST_CASE(the_secrets_of_git_and_of_the_policy_are_not_told_of_a_forged_record) {
  const ForgedRun folder("a-header-secret-1 and ACME-12345678",
                         "redact: {patterns: ['ACME-[0-9]{8}']}\n");
  const fs::path config = folder.workspace() / ".git/config";
  write_file(config, read_file(config) +
                         "[http \"https://example.com/\"]\n"
                         "\textraheader = PRIVATE-TOKEN: a-header-secret-1\n");

  const std::string told = folder.told({});

  BOOST_TEST(!holds(told, "a-header-secret-1"), told);
  BOOST_TEST(!holds(told, "ACME-12345678"), told);
  BOOST_TEST(holds(told, "[REDACTED:git-config] and [REDACTED:pattern-1]"));
}

BOOST_AUTO_TEST_CASE(a_key_that_can_not_be_read_makes_no_report) {
  const ForgedRun folder("nothing");
  const std::string before = folder.artifact("report.html");

  const ProgramEnd end = run_program({.argv = {sortie_binary(), "report", folder.out().string(),
                                               "--api-key-file", folder.path("none").string()}});

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, "--api-key-file"), end.errors);
  BOOST_TEST((folder.artifact("report.html") == before));
}

BOOST_AUTO_TEST_CASE(reports_of_several_attempts_know_the_key_of_a_file) {
  const std::string line = "+good " + kFileKey + "\n";
  for (const char* source : {"a file", "a pipe"}) {
    BOOST_TEST_CONTEXT(source) {
      const ScriptedServer server(
          {{"mark-one", work_of("mark-one", line)}, {"mark-two", work_of("mark-two", line)}});
      const BestOfRun run("{count: 2}");
      run.write("work/a.txt", "a\n");
      run.commit_workspace();
      write_lax_policy(run);
      const std::string policy = run.path("lax.yaml").string();
      ProgramStart start =
          run.start(server.url(), {"--policy", policy, "--api-key-file", run.path("key").string()});
      if (std::string(source) == "a pipe") {
        start = run.start(server.url(), {"--policy", policy, "--api-key-fd", "0"});
        start.argv.insert(start.argv.begin(),
                          {"sh", "-c", "echo " + kFileKey + " | \"$0\" \"$@\""});
      }

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      check_reports(run);
    }
  }
}

BOOST_AUTO_TEST_CASE(reports_of_a_diff_that_is_applied_later_know_the_key_of_a_file) {
  CassetteWriter cassette;
  cassette.patch("*** Begin Patch\n*** Update File: a.txt\n-a\n+" + kFileKey + "\n*** End Patch\n");
  ModelServer server(served(cassette.next().message("done")));
  const ProviderRun run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write_task();
  write_lax_policy(run);
  const std::vector<std::string> flags = {"--policy", run.path("lax.yaml").string(),
                                          "--api-key-file", run.path("key").string()};
  BOOST_TEST(run.run(server, flags).status == 0);
  check_reports(run);

  std::vector<std::string> late = flags;
  late.insert(late.end(), {"--apply", "--reuse", "success"});
  const ProgramEnd end = run.run(server, late);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(run.artifact("report.html"), "; applied to the workspace"));
  check_reports(run);
}

BOOST_AUTO_TEST_SUITE_END()

#include "policies/engine/approver.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "tests/policies/policies.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace std::chrono_literals;
using Verdict = ApproverAnswer::Verdict;

namespace {

struct Fixture {
  Fixture() {
    std::signal(SIGPIPE, SIG_IGN);
    policy.approver = PolicyApprover{.command = {"./approve.sh"}, .folder = folder.path()};
  }
  void write_script(const std::string& body, const std::string& name = "approve.sh") const {
    write_file(folder.path() / name, "#!/bin/sh\n" + body);
    ::chmod((folder.path() / name).c_str(), 0755);
  }
  ApproverAnswer ask(const std::string& body, std::chrono::milliseconds time_left = 1h) {
    write_script(body);
    return ask_as_is(time_left);
  }
  ApproverAnswer ask_as_is(std::chrono::milliseconds time_left = 1h) {
    ProgramApprover approver(policy, own, {"/usr/bin", folder.path()}, redactor,
                             [this](const std::string& line) { said.push_back(line); });
    return approver.ask(request, time_left, {});
  }

  test::TemporaryFolder folder;
  Policy policy;
  Environment own = {{"PATH", "/usr/bin:/bin"},
                     {"HOME", "/root"},
                     {"LC_TOKEN", "t0ken-value"},
                     {"MY_SETTING", "x"},
                     {"OPENAI_API_KEY", "k"}};
  Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  Json request = Json::object({{"call", Json::object({{"arguments", "s3cr3t-value"}})}});
  std::vector<std::string> said;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(approver, Fixture)

BOOST_AUTO_TEST_CASE(an_answer_is_one_json_object_and_nothing_else) {
  const struct {
    const char* text;
    Verdict verdict;
    const char* says;  ///< reason, or a part of the failure
  } rows[] = {
      {R"({"decision":"allow"})", Verdict::allow, ""},
      {R"({"decision":"allow","reason":"fine"})", Verdict::allow, "fine"},
      {" \n{\"decision\":\"always\",\"reason\":\"\"}\n\n", Verdict::always, ""},
      {R"({"decision":"deny","reason":"no"})", Verdict::deny, "no"},
      {R"({"decision":"abort","reason":"stop it"})", Verdict::abort, "stop it"},
      {"", Verdict::deny, "not one JSON object"},
      {"allow", Verdict::deny, "not one JSON object"},
      {R"("allow")", Verdict::deny, "not one JSON object"},
      {R"([{"decision":"allow"}])", Verdict::deny, "not one JSON object"},
      {R"({"decision":"allow"} {"decision":"deny"})", Verdict::deny, "not one JSON object"},
      {R"(ok {"decision":"allow"})", Verdict::deny, "not one JSON object"},
      {R"({"decision":"allow","decision":"deny"})", Verdict::deny, "not one JSON object"},
      {R"({"decision":"allow")", Verdict::deny, "not one JSON object"},
      {R"({"decision":"yes"})", Verdict::deny, "not one of allow, deny, always and abort: 'yes'"},
      {R"({"decision":"Allow"})", Verdict::deny, "'Allow'"},
      {R"({"decision":true})", Verdict::deny, "not one of"},
      {R"({"reason":"fine"})", Verdict::deny, "not one of"},
      {R"({"decision":"allow","reason":1})", Verdict::deny, "not a string"},
      {R"({"decision":"allow","until":"noon"})", Verdict::deny, "unknown member 'until'"},
      {"{\"decision\":\"allow\",\"reason\":\"\xff\"}", Verdict::deny, "not one JSON object"},
  };
  const JsonSchema schema(approver_answer_schema());
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const ApproverAnswer answer = read_answer(row.text);
      BOOST_TEST((answer.verdict == row.verdict));
      const std::string text = answer.failure.empty() ? answer.reason : answer.failure;
      BOOST_TEST(text.find(row.says) != std::string::npos, text);
      // What is taken as an answer fits the schema that is published, and the other way round.
      bool fits = false;
      try {
        fits = schema.check(parse_json(row.text)).empty();
      } catch (const JsonError&) {
      }
      BOOST_TEST(fits == answer.failure.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(whatever_the_program_does_there_is_an_answer) {
  policy.approver->timeout = 20s;
  const struct {
    const char* script;
    Verdict verdict;
    const char* says;
  } rows[] = {
      {"cat > request; echo '{\"decision\":\"allow\",\"reason\":\"fine\"}'", Verdict::allow,
       "fine"},
      {"echo '{\"decision\":\"deny\",\"reason\":\"not on my watch\"}'", Verdict::deny,
       "not on my watch"},
      {"echo '{\"decision\":\"always\"}'", Verdict::always, ""},
      {"echo '{\"decision\":\"abort\"}'", Verdict::abort, ""},
      {"echo '{\"decision\":\"allow\"}'; exit 1", Verdict::deny, "exit code 1"},
      {"echo '{\"decision\":\"allow\"}'; kill -SEGV $$", Verdict::deny, "signal 11"},
      {"echo allow", Verdict::deny, "not one JSON object"},
      {"true", Verdict::deny, "not one JSON object"},
      {"head -c 70000 /dev/zero", Verdict::deny, "longer than 64 KiB"},
      {"printf '{\"decision\":\"allow\",\"reason\":\"'; head -c 70000 /dev/zero | tr '\\0' x;"
       "echo '\"}'",
       Verdict::deny, "longer than 64 KiB"},
      {"(setsid sleep 1000 &) ; echo '{\"decision\":\"allow\"}'", Verdict::allow, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.script) {
      const ApproverAnswer answer = ask(row.script);
      BOOST_TEST((answer.verdict == row.verdict), answer.failure);
      const std::string text = answer.failure.empty() ? answer.reason : answer.failure;
      BOOST_TEST(text.find(row.says) != std::string::npos, text);
    }
  }
}

BOOST_AUTO_TEST_CASE(it_is_waited_for_no_longer_than_its_limit_and_the_runs_time) {
  policy.approver->timeout = 250ms;
  BOOST_TEST(ask("sleep 1000").failure == "it gave no answer within 250 ms");
  policy.approver->timeout = 1h;
  const ApproverAnswer answer = ask("sleep 1000", 250ms);
  BOOST_TEST(answer.failure == "the run's time was up before it answered");
  BOOST_TEST(answer.duration.count() >= 250);
  BOOST_TEST((ask("echo '{\"decision\":\"allow\"}'", 0ms).verdict == Verdict::deny));
}

BOOST_AUTO_TEST_CASE(it_gets_the_request_without_secrets_in_its_folder_with_core_variables_alone) {
  ask("cat > request; env | cut -d= -f1 | sort > names; pwd > place;"
      "echo '{\"decision\":\"allow\",\"reason\":\"seen s3cr3t-value\"}';"
      "echo 'the s3cr3t-value' >&2; echo second >&2");

  const auto text = [&](const char* name) { return read_file(folder.path() / name, 4096); };
  BOOST_TEST(text("request") == "{\"call\":{\"arguments\":\"[REDACTED:KEY]\"}}\n");
  BOOST_TEST(text("names") == "HOME\nPATH\nPWD\n");
  BOOST_TEST(text("place") == folder.path().string() + "\n");
  BOOST_TEST(
      (said == std::vector<std::string>{"approver: the [REDACTED:KEY]", "approver: second"}));
  BOOST_TEST(ask("echo '{\"decision\":\"allow\",\"reason\":\"s3cr3t-value\"}'").reason ==
             "[REDACTED:KEY]");
}

BOOST_AUTO_TEST_CASE(its_program_is_a_neighbour_of_the_policy_or_found_by_its_name) {
  write_script("echo '{\"decision\":\"allow\"}'", "found-by-name");
  policy.approver->command = {"found-by-name"};
  BOOST_TEST((ask_as_is().verdict == Verdict::allow));
  policy.approver->command = {"sh", "found-by-name"};
  BOOST_TEST((ask_as_is().verdict == Verdict::allow));
  policy.approver->command = {"no-such-program"};
  BOOST_TEST(ask_as_is().failure.find("there is no 'no-such-program'") != std::string::npos);
  policy.approver->command = {"./no-such-program"};
  BOOST_TEST(ask_as_is().failure.find("could not be started: No such file") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(its_files_are_known_so_that_the_run_can_not_write_them) {
  write_script("");
  std::filesystem::create_symlink("approve.sh", folder.path() / "link");
  policy.approver->command = {"python3", "./approve.sh", "--flag", "link"};

  const auto files = approver_files(policy);

  BOOST_TEST((files == std::vector<std::filesystem::path>{folder.path() / "approve.sh",
                                                          folder.path() / "link",
                                                          folder.path() / "approve.sh"}));
  BOOST_TEST(approver_files(Policy{}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

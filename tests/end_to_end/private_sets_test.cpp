// What a run's ordinary commands leave in HOME and in /tmp, and who finds it.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/end_to_end/served_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kLeaveMarks = "for d in $HOME $TMPDIR; do echo x > $d/mark; done";
constexpr const char* kFindNone =
    "for d in $HOME $TMPDIR; do test ! -e $d/mark || exit 1; echo x > $d/mark; done\n";
constexpr const char* kFindAll = "test -e $HOME/mark && test -e $TMPDIR/mark\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(private_sets)

BOOST_AUTO_TEST_CASE(each_verification_begins_with_empty_places_that_its_commands_share) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/none.sh", kFindNone);
      folder.write("work/all.sh", kFindAll);
      folder.commit_workspace();
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", kLeaveMarks}).next();
      for (int i = 0; i < 2; ++i) cassette.call("run_tests", Json::object()).next();
      cassette.shell({"sh", "all.sh"}).next();
      folder.write_task(cassette.message("done"),
                        "policy: auto\nexpect: {changes: any}\n"
                        "verify: [sh none.sh, sh all.sh]\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 4u);
      for (const Json& output : outputs)
        BOOST_TEST(output["success"].boolean(), output.string_at("shown"));
      BOOST_TEST(folder.result()["verified"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_escalated_command_obeys_no_file_that_others_left) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/none.sh", kFindNone);
      folder.write("work/all.sh", kFindAll);
      folder.commit_workspace();
      folder.write("policy.yaml",
                   "version: 1\nextends: auto\nescalation: rules\ncommands:\n"
                   "  - allow: [sh, none.sh]\n    escalate: true\n    sandbox: {network: full}\n");
      CassetteWriter cassette;
      const auto escalated = Json::object(
          {{"command", Json::array({"sh", "none.sh"})}, {"with_escalated_permissions", true}});
      cassette.shell({"sh", "-c", kLeaveMarks}).next();
      for (int i = 0; i < 2; ++i) cassette.call("shell", escalated).next();
      cassette.shell({"sh", "all.sh"}).next();
      folder.write_task(cassette.message("done"), "policy: policy.yaml\nexpect: {changes: any}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 4u);
      for (const Json& output : outputs)
        BOOST_TEST(output["success"].boolean(), output.string_at("shown"));
      BOOST_TEST(outputs[1].string_at("shown").find("reaches the network") != std::string::npos,
                 outputs[1].string_at("shown"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_is_started_anew_runs_nothing_that_commands_left) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const ServedFolder folder;
      CassetteWriter cassette;
      cassette
          .shell({"sh", "-c",
                  "d=$(python3 -m site --user-site) && mkdir -p $d && "
                  "echo 'open(\"planted\", \"w\")' > $d/usercustomize.py && python3 -c pass && "
                  "rm planted"})
          .next();
      for (int i = 0; i < 2; ++i)
        cassette.call("mcp__one__echo", Json::object({{"text", "hello"}})).next();
      cassette.shell({"test", "!", "-e", "planted"}).next();
      folder.write_task(cassette.message("done"), ServedFolder::server("die_once"));

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(
          (folder.states() == std::vector<std::string>{"started", "died", "restarted", "ended"}));
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 4u);
      BOOST_TEST(outputs[0]["success"].boolean(), outputs[0].string_at("shown"));
      BOOST_TEST(outputs[3]["success"].boolean(), outputs[3].string_at("shown"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include "tools/approval_gate.h"

#include <boost/test/unit_test.hpp>
#include <deque>

#include "core/base/error.h"
#include "core/json/flow_yaml.h"
#include "core/json/json_schema.h"
#include "policies/file/policy_loader.h"
#include "policies/review/rule_line.h"

using namespace sortie;
using Verdict = ApproverAnswer::Verdict;

namespace {

constexpr const char* kWorkspace = "/w";

/// A tool that wants what its arguments say: {"commands": [argv, …], "write": [path, …]}.
class Wanting : public Tool {
 public:
  explicit Wanting(std::string name) { spec_.name = std::move(name); }
  std::vector<Action> actions(const Json& arguments) const override {
    if (arguments["fail"].boolean()) throw Error("the disk is gone");
    if (arguments["nonsense"].boolean()) throw ToolError("names nothing");
    std::vector<Action> actions;
    for (const Json& argv : arguments["commands"].items()) {
      RunCommand command{.workdir = kWorkspace};
      for (const Json& word : argv.items()) command.argv.push_back(word.text());
      actions.push_back(std::move(command));
    }
    for (const Json& path : arguments["write"].items()) actions.push_back(WritePath{path.text()});
    return actions;
  }
  ToolResult run(const Json&, std::stop_token) override { return {}; }
};

/// Answers from a list and keeps what it was asked.
class Scripted : public Approver {
 public:
  std::deque<ApproverAnswer> answers;
  std::vector<Json> requests;
  std::vector<std::chrono::milliseconds> times;

  ApproverAnswer ask(const Json& request, std::chrono::milliseconds time_left,
                     std::stop_token) override {
    requests.push_back(request);
    times.push_back(time_left);
    BOOST_REQUIRE(!answers.empty());
    ApproverAnswer answer = answers.front();
    answers.pop_front();
    return answer;
  }
};

struct Fixture {
  CallDecision judge(const std::string& arguments, const char* tool_name = "shell") {
    return judge_by(judge_, arguments, tool_name);
  }
  CallDecision judge_by(ApprovalGate& by, const std::string& arguments,
                        const char* tool_name = "shell") {
    const Wanting tool(tool_name);
    return by.decide(tool, {.call_id = "c1", .name = tool_name}, parse_json(arguments), 3, {});
  }
  void answer(Verdict verdict, const std::string& reason = {}, const std::string& failure = {}) {
    approver.answers.push_back({verdict, reason, failure, std::chrono::milliseconds(40)});
  }

  Scripted approver;
  Policy policy = [] {
    return parse_policy(
        "version: 1\nname: mine\nextends: strict\ncommands:\n  - deny: [git, push]\n"
        "  - forbid: [mkfs]\n",
        "policy.yaml", "/");
  }();
  Engine engine{policy, Approval::deny_by_default, kWorkspace, "/out", {"/usr/bin"}};
  ApprovalGate judge_{engine, {.approver = &approver, .run_id = "run", .time_left = [] {
                                 return std::chrono::milliseconds(1234);
                               }}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(approval_gate, Fixture)

BOOST_AUTO_TEST_CASE(nobody_is_asked_about_what_is_allowed_denied_by_a_rule_or_by_a_fixed_limit) {
  const struct {
    const char* arguments;
    Effect effect;
  } rows[] = {
      {R"({"commands":[["ls"]]})", Effect::allow},
      {R"({"commands":[["git","push"]]})", Effect::deny},
      {R"({"commands":[["mkfs","x"]]})", Effect::forbid},
      {R"({"commands":[["sudo","git","push"]]})", Effect::deny},
      {R"({"commands":[["nohup","ls"]]})", Effect::deny},
      {R"({"commands":[["./x"]]})", Effect::deny},
      {R"({"commands":[[]]})", Effect::deny},
      {R"({"commands":[["bash","-c","cargo test $x"]]})", Effect::deny},
      {R"({"commands":[["cargo","test"],["git","push"]]})", Effect::deny},
      {R"({"commands":[["cargo","test"],["nohup","ls"]]})", Effect::deny},
      {R"({"write":[".git/config"]})", Effect::deny},
      {R"({"write":["/elsewhere"]})", Effect::deny},
      {R"({"commands":[["cargo","test"]],"write":["/elsewhere"]})", Effect::deny},
      {R"({"fail":true})", Effect::deny},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.arguments) {
      const CallDecision judgement = judge(row.arguments);
      BOOST_TEST((judgement.decision.effect == row.effect));
      BOOST_TEST(judgement.record["approver"].is_null());
      BOOST_TEST(judgement.record.string_at("decision") == name_of(row.effect));
    }
  }
  BOOST_TEST(approver.requests.empty());
}

BOOST_AUTO_TEST_CASE(the_approver_decides_where_no_rule_matched_and_the_record_says_so) {
  const struct {
    ApproverAnswer answer;
    Effect effect;
    const char* reason;
  } rows[] = {
      {{Verdict::allow, "fine", "", {}}, Effect::allow, "the approver allowed it: fine"},
      {{Verdict::allow, "", "", {}}, Effect::allow, "the approver allowed it"},
      {{Verdict::deny, "no", "", {}}, Effect::deny, "the approver denied it: no"},
      {{Verdict::abort, "stop", "", {}}, Effect::forbid, "the approver ended the run: stop"},
      {{Verdict::deny, "", "it hung", {}},
       Effect::deny,
       "the approver was asked and gave no valid answer: it hung"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.reason) {
      approver.answers = {row.answer};
      const CallDecision judgement = judge(R"({"commands":[["cargo","test","-q"]]})");
      BOOST_TEST((judgement.decision.effect == row.effect));
      BOOST_TEST(judgement.decision.reason == row.reason);
      const Json& record = judgement.record["approver"];
      BOOST_TEST(record.string_at("decision") == name_of(row.answer.verdict));
      BOOST_TEST(record["duration_ms"].is_number());
      BOOST_TEST(record.string_at("failure") == row.answer.failure);
      BOOST_TEST(judgement.record.string_at("would_allow_yaml") ==
                 "commands: [{allow: [cargo, test]}]");
    }
  }
  BOOST_TEST(approver.times.at(0).count() == 1234);
}

BOOST_AUTO_TEST_CASE(the_request_says_all_of_the_call) {
  answer(Verdict::deny);
  judge(R"({"commands":[["ls"],["cargo","test","-q"],["rm","../x"]]})");

  const Json& request = approver.requests.at(0);
  const auto findings = JsonSchema(approver_request_schema()).check(request);
  BOOST_TEST(findings.empty(), describe(findings));
  BOOST_TEST(request.string_at("run_id") == "run");
  BOOST_TEST(request.string_at("policy") == "mine");
  BOOST_TEST(request.integer_at("turn") == 3);
  BOOST_TEST(request["call"].string_at("id") == "c1");
  BOOST_TEST(request["call"].string_at("tool") == "shell");
  BOOST_TEST(request["call"]["arguments"]["commands"].items().size() == 3u);
  BOOST_TEST(request.string_at("workspace") == "/w");
  BOOST_TEST(request["actions"].items().size() == 4u);
  BOOST_TEST(write_json(request["unmatched"]) ==
             R"([{"kind":"run_command","argv":["cargo","test","-q"],"workdir":"/w"},)"
             R"({"kind":"run_command","argv":["rm","../x"],"workdir":"/w"}])");
  BOOST_TEST(request.string_at("reason") == "no rule allows cargo");
  BOOST_TEST(write_json(request["audit_flags"]) == R"(["path_traversal","destructive_command"])");
  BOOST_TEST(write_json(request["always"]) ==
             R"([{"prefix":["cargo","test"]},{"argv":["rm","../x"],"workdir":"/w"}])");
  BOOST_TEST(flow_yaml_lines(request["would_allow"]) ==
             "commands: [{allow: [cargo, test]}, {allow: [rm, ../x]}]");
}

BOOST_AUTO_TEST_CASE(always_holds_for_its_key_to_the_end_of_the_run) {
  answer(Verdict::always, "tests are fine");
  BOOST_TEST((judge(R"({"commands":[["cargo","test"]]})").decision.effect == Effect::allow));

  const CallDecision again = judge(R"({"commands":[["cargo","test","-q"]]})");
  BOOST_TEST((again.decision.effect == Effect::allow));
  BOOST_TEST(again.record["approver"]["remembered"].boolean());
  BOOST_TEST(approver.requests.size() == 1u);

  answer(Verdict::deny);
  BOOST_TEST((judge(R"({"commands":[["cargo","install"]]})").decision.effect == Effect::deny));
  answer(Verdict::deny);
  BOOST_TEST(
      (judge(R"({"commands":[["cargo","test"],["rm","x"]]})").decision.effect == Effect::deny));
  BOOST_TEST(approver.requests.size() == 3u);
  // A rule still denies what it denies, and another run knows nothing of it.
  BOOST_TEST(
      (judge(R"({"commands":[["cargo","test"],["git","push"]]})").decision.effect == Effect::deny));
  ApprovalGate other(engine, {.approver = &approver});
  answer(Verdict::deny);
  BOOST_TEST(
      (judge_by(other, R"({"commands":[["cargo","test"]]})").decision.effect == Effect::deny));
}

BOOST_AUTO_TEST_CASE(a_tool_that_no_rule_allows_is_asked_about_too) {
  answer(Verdict::always);
  BOOST_TEST((judge(R"({"commands":[["ls"]]})", "mcp:x/y").decision.effect == Effect::allow));
  BOOST_TEST(write_json(approver.requests.at(0)["always"]) == R"([{"tool":"mcp:x/y"}])");
  BOOST_TEST((judge(R"({"commands":[["ls"]]})", "mcp:x/y").decision.effect == Effect::allow));
  answer(Verdict::deny);
  BOOST_TEST((judge(R"({"commands":[["ls"]]})", "mcp:x/z").decision.effect == Effect::deny));
}

BOOST_AUTO_TEST_CASE(without_an_approver_and_in_other_modes_nobody_is_asked) {
  ApprovalGate alone(engine);
  const CallDecision denied = judge_by(alone, R"({"commands":[["cargo","test"]]})");
  BOOST_TEST((denied.decision.effect == Effect::deny));
  BOOST_TEST(denied.record.string_at("would_allow_yaml") == "commands: [{allow: [cargo, test]}]");

  Engine open(policy, Approval::full_auto, kWorkspace, "/out", {"/usr/bin"});
  ApprovalGate generous(open, {.approver = &approver});
  BOOST_TEST((judge_by(generous, R"({"write":["/elsewhere"]})").decision.effect == Effect::deny));
  BOOST_TEST(approver.requests.empty());
}

BOOST_AUTO_TEST_CASE(audit_lets_it_run_and_records_what_strict_rules_say) {
  Engine audit(policy, Approval::audit, kWorkspace, "/out", {"/usr/bin"});
  ApprovalGate auditing(audit, {.approver = &approver});
  const struct {
    const char* arguments;
    const char* decision;
    bool audited;
    const char* strict;
    const char* yaml;
  } rows[] = {
      {R"({"commands":[["ls"]]})", "allow", false, "", ""},
      {R"({"commands":[["cargo","test"]]})", "allow", true, "deny",
       "commands: [{allow: [cargo, test]}]"},
      {R"({"commands":[["ls"],["cargo","test"]]})", "allow", true, "deny",
       "commands: [{allow: [cargo, test]}]"},
      {R"({"commands":[["cargo","test"],["git","push"]]})", "allow", true, "deny", ""},
      {R"({"commands":[["mkfs","x"]]})", "allow", true, "forbid", ""},
      {R"({"commands":[["nohup","ls"]]})", "allow", true, "deny", ""},
      {R"({"write":[".git/config"]})", "deny", false, "", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.arguments) {
      const Json record = judge_by(auditing, row.arguments).record;
      BOOST_TEST(record.string_at("decision") == row.decision);
      BOOST_TEST(record["audited"].boolean() == row.audited);
      BOOST_TEST(record.string_at("strict") == row.strict);
      BOOST_TEST(record.string_at("would_allow_yaml") == row.yaml);
    }
  }
  BOOST_TEST(approver.requests.empty());
}

BOOST_AUTO_TEST_CASE(a_denied_tools_call_is_taken_apart_all_the_same) {
  ApprovalGate alone(engine);
  const CallDecision judgement = judge_by(alone, R"({"commands":[["rm","-rf","/"]]})", "mcp:x/y");

  BOOST_TEST((judgement.decision.effect == Effect::deny));
  BOOST_TEST(judgement.actions.size() == 2u);
  BOOST_TEST(write_json(judgement.flags) == R"(["system_path","destructive_command"])");
  BOOST_TEST((judge_by(alone, R"({"nonsense":true})", "mcp:x/y").decision.effect == Effect::deny));
  BOOST_CHECK_THROW(judge_by(alone, R"({"nonsense":true})"), ToolError);
}

BOOST_AUTO_TEST_SUITE_END()

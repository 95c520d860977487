// What a CI system's log gets of texts that others have written, from every command.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Arguments = std::vector<std::string>;

struct System {
  const char* variable;
  std::vector<std::string> anywhere;  ///< signs that it obeys wherever they stand
  bool colons = false;                ///< also "::" at a line's beginning
};

const std::vector<System> kSystems = {
    {"GITHUB_ACTIONS", {"##["}, true},
    {"TF_BUILD", {"##[", "##vso["}},
    {"TEAMCITY_VERSION", {"##teamcity["}},
    {"GITLAB_CI", {"section_start:", "section_end:"}},
};

/// Every system's signs, in one line.
const std::string kSigns =
    "##vso[task.x]y ##[error]e ##teamcity[z] section_start:1:a section_end:1:a";
const std::string kColons = "::add-mask::x\n::stop-commands::y\n  ::set-output name=a::b";

/// The line behind the beginning of a note of sortie's own.
std::string_view behind_own_note(std::string_view line) {
  for (const std::string_view own : {"::error ", "::warning ", "##vso[task.logissue type="})
    if (line.starts_with(own)) return line.substr(own.size());
  return line;
}

/// The first line that the system would obey, beside sortie's own notes; "" where there is none.
std::string obeyed(const System& system, const std::string& text) {
  for (const auto whole : split_lines(text)) {
    const auto line = behind_own_note(whole);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (system.colons && first != std::string_view::npos && line.substr(first).starts_with("::"))
      return std::string(line);
    for (const auto& sign : system.anywhere)
      if (line.find(sign) != std::string_view::npos) return std::string(line);
  }
  return "";
}

std::string quoted(const std::string& text) { return write_json(Json(text)); }

/// A repository, a task, policies and a record whose every text is hostile.
class HostilePlace {
 public:
  HostilePlace() {
    folder_.write("work/" + kSigns, "text\n");
    folder_.commit_workspace();
    folder_.write("policy.yaml",
                  "version: 1\nextends: auto\nbounds: {mcp: [node]}\ncommands:\n  - deny: [foo, " +
                      quoted(kSigns) + "]\n    why: " + quoted(kSigns) +
                      "\n    examples: {match: [[foo, " + quoted(kSigns) + "]]}\n");
    folder_.write("tight.yaml",
                  "version: 1\nextends: strict\ncommands:\n  - deny: [cat]\n    why: " +
                      quoted(kColons) + "\n");
    folder_.write("bad-policy.yaml", "version: 1\ncommands:\n  - allow: [" + quoted(kSigns) +
                                         ", 1: 2]\n" + quoted(kSigns) + ": x\n");
    folder_.write("bad-task.yaml", "version: 1\nprompt: '{{" + kSigns + "}}'\n" + quoted(kSigns) +
                                       ": 1\nname: " + quoted(kSigns) + "\n");
    folder_.write("git.yaml", "version: 1\nprompt: '{{git.sha}}'\n");
    folder_.write_task(CassetteWriter()
                           .shell({"cat", kSigns})
                           .shell({"touch", kSigns})
                           .shell({"::group::x", kSigns})
                           .next()
                           .call("read_file", Json::object({{"path", kSigns}}))
                           .next()
                           .message("said"),
                       "policy: auto\nexpect: {changes: any}\n");
    BOOST_REQUIRE(folder_.run().status == 0);
    folder_.write("hostile.yaml", "version: 1\nprompt: " + quoted(kColons + "\n" + kSigns) +
                                      "\nvars: {a: {default: " + quoted(kSigns) +
                                      "}}\ntools:\n  mcp:\n    tools: {command: [node, " +
                                      quoted(kSigns) + "]}\n");
    folder_.write("broken/.git/HEAD", "ref: refs/heads/" + kSigns + "\n");
    folder_.write("broken/.git/config", "[" + kSigns + "\n");
    folder_.write("broken/.git/objects/x", "");
    folder_.write("broken/.git/refs/x", "");
  }

  std::string at(const std::string& name) const { return folder_.path(name).string(); }

  ProgramEnd run(const Arguments& arguments, const std::string& input, const System* system) const {
    ProgramStart start{.argv = {sortie_binary()}, .folder = folder_.workspace(), .input = input};
    start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
    for (const System& each : kSystems) start.environment[each.variable] = "";
    start.environment["PATH"] = "/usr/bin:/bin:" + at("work") + "/" + kSigns.substr(0, 14);
    if (system != nullptr) start.environment[system->variable] = "true";
    return run_program(start);
  }

 private:
  RunFolder folder_;
};

struct Row {
  Arguments arguments;
  int status;
  std::string input{};
};

std::vector<Row> rows(const HostilePlace& place) {
  const std::string patch =
      "*** Begin Patch\n*** Add File: new " + kSigns + "\n+x\n*** End Patch\n";
  return {
      {{"task", "check", place.at("hostile.yaml"), "--policy", place.at("policy.yaml")}, 0},
      {{"task", "check", place.at("bad-task.yaml")}, 2},
      {{"task", "check", place.at("git.yaml"), "-C", place.at("broken")}, 7},
      {{"policy", "learn", place.at("out")}, 0},
      {{"policy", "backtest", place.at("tight.yaml"), place.at("out")}, 1},
      {{"policy", "check", place.at("policy.yaml")}, 0},
      {{"policy", "check", place.at("policy.yaml"), "--", "foo", kSigns}, 3},
      {{"policy", "check", place.at("policy.yaml"), "--", "::group::", kSigns + "\n" + kColons}, 0},
      {{"policy", "check", place.at("policy.yaml"), "--batch"}, 0, quoted(kSigns) + "\n"},
      {{"policy", "check", place.at("bad-policy.yaml")}, 2},
      {{"policy", "check", kSigns}, 2},
      {{"policy", "test", place.at("policy.yaml")}, 0},
      {{"apply-patch"}, 0, patch},
      {{"apply-patch"}, 1, "*** Begin Patch\n*** Delete File: no " + kSigns + "\n*** End Patch\n"},
      {{"sandbox", "--policy", "auto", "--", "ls"}, 0},
      {{"sandbox", "--policy", "auto", "--", kSigns}, 127},
      {{"sandbox", "--policy", kSigns, "--", "ls"}, 2},
      {{"schema", "task"}, 0},
      {{"schema", kSigns}, 2},
      {{"verify", place.at("out")}, 0},
      {{"verify", "no " + kSigns}, 2},
      {{"doctor"}, 0},
      {{"doctor", "--json"}, 0},
      {{"doctor", "--policy", kSigns}, 2},
      {{"run", kSigns}, 2},
      {{"run", place.at("bad-task.yaml")}, 2},
      {{kSigns}, 2},
      {{"--" + kSigns}, 2},
      {{"--help"}, 0},
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_log)

BOOST_AUTO_TEST_CASE(no_command_prints_what_a_ci_system_would_obey) {
  const HostilePlace place;
  bool learned = false;
  for (const System& system : kSystems) {
    for (const Row& row : rows(place)) {
      std::string words = system.variable;
      for (const auto& word : row.arguments) words += " " + word;
      BOOST_TEST_CONTEXT(words) {
        const ProgramEnd end = place.run(row.arguments, row.input, &system);
        std::filesystem::remove(place.at("work") + "/new " + kSigns);

        BOOST_TEST(end.status == row.status, end.errors);
        BOOST_TEST(obeyed(system, end.output) == "");
        BOOST_TEST(obeyed(system, end.errors) == "");
        learned = learned || (row.arguments[1] == "learn" && end.output.size() > 400);
      }
    }
  }
  BOOST_TEST(learned);  // the record has something to learn
}

BOOST_AUTO_TEST_CASE(the_values_of_documents_are_the_same_in_a_ci_system) {
  const HostilePlace place;
  const auto policy_digest = [&place](const std::string& text) {
    write_file(place.at("learned.yaml"), text);
    return place.run({"policy", "check", place.at("learned.yaml")}, "", nullptr).output;
  };
  for (const Arguments& arguments : std::vector<Arguments>{
           {"task", "check", place.at("hostile.yaml"), "--policy", place.at("policy.yaml")},
           {"policy", "learn", place.at("out")}}) {
    const std::string plain = place.run(arguments, "", nullptr).output;
    for (const System& system : kSystems) {
      const std::string in_ci = place.run(arguments, "", &system).output;
      BOOST_TEST_CONTEXT(arguments[1] << " " << system.variable) {
        BOOST_TEST(obeyed(system, plain) != "");
        if (arguments[0] == "task")
          BOOST_TEST((parse_json(in_ci) == parse_json(plain)), in_ci);
        else
          BOOST_TEST(policy_digest(in_ci) == policy_digest(plain), in_ci);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(live_events_keep_their_values_and_no_system_obeys_them) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"echo", kSigns}).next().message(kColons + kSigns),
                    "policy: auto\nexpect: {changes: any}\n");
  for (const char* attempts : {"1", "2"}) {
    for (const System& system : kSystems) {
      BOOST_TEST_CONTEXT(system.variable << ", attempts: " << attempts) {
        ProgramStart start = folder.plain_start({"--json", "--fresh", "--best-of", attempts});
        start.environment[system.variable] = "true";

        const ProgramEnd end = run_program(start);

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(obeyed(system, end.output) == "");
        bool said = false;
        for (const auto line : split_lines(end.output))
          said = said || parse_json(line)["item"].string_at("text") == kColons + kSigns;
        BOOST_TEST(said, end.output);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

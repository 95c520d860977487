// What coding agents send in real work (tests/data/policy/agents.txt), decided under the presets.
#include <fstream>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

const std::filesystem::path kWorkspace = "/home/user/project";

/// Of the harmless lines that must be allowed, in percent: raise it when the class or a preset
/// learns more, and never lower it.
constexpr std::size_t kFloor = 90;

struct AgentLine {
  char kind = '+';  ///< + allowed, ? harmless and denied, - harmful
  std::string script;
  std::string why;  ///< why it is denied
};

std::vector<AgentLine> read_agent_lines() {
  std::ifstream file(SORTIE_SOURCE_DIR "/tests/data/policy/agents.txt");
  BOOST_REQUIRE(file);
  std::vector<AgentLine> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    AgentLine line{.kind = text[0], .script = text.substr(2), .why = {}};
    if (line.kind != '+') {
      const auto bar = line.script.find(" | ");
      BOOST_REQUIRE(bar != std::string::npos);
      line.why = line.script.substr(0, bar);
      line.script.erase(0, bar + 3);
    }
    constexpr std::string_view kNewline = "⏎";
    for (auto at = line.script.find(kNewline); at != std::string::npos;
         at = line.script.find(kNewline))
      line.script.replace(at, kNewline.size(), "\n");
    lines.push_back(std::move(line));
  }
  return lines;
}

/// [strict, and all toolchains], as a run asks.
struct AllToolchains {
  test::TemporaryFolder folder;
  Policy policy = load(folder.path() / "policy.yaml");
  Engine engine{policy, policy.approval, kWorkspace, {}, {"/usr/bin", "/bin"}};

  static Policy load(const std::filesystem::path& file) {
    std::ofstream(file) << "version: 1\nextends: [strict, python, node, rust, go, jvm, cpp]\n";
    return load_policy(file.string());
  }
  Decision decide(const AgentLine& line) const {
    return engine.decide(RunCommand{{"bash", "-lc", line.script}, kWorkspace});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_lines)

BOOST_AUTO_TEST_CASE(most_harmless_lines_are_allowed_and_no_harmful_one) {
  const AllToolchains all;
  std::size_t harmless = 0;
  std::size_t allowed = 0;
  std::size_t harmful = 0;
  for (const AgentLine& line : read_agent_lines()) {
    const Decision decision = all.decide(line);
    const bool allows = decision.effect == Effect::allow;
    const std::string said = line.script + "\n  -> " + decision.part + ": " + decision.reason;
    if (line.kind == '+') {
      if (!allows) BOOST_TEST_MESSAGE("not yet allowed: " << said);
    } else {
      BOOST_TEST(!allows, line.why << ": " << said);
    }
    // One line that says what to send in its place.
    if (!allows) {
      BOOST_TEST(!decision.reason.empty(), said);
      BOOST_TEST(decision.reason.find('\n') == std::string::npos, said);
      BOOST_TEST(!decision.instead.empty(), said);
      BOOST_TEST(decision.instead.find('\n') == std::string::npos, said);
    }
    harmful += line.kind == '-' ? 1 : 0;
    harmless += line.kind == '-' ? 0 : 1;
    allowed += line.kind == '+' && allows ? 1 : 0;
  }
  BOOST_TEST_MESSAGE(allowed << " of " << harmless << " harmless lines are allowed");
  BOOST_TEST(harmless >= 330u);
  BOOST_TEST(harmful >= 150u);
  BOOST_TEST(allowed * 100 >= harmless * kFloor);
}

BOOST_AUTO_TEST_CASE(a_harmful_line_stays_denied_in_every_place_of_a_script) {
  const AllToolchains all;
  const char* const before[] = {"ls && ",  "ls; ", "ls | ", "(",         "{ ",
                                "if ",     "! ",   "time ", "false || ", "for f in a; do ",
                                "set -e\n"};
  const char* const after[] = {"", "", "", "\n)", "\n}", "\nthen ls; fi", "", "", "", "\ndone", ""};
  for (const AgentLine& line : read_agent_lines()) {
    if (line.kind != '-') continue;
    for (std::size_t i = 0; i < std::size(before); ++i) {
      const AgentLine placed{.kind = '-', .script = before[i] + line.script + after[i], .why = {}};
      BOOST_TEST((all.decide(placed).effect == Effect::deny), placed.script);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "core/json/json.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"

using namespace sortie;

namespace {

const std::filesystem::path kWorkspace = "/home/user/project";

using Argv = std::vector<std::string>;

struct Line {
  Argv argv;
  std::string text;  ///< as it stands in the file
};

std::vector<Line> lines_of(const char* name) {
  std::ifstream file(std::string(SORTIE_SOURCE_DIR "/tests/data/policy/") + name);
  BOOST_REQUIRE(file);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    const Json words = parse_json(text);
    Line line{.argv = {}, .text = text};
    for (const Json& word : words.items()) line.argv.push_back(word.text());
    lines.push_back(std::move(line));
  }
  return lines;
}

bool is_shell_string(const Argv& argv) {
  return argv.size() == 3 && (argv[1] == "-c" || argv[1] == "-lc");
}

/// Under the preset as it is shipped, as a run and `policy check` ask.
struct Strict {
  Policy policy = load_policy("strict");
  Engine engine{policy, policy.approval, kWorkspace, {}, {"/usr/bin", "/bin"}};

  Decision decide(const Argv& argv) const { return engine.decide(RunCommand{argv, kWorkspace}); }
};

/// With the preset that edits and those of the toolchains, but of the repository's scripts only
/// their words.
struct AtWork {
  Policy policy = parse_policy(
      "version: 1\nextends: [strict, edit, python, node, rust, go, jvm, cpp]\n", "work", "/");
  Engine engine{policy, policy.approval, kWorkspace, {}, {"/usr/bin", "/bin"}};

  Decision decide(const Argv& argv) const { return engine.decide(RunCommand{argv, kWorkspace}); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(command_lines)

BOOST_AUTO_TEST_CASE(what_agents_send_to_look_around_is_allowed) {
  const Strict strict;
  std::size_t allowed = 0;
  std::size_t scripts = 0;
  for (const Line& line : lines_of("everyday.txt")) {
    const Decision decision = strict.decide(line.argv);
    BOOST_TEST((decision.effect == Effect::allow),
               line.text << ": " << decision.part << ": " << decision.reason);
    ++allowed;
    scripts += is_shell_string(line.argv) ? 1 : 0;
  }
  BOOST_TEST(allowed >= 250u);
  BOOST_TEST(scripts >= 120u);
}

BOOST_AUTO_TEST_CASE(tricks_and_what_is_no_reading_are_denied_with_a_reason) {
  const Strict strict;
  std::size_t denied = 0;
  for (const Line& line : lines_of("refused.txt")) {
    const Decision decision = strict.decide(line.argv);
    BOOST_TEST((decision.effect == Effect::deny), line.text);
    BOOST_TEST(!decision.reason.empty(), line.text);
    ++denied;
  }
  BOOST_TEST(denied >= 700u);
}

BOOST_AUTO_TEST_CASE(a_denied_line_stays_denied_behind_one_that_is_allowed) {
  const Strict strict;
  for (const Line& line : lines_of("refused.txt")) {
    if (!is_shell_string(line.argv) || (line.argv[0] != "bash" && line.argv[0] != "sh")) continue;
    const std::string& script = line.argv[2];
    if (script.find_first_not_of(" \n") == std::string::npos || script[0] == '#') continue;
    for (const std::string& text : {"ls && " + script, "ls; " + script, "ls | " + script}) {
      const Decision decision = strict.decide({"bash", "-c", text});
      BOOST_TEST((decision.effect == Effect::deny), text);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_agents_send_to_work_is_allowed_by_the_presets) {
  const AtWork work;
  std::size_t allowed = 0;
  for (const char* file : {"work.txt", "everyday.txt"})
    for (const Line& line : lines_of(file)) {
      const Decision decision = work.decide(line.argv);
      BOOST_TEST((decision.effect == Effect::allow),
                 line.text << ": " << decision.part << ": " << decision.reason);
      ++allowed;
    }
  BOOST_TEST(allowed >= 500u);
}

BOOST_AUTO_TEST_CASE(what_leaves_the_workspace_or_loads_other_code_is_denied_by_the_presets) {
  const AtWork work;
  for (const Line& line : lines_of("work_refused.txt")) {
    const Decision decision = work.decide(line.argv);
    BOOST_TEST((decision.effect == Effect::deny), line.text);
    BOOST_TEST(!decision.reason.empty(), line.text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

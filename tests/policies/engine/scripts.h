#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <span>
#include <string>

#include "policies/engine/engine.h"
#include "tests/policies/policies.h"

namespace sortie::engine_scripts {

using tests::command_rule;

inline const std::filesystem::path kWorkspace = "/home/user/project";

inline Decision decide(const Policy& policy, const std::vector<std::string>& argv,
                       const std::filesystem::path& workdir = kWorkspace) {
  return Engine(policy, policy.approval, kWorkspace, {}, {"/usr/bin", "/bin"})
      .decide(RunCommand{argv, workdir});
}

inline Decision script(const Policy& policy, const std::string& text) {
  return decide(policy, {"bash", "-c", text});
}

struct Row {
  const char* script;
  Effect effect;
  const char* says;  ///< part of "PART: REASON"
};

inline void check(const Policy& policy, std::span<const Row> rows) {
  for (const Row& row : rows) {
    const Decision decision = script(policy, row.script);
    const std::string said = decision.part + ": " + decision.reason;
    BOOST_TEST_CONTEXT(row.script << " -> " << said) {
      BOOST_TEST((decision.effect == row.effect));
      BOOST_TEST(said.find(row.says) != std::string::npos);
    }
  }
}

}  // namespace sortie::engine_scripts

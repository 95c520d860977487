#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sortie {

/// What a first task and its policy need to know of a project's toolchain.
///
/// Commands write outside of the project below $TMPDIR only: where namespaces are refused, /tmp is
/// the machine's own, and closed to them.
struct Toolchain {
  std::string name;                    ///< as `sortie init` takes it: "node"
  std::string shown;                   ///< "Node.js with npm"
  std::string sign;                    ///< the file that it was found by; "" if it was not
  std::vector<std::string> presets{};  ///< that the policy extends besides strict
  std::vector<std::string> hosts{};    ///< HOST:PORT that `setup` and `commands` have to reach
  /// Which of `hosts` a file of the project asked for: a sentence each, for people.
  std::vector<std::string> notes{};
  std::vector<std::string> setup{};     ///< verify.setup
  std::vector<std::string> commands{};  ///< verify.commands; none: there is nothing to verify by
  std::vector<std::string> restore{};   ///< the tests, as git patterns
  /// verify.may_change: notes of a test runner for its next run, such as how long each test took.
  std::vector<std::string> may_change{};
  std::vector<std::pair<std::string, std::string>> variables{};  ///< environment.set
};

}  // namespace sortie

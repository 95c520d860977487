#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/policies/sandbox/keeper_fixture.h"

namespace sortie::test {

/// Who makes a sandbox, and with what.
struct SandboxWay {
  const char* name;
  uid_t uid;
  bool namespaces;
};

/// Root and uid 1000, each with and without namespaces, as far as this user can play them.
std::vector<SandboxWay> sandbox_ways();

/// Runs the body as that user in a child, on a workspace of its own; the profile has no namespaces
/// and a direct plan where the way has none.
/// @return what the body found wrong, a line each; "" for nothing
std::string found_wrong(const SandboxWay& way,
                        const std::function<std::string(Sandboxed& here)>& body);
/// The same for several ways at once, for bodies that mostly wait; in the order of the ways.
std::vector<std::string> found_wrong_together(
    const std::vector<SandboxWay>& ways, const std::function<std::string(Sandboxed& here)>& body);

}  // namespace sortie::test

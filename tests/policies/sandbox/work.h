#pragma once

#include <vector>

namespace sortie::test {

/// What a sandbox must not break: a shell script in a Scene's workspace that succeeds.
struct Work {
  const char* name;
  const char* script;
  bool needs_namespaces;  ///< sockets, which are refused without
};

const std::vector<Work>& what_must_work();

}  // namespace sortie::test

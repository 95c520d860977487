// gate_attempts NAME PROXY_PORT TCP_PORT UDP_PORT: tries one thing behind the connect gate and says
// what came of it; NAME "all" tries each of them, a line each.
#include <cstdio>
#include <cstdlib>

#include "tests/policies/egress/gate/attempts.h"

int main(int argc, char** argv) {
  using namespace sortie::gated;
  if (argc != 5) return 2;
  const Outside outside{std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])};
  const std::string wanted = argv[1];
  for (const auto& list : {address_attempts(), socket_attempts(), process_attempts()}) {
    for (const Attempt& attempt : list) {
      if (wanted != "all" && wanted != attempt.name) continue;
      std::printf("%s %s\n", attempt.name.c_str(), attempt.run(outside).c_str());
      std::fflush(stdout);
    }
  }
  return 0;
}

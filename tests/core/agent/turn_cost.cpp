// Runs the agent loop for so many turns and ends: for counting its instructions.

#include <cstdlib>

#include "tests/core/agent/long_run.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int turns = std::atoi(argv[2]);
  sortie::test::FormModel model(argv[1], turns);
  return sortie::test::run_long(model) == turns + 1 ? 0 : 1;
}

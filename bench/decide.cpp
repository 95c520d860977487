// What deciding a command line costs: `decide` prints a JSON line a row, the median over repeated
// decisions of the policy strict with some rules, in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"

using namespace sortie;

namespace {

constexpr int kRepetitions = 20000;

double median_microseconds(const Engine& engine, const std::vector<std::string>& argv) {
  const Action action = RunCommand{argv, "/home/user/project"};
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Decision decision = engine.decide(action);
    const auto end = std::chrono::steady_clock::now();
    if (decision.effect != Effect::allow) std::abort();
    times.push_back(std::chrono::duration<double, std::micro>(end - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kRepetitions / 2, times.end());
  return times[kRepetitions / 2];
}

void print_row(const char* work, double value, double target) {
  std::printf("{\"work\": \"%s\", \"value\": %.2f, \"unit\": \"us\", \"target\": %.0f}\n", work,
              value, target);
}

}  // namespace

int main() {
  const Policy policy = parse_policy(
      "version: 1\nextends: strict\ncommands:\n"
      "  - allow: [cargo, [build, test, check, clippy]]\n    but_not: {args: [\"--config*\"]}\n"
      "  - allow: [make]\n  - deny: [git, push]\n  - deny: [cargo, publish]\n  - forbid: [sudo]\n",
      "bench.yaml", "/nonexistent");
  const Engine engine(policy, policy.approval, "/home/user/project", {}, {"/usr/bin", "/bin"});
  print_row("deciding a plain argv",
            median_microseconds(engine, {"rg", "-n", "--glob", "*.cpp", "TODO", "src", "tests"}),
            50);
  print_row(
      "deciding a script of 10 commands",
      median_microseconds(engine, {"bash", "-lc",
                                   "cd src && ls -la | head -n 20; rg -n 'TODO|FIXME' . | sort "
                                   "| uniq -c | head && cat \"a file.txt\" 2>/dev/null || cargo "
                                   "test -q 2>&1 | tail -n 40"}),
      300);
}

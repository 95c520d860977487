// Runs the agent loop for 206 turns in each form of requests. Under callgrind, begun with
// --instr-atstart=no, it has the instructions of ten turns around turn 20 and of ten around turn
// 200 counted, and written to files of their own.

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else  // nothing to count with: the runs alone
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS
#endif

#include "tests/core/agent/long_run.h"

namespace {

constexpr int kTurns = 206;

/// Before the request of so many turns: counting begins or ends.
void count_at(int turn) {
  if (turn == 15 || turn == 195) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
  } else if (turn == 25 || turn == 205) {
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

}  // namespace

int main() {
  for (const std::string& form : sortie::test::kForms) {
    sortie::test::FormModel model(form, kTurns);
    int turn = 0;
    model.on_body = [&turn](std::string_view, std::uint64_t) { count_at(++turn); };
    if (sortie::test::run_long(model) != kTurns + 1) return 1;
  }
  return 0;
}

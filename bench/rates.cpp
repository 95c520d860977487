// What shared rate limits come to: `rates simulate [RUNS]` by a virtual clock; `rates takes PROCESSES WAITING
// [SECONDS]` by real processes on a real file, with so many tickets in it.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_state_file.h"
#include "tests/core/rates/rate_simulation.h"

using namespace sortie;
using namespace std::chrono_literals;

namespace {

void simulate_all(int runs) {
  const struct {
    const char* name;
    test::RateSimulation given;
  } rows[] = {
      {"60 requests a minute, 64 at once", {.server = {.requests = 60}}},
      {"600 requests and 1,000,000 tokens a minute, 64 at once",
       {.server = {.requests = 600, .tokens = 1'000'000}}},
      {"600 requests a minute, all at once", {.at_once = runs, .server = {.requests = 600}}},
      {"600 requests a minute, 64 at once, budget of 60 USD",
       {.server = {.requests = 600}, .killed = 0, .budget = 60}},
  };
  for (const auto& row : rows) {
    test::RateSimulation given = row.given;
    given.runs = runs;
    std::printf("%d runs, %s\n%s\n", runs, row.name, test::simulate(given).text().c_str());
  }
}

/// Takes turns until the time is over. @return  how many
std::int64_t takes(const std::filesystem::path& path, std::chrono::seconds time) {
  SystemClock clock;
  const SystemBootTime boot;
  RateStateFile file({.path = path, .time = boot, .clock = clock});
  const RatePace pace{.requests = 1'000'000'000};
  const auto end = clock.steady() + time;
  std::int64_t count = 0;
  for (; clock.steady() < end; ++count)
    file.change([&pace](RateState& state, std::chrono::nanoseconds now) {
      state.ask("openai", pace, {}, now);
    });
  return count;
}

void measure_takes(int processes, std::size_t waiting, std::chrono::seconds time) {
  std::string folder = (std::filesystem::temp_directory_path() / "rates-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) std::exit(1);
  const std::filesystem::path path = folder + "/state";
  {
    SystemClock clock;
    const SystemBootTime boot;
    RateStateFile file({.path = path, .time = boot, .clock = clock});
    // Of another provider: they are read and written with each change.
    file.change([waiting](RateState& state, std::chrono::nanoseconds now) {
      for (std::size_t i = 1; i <= waiting; ++i)
        state.queue("anthropic", now).waiting.push_back({i, 1, now + 1h});
    });
  }
  const Pipe pipe = make_pipe();
  for (int i = 0; i < processes; ++i)
    if (::fork() == 0) {
      const std::int64_t count = takes(path, time);
      write_all(pipe.write.get(), {reinterpret_cast<const char*>(&count), sizeof count});
      ::_exit(0);
    }
  std::int64_t sum = 0;
  for (int i = 0; i < processes; ++i) {
    std::int64_t count = 0;
    if (::read(pipe.read.get(), &count, sizeof count) == sizeof count) sum += count;
  }
  while (::wait(nullptr) > 0) {
  }
  // On a machine that is busy otherwise, the time of the processors says more.
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const double cpu = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
                     static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  std::printf("%d processes, %zu waiting: %lld takes a second, %.1f us of a processor each\n",
              processes, waiting, static_cast<long long>(sum / time.count()),
              cpu / static_cast<double>(sum));
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "simulate") == 0) {
    simulate_all(argc > 2 ? std::atoi(argv[2]) : 1000);
    return 0;
  }
  if (argc >= 4 && std::strcmp(argv[1], "takes") == 0) {
    measure_takes(std::atoi(argv[2]), static_cast<std::size_t>(std::atoi(argv[3])),
                  std::chrono::seconds(argc > 4 ? std::atoi(argv[4]) : 5));
    return 0;
  }
  std::fprintf(stderr, "rates simulate [RUNS] | rates takes PROCESSES WAITING [SECONDS]\n");
  return 2;
}

#pragma once

#include <poll.h>
#include <signal.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "core/files/files.h"
#include "tests/support/program.h"

namespace sortie::test {

/// How many kills a sweep makes: SORTIE_TEST_KILLS, else as many as usual.
inline int kills_wanted(int usual) {
  const char* const wanted = std::getenv("SORTIE_TEST_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

using Milliseconds = std::chrono::duration<double, std::milli>;

/// How long a run took that nobody killed, and of that its end, from the writing of its diff on.
struct Pace {
  Milliseconds whole{};
  Milliseconds end{};
};

/// When a run is killed.
enum class Instant {
  anywhere,
  start,  ///< while it proves its sandbox, or takes up what was there
  end,    ///< while it writes its artifacts, applies its diff, or removes its state
};

/// The instants at which runs are killed, and what was cut off by that.
class Sweep {
 public:
  /// @param seed  of all that is random in it
  Sweep(Pace pace, unsigned seed) : pace_(pace), random_(seed) {}

  /// Waits for the instant of the Nth start of a run.
  void wait(Instant instant, int starts, const std::filesystem::path& out, Program& program) {
    std::uniform_real_distribution<double> share(0.0, 1.05);
    // The machine may have become slower: the more were killed, the longer the next ones get.
    const double longer = starts < 3 ? 1.0 : 0.5 + starts / 20.0;
    if (instant == Instant::anywhere) return sleep(pace_.whole * share(random_) * longer);
    if (instant == Instant::start) return sleep(pace_.whole * share(random_) * 0.2 * longer);
    const auto has_diff = [&] {
      std::error_code error;
      return std::filesystem::exists(out / "changes.diff", error) || ::kill(program.pid(), 0) != 0;
    };
    for (int tries = 0; tries < 4000 && !has_diff() && !ends(program.pid()); ++tries)
      ::poll(nullptr, 0, 1);
    sleep(pace_.end * share(random_) * longer);
  }
  Instant any_instant() {
    return static_cast<Instant>(std::uniform_int_distribution<int>(0, 2)(random_));
  }
  int any(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  void count(const std::string& phase) { ++phases_[phase]; }
  std::string phases() const {
    std::string text;
    for (const auto& [phase, times] : phases_)
      text += (text.empty() ? "" : ", ") + std::to_string(times) + " " + phase;
    return text;
  }

 private:
  static void sleep(Milliseconds time) {
    const auto whole = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    const timespec instant{whole.count() / 1'000'000'000, whole.count() % 1'000'000'000};
    ::nanosleep(&instant, nullptr);
  }
  static bool ends(pid_t pid) {
    const std::string stat = read_bytes_file("/proc/" + std::to_string(pid) + "/stat", 4096).text;
    return stat.empty() || stat.find(") Z") != std::string::npos;
  }

  Pace pace_;
  std::mt19937 random_;
  std::map<std::string, int> phases_;
};

}  // namespace sortie::test

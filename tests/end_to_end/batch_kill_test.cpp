// Batches of which one run in ten is killed: what is left at the end, and what was paid for it.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/text/text.h"
#include "tests/end_to_end/batch_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Clock = std::chrono::steady_clock;

/// Where a run is when it is killed.
enum class Moment {
  asking,    ///< the server has its request, and has sent nothing
  reading,   ///< half of the answer is sent
  recorded,  ///< the first answer is in the transcript; the second one is asked for, or soon will be
  any,       ///< up to 30 ms after its first request, whatever it does then
  ending,    ///< up to 30 ms after the last answer is in the transcript, if it has not ended before
};
constexpr int kMoments = 5;

struct Kill {
  std::string run;
  Moment moment = Moment::any;
  int turn = 1;
  std::chrono::milliseconds delay{0};
  std::optional<Clock::time_point> due{};

  std::string asked_turn() const { return run + " turn " + std::to_string(turn); }
};

/// What a transcript says of a turn.
struct Recorded {
  int requests = 0;
  int responses = 0;
};

std::map<int, Recorded> recorded_turns(const std::filesystem::path& folder) {
  std::map<int, Recorded> turns;
  const std::string text = read_bytes_file(folder / "transcript.jsonl", 64u << 20).text;
  const std::string_view whole = std::string_view(text).substr(0, text.rfind('\n') + 1);
  for (const std::string_view line : split_lines(whole)) {
    const Json record = parse_json(line);
    const std::string type = record.string_at("type");
    Recorded& turn = turns[static_cast<int>(record.integer_at("turn"))];
    if (type == "model.request") ++turn.requests;
    if (type == "model.response") ++turn.responses;
  }
  return turns;
}

/// Kills runs by its plan, in a thread of its own, until it is told to end.
class Killer {
 public:
  Killer(std::vector<Kill> plan, CountingServer& server, const BatchFolders& folders)
      : waiting_(std::move(plan)), server_(server), folders_(folders) {
    for (const Kill& kill : waiting_) prepare(kill);
  }
  /// Until the batch has ended.
  ProgramEnd watch(Program& batch) {
    std::atomic<bool> over = false;
    std::thread thread([&] {
      while (!over) {
        look(batch.pid());
        ::poll(nullptr, 0, 1);
      }
    });
    ProgramEnd end = batch.finish(std::chrono::seconds(3000));
    over = true;
    thread.join();
    return end;
  }
  const std::map<std::string, Kill>& done() const { return done_; }
  std::size_t missed() const { return missed_ + waiting_.size(); }

 private:
  /// The run stays where it is to be killed.
  void prepare(const Kill& kill) {
    using Cut = CountingServer::Cut;
    if (kill.moment == Moment::asking) server_.cut(kill.asked_turn(), Cut::at_its_begin);
    if (kill.moment == Moment::reading) server_.cut(kill.asked_turn(), Cut::halfway);
    if (kill.moment == Moment::recorded || kill.moment == Moment::any)
      server_.cut(kill.run + " turn 2", Cut::at_its_begin);
  }
  bool is_there(const Kill& kill) const {
    const auto turns = [&] { return recorded_turns(folders_.dir() / "runs" / kill.run); };
    switch (kill.moment) {
      case Moment::recorded:
        return turns()[1].responses > 0;
      case Moment::ending:
        return turns()[2].responses > 0;
      default:
        return server_.asked().contains(kill.asked_turn());
    }
  }
  /// The process of that run; -1 for none.
  static pid_t process_of(const std::string& run, pid_t batch) {
    for (const pid_t pid : runs_of(batch)) {
      const std::string words =
          read_bytes_file("/proc/" + std::to_string(pid) + "/cmdline", 64u << 10).text;
      if (words.find("/runs/" + run + '\0') != std::string::npos) return pid;
    }
    return -1;
  }
  void look(pid_t batch) {
    for (auto kill = waiting_.begin(); kill != waiting_.end();) {
      if (!kill->due && is_there(*kill)) kill->due = Clock::now() + kill->delay;
      if (!kill->due || Clock::now() < *kill->due) {
        ++kill;
        continue;
      }
      const pid_t process = process_of(kill->run, batch);
      if (process > 0 && ::kill(process, SIGKILL) == 0)
        done_[kill->run] = *kill;
      else
        ++missed_;
      server_.send_whole(kill->run + " turn 2");
      kill = waiting_.erase(kill);
    }
  }

  std::vector<Kill> waiting_;
  CountingServer& server_;
  const BatchFolders& folders_;
  std::map<std::string, Kill> done_;
  std::size_t missed_ = 0;
};

/// One run in ten, and each moment at least once.
std::vector<Kill> random_plan(int runs, std::mt19937& random) {
  std::vector<int> numbers;
  for (int i = 1; i <= runs; ++i) numbers.push_back(i);
  std::shuffle(numbers.begin(), numbers.end(), random);
  numbers.resize(static_cast<std::size_t>(std::max(runs / 10, kMoments)));
  std::vector<Kill> plan;
  for (const int number : numbers) {
    Kill kill{.run = "run-" + std::to_string(number),
              .moment = static_cast<Moment>(static_cast<int>(plan.size()) % kMoments)};
    if (kill.moment == Moment::asking || kill.moment == Moment::reading)
      kill.turn = 1 + static_cast<int>(random() % 2);
    if (kill.moment == Moment::any || kill.moment == Moment::ending)
      kill.delay = std::chrono::milliseconds(random() % 31);
    plan.push_back(kill);
  }
  return plan;
}

int wanted_runs() {
  const char* const wanted = std::getenv("SORTIE_TEST_BATCH");
  return wanted != nullptr ? std::atoi(wanted) : 16;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE(many_small_runs_end_without_a_failure_and_each_is_paid_once) {
  CountingServer server;
  const BatchFolders folders;
  folders.write_manifest(wanted_runs());

  const ProgramEnd end =
      Program(folders.batch(server.url(), {"--jobs", "8"})).finish(std::chrono::seconds(3000));

  BOOST_TEST(end.status == 0, end.errors);
  check_paid_once(server, wanted_runs());
  // The batch's own sum: its time is the last of it.
  const std::size_t sum = end.errors.find(" runs: ");
  BOOST_TEST_MESSAGE(end.errors.substr(end.errors.rfind('\n', sum) + 1));
}

/// What was recorded is never asked for again, wherever a kill comes. What was cut off is asked for
/// once more. Between the two a provider may have sent an answer to its end that a killed process could
/// not record any more: only kills at any moment may hit that, and they are counted apart.
BOOST_AUTO_TEST_CASE(killed_runs_go_on_and_no_recorded_answer_is_paid_twice) {
  const int count = wanted_runs();
  const unsigned seed = std::random_device()();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  CountingServer server;
  const BatchFolders folders;
  folders.write_manifest(count, "retry: {attempts: 20}\n");
  Killer killer(random_plan(count, random), server, folders);

  for (const char* shard : {"1/2", "2/2"}) {
    Program program(folders.batch(server.url(), {"--jobs", "8", "--shard", shard}));
    const ProgramEnd end = killer.watch(program);
    BOOST_TEST(end.status == 0, end.errors);
  }
  const ProgramEnd merged =
      run_program({.argv = {sortie_binary(), "batch", "report", folders.dir().string()}});

  BOOST_TEST(merged.status == 0, merged.errors);
  BOOST_TEST(killer.done().size() >= 4u);
  BOOST_TEST(folders.rows().size() == static_cast<std::size_t>(count));
  const auto asked = server.asked();
  const auto answered = server.answered();
  int again = 0;
  int unrecorded = 0;
  for (const BatchRow& row : folders.rows()) {
    BOOST_TEST_CONTEXT(row.name << ", seed " << seed) {
      BOOST_TEST(row.status == "success");
      const std::string diff = read_file(folders.dir() / row.diff);
      BOOST_TEST(diff.find("+good " + row.name + "\n") == diff.rfind("+good "));
      const auto found = killer.done().find(row.name);
      const Kill* const kill = found == killer.done().end() ? nullptr : &found->second;
      BOOST_TEST(row.attempts == (kill == nullptr ? 1 : 2));
      for (const auto& [number, recorded] : recorded_turns(folders.dir() / "runs" / row.name)) {
        if (recorded.requests == 0) continue;
        const std::string turn = row.name + " turn " + std::to_string(number);
        BOOST_TEST_CONTEXT(turn) {
          const int lost = recorded.requests - recorded.responses;
          BOOST_TEST(recorded.responses == 1);
          BOOST_TEST(lost <= (kill == nullptr ? 0 : 1));
          // Nothing is sent before it is recorded, so a kill between the two sends less.
          BOOST_TEST(asked.at(turn) <= 1 + lost);
          again += asked.at(turn) - 1;
          unrecorded += answered.at(turn) - 1;
          if (kill == nullptr || kill->moment != Moment::any) BOOST_TEST(answered.at(turn) == 1);
        }
      }
    }
  }
  BOOST_TEST_MESSAGE(count << " runs, " << killer.done().size() << " kills, " << killer.missed()
                           << " too late, " << again << " requests asked again, " << unrecorded
                           << " of them answered to a process that was killed before it could "
                              "record that");
}

BOOST_AUTO_TEST_SUITE_END()

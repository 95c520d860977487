#include "tests/core/rates/rate_simulation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iomanip>
#include <queue>
#include <random>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rates/rate_state.h"

namespace sortie::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr const char* kName = "openai";
constexpr int kRetries = 5;
constexpr std::int64_t kMostOutput = 32'768;
/// USD for a million tokens.
constexpr double kInputPrice = 1.25;
constexpr double kOutputPrice = 10;

/// Counts each request by the time at which it came.
class Server {
 public:
  explicit Server(const RatePace& pace) : pace_(pace) {}

  /// @return  when to come again; 0: it is taken
  nanoseconds take(nanoseconds now, std::int64_t input) {
    while (!log_.empty() && now - log_.front().at >= pace_.window) {
      tokens_ -= log_.front().tokens;
      if (log_.front().is_request) --requests_;
      log_.pop_front();
    }
    const bool full = pace_.requests > 0 && requests_ >= pace_.requests;
    const bool heavy = pace_.tokens > 0 && requests_ > 0 && tokens_ + input > pace_.tokens;
    if (full || heavy) return log_.front().at + pace_.window - now + 1ms;
    add(now, input, true);
    ++requests_;
    return 0ns;
  }
  /// The response is over.
  void add_output(nanoseconds now, std::int64_t tokens) { add(now, tokens, false); }

 private:
  struct Entry {
    nanoseconds at;
    std::int64_t tokens;
    bool is_request;
  };
  void add(nanoseconds now, std::int64_t tokens, bool is_request) {
    log_.push_back({now, tokens, is_request});
    tokens_ += tokens;
  }
  RatePace pace_;
  std::deque<Entry> log_;
  std::int64_t requests_ = 0;
  std::int64_t tokens_ = 0;
};

struct Run {
  int turns_left = 0;
  std::int64_t input = 0;   ///< of the next request
  std::int64_t output = 0;  ///< of its response
  double ratio = 1;
  std::int64_t estimated = 0;
  std::int64_t reserved = 0;
  std::uint64_t number = 0;  ///< of its ticket; 0: none
  nanoseconds taken_at{0};
  std::size_t passed_at_begin = 0;
  int refusals = 0;
  bool dies = false;
  double spent = 0;
  bool waits = false;
};

enum class What { start, ask, arrive, respond };

struct Event {
  nanoseconds at;
  std::uint64_t order;
  What what;
  std::size_t run;
  bool operator>(const Event& other) const {
    return std::tie(at, order) > std::tie(other.at, other.order);
  }
};

class Simulator {
 public:
  explicit Simulator(const RateSimulation& simulation)
      : given_(simulation), server_(simulation.server), random_(simulation.seed) {}

  RateSimulated run();

 private:
  void start_due();
  void start(std::size_t i);
  void prepare(Run& run);
  void ask(std::size_t i);
  void arrive(std::size_t i);
  void respond(std::size_t i);
  void end(std::size_t i);
  void kill(std::size_t i);
  void at(nanoseconds delay, What what, std::size_t run) {
    events_.push({now_ + delay, order_++, what, run});
  }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  nanoseconds between(nanoseconds from, nanoseconds to) {
    return nanoseconds(static_cast<std::int64_t>(
        uniform(static_cast<double>(from.count()), static_cast<double>(to.count()))));
  }

  RateSimulation given_;
  Server server_;
  std::mt19937_64 random_;
  RateState state_;
  std::vector<Run> runs_;
  std::deque<std::size_t> due_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  nanoseconds now_ = 1h;
  int under_way_ = 0;
  double set_aside_ = 0;
  std::size_t waiting_ = 0;
  std::uint64_t highest_sent_ = 0;
  std::vector<std::uint64_t>
      sent_;  ///< numbers of tickets, in the order in which they had their turn
  std::int64_t tokens_ = 0;
  nanoseconds last_start_{0};
  std::int64_t requests_then_ = 0;
  std::int64_t tokens_then_ = 0;
  RateSimulated result_;
};

void Simulator::prepare(Run& run) {
  run.output = static_cast<std::int64_t>(std::exp(uniform(std::log(100.0), std::log(4000.0))));
  run.estimated = static_cast<std::int64_t>(
      static_cast<double>(run.input) * uniform(1 - given_.estimate_off, 1 + given_.estimate_off));
  run.number = 0;
  run.refusals = 0;
}

/// What is left of the budget pays for each run that is started, whatever the others spend.
void Simulator::start_due() {
  while (!due_.empty() && under_way_ < given_.at_once) {
    if (given_.budget > 0) {
      const double left = given_.budget - result_.spent - set_aside_;
      if (left < given_.budget_of_run) {
        if (under_way_ > 0) return;  // for what others give back
        result_.refused_a_start += static_cast<int>(due_.size());
        due_.clear();
        return;
      }
      set_aside_ += given_.budget_of_run;
      result_.most_committed = std::max(result_.most_committed, result_.spent + set_aside_);
    }
    const std::size_t i = due_.front();
    due_.pop_front();
    ++under_way_;
    last_start_ = now_;
    requests_then_ = result_.requests - result_.refused;
    tokens_then_ = tokens_;
    at(between(0ns, 300ms), What::start, i);
  }
}

void Simulator::start(std::size_t i) {
  runs_[i].spent = 0;
  prepare(runs_[i]);
  ask(i);
}

void Simulator::ask(std::size_t i) {
  Run& run = runs_[i];
  if (run.dies && run.waits && uniform(0, 1) < 0.3) return kill(i);
  ++result_.looks;
  const std::int64_t usual = state_.queue(kName, now_).bucket.output_tokens;
  run.reserved =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(run.estimated) * run.ratio)) +
      std::min(kMostOutput, usual);
  const RateTurn turn =
      state_.ask(kName, given_.server, {.number = run.number, .tokens = run.reserved}, now_);
  if (run.number == 0) run.passed_at_begin = sent_.size();
  run.number = turn.number;
  if (turn.go) {
    if (std::exchange(run.waits, false)) --waiting_;
    const auto later =
        std::count_if(sent_.begin() + static_cast<std::ptrdiff_t>(run.passed_at_begin), sent_.end(),
                      [&run](std::uint64_t number) { return number > run.number; });
    result_.overtaken = std::max(result_.overtaken, static_cast<std::size_t>(later));
    sent_.push_back(run.number);
    run.taken_at = now_;
    return at(between(0ns, given_.under_way), What::arrive, i);
  }
  if (!std::exchange(run.waits, true)) ++waiting_;
  result_.most_waiting = std::max(result_.most_waiting, waiting_);
  at(turn.look_in + between(0ns, 3ms), What::ask, i);
}

void Simulator::arrive(std::size_t i) {
  Run& run = runs_[i];
  ++result_.requests;
  const nanoseconds wait = server_.take(now_, run.input);
  if (wait == 0ns) return at(between(1s, 12s), What::respond, i);
  ++result_.refused;
  state_.pause(kName, now_ + wait, now_);
  correct(state_.queue(kName, now_).bucket, given_.server, -run.reserved, run.taken_at, now_);
  if (++run.refusals > kRetries) {
    ++result_.given_up;
    return end(i);
  }
  at(wait, What::ask, i);
}

void Simulator::respond(std::size_t i) {
  Run& run = runs_[i];
  server_.add_output(now_, run.output);
  tokens_ += run.input + run.output;
  const double cost = (static_cast<double>(run.input) * kInputPrice +
                       static_cast<double>(run.output) * kOutputPrice) /
                      1e6;
  run.spent += cost;
  result_.spent += cost;
  if (given_.budget > 0) set_aside_ -= cost;
  RateBucket& bucket = state_.queue(kName, now_).bucket;
  correct(bucket, given_.server, run.input + run.output - run.reserved, run.taken_at, now_);
  bucket.output_tokens += (run.output - bucket.output_tokens) / 8;
  run.ratio = static_cast<double>(run.input) / static_cast<double>(run.estimated);
  if (--run.turns_left == 0) {
    ++result_.finished;
    return end(i);
  }
  run.input += run.output + static_cast<std::int64_t>(uniform(200, 4000));
  prepare(run);
  at(between(100ms, 8s), What::ask, i);
}

void Simulator::end(std::size_t i) {
  --under_way_;
  if (given_.budget > 0) set_aside_ -= std::max(0.0, given_.budget_of_run - runs_[i].spent);
}

/// Its ticket stays behind; the run goes on where it was, in a new process.
void Simulator::kill(std::size_t i) {
  Run& run = runs_[i];
  if (std::exchange(run.waits, false)) --waiting_;
  run.dies = false;
  end(i);
  due_.push_back(i);
}

RateSimulated Simulator::run() {
  for (int i = 0; i < given_.runs; ++i) {
    Run run{.turns_left = 1 + static_cast<int>(uniform(0, 12)),
            .input = static_cast<std::int64_t>(uniform(4000, 12'000))};
    run.dies = uniform(0, 1) < given_.killed;
    runs_.push_back(run);
    due_.push_back(static_cast<std::size_t>(i));
  }
  const nanoseconds began = now_;
  start_due();
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    switch (event.what) {
      case What::start:
        start(event.run);
        break;
      case What::ask:
        ask(event.run);
        break;
      case What::arrive:
        arrive(event.run);
        break;
      case What::respond:
        respond(event.run);
        break;
    }
    start_due();
  }
  result_.time = now_ - began;
  const double windows = static_cast<double>((last_start_ - began).count()) /
                         static_cast<double>(given_.server.window.count());
  if (windows > 0 && given_.server.requests > 0)
    result_.share =
        static_cast<double>(requests_then_) / windows / static_cast<double>(given_.server.requests);
  if (windows > 0 && given_.server.tokens > 0)
    result_.share = std::max(result_.share, static_cast<double>(tokens_then_) / windows /
                                                static_cast<double>(given_.server.tokens));
  return result_;
}

}  // namespace

std::string RateSimulated::text() const {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "runs finished " << finished << ", not started "
       << refused_a_start << ", given up " << given_up << "\nrequests " << requests << ", refused "
       << refused << " (" << std::setprecision(2)
       << (requests == 0 ? 0.0
                         : 100.0 * static_cast<double>(refused) / static_cast<double>(requests))
       << " %)\ntime " << std::setprecision(1) << static_cast<double>(time.count()) / 60e9
       << " min, " << 100 * share << " % of the limit until the last start\nmost waiting "
       << most_waiting << ", overtaken by " << overtaken << ", looks at the state "
       << static_cast<double>(looks) / (static_cast<double>(time.count()) / 1e9)
       << " a second\nspent " << std::setprecision(2) << spent << " USD";
  if (most_committed > spent) text << ", with what was set aside " << most_committed << " at most";
  text << "\n";
  return text.str();
}

RateSimulated simulate(const RateSimulation& simulation) { return Simulator(simulation).run(); }

}  // namespace sortie::test

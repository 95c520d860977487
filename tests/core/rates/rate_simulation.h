#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/rates/rate_bucket.h"

namespace sortie::test {

/// Many runs against a server that limits, by a virtual clock: each request takes its turn by the rules
/// of RateState, and the runs have one budget, of which each sets its own aside before it starts, as
/// those of a batch do. The server counts what comes in each window, wherever that begins: requests, and
/// tokens as they are, which the runs only estimate.
struct RateSimulation {
  int runs = 1000;
  int at_once = 64;
  RatePace server{.requests = 600, .tokens = 2'000'000};
  double killed = 0.1;  ///< share of the runs that are killed at a random moment, and run again
  double estimate_off = 0.2;  ///< how far estimates of the input may be off, in both directions
  std::chrono::milliseconds under_way{200};  ///< how differently long requests are under way
  double budget = 0;                         ///< USD for all runs; 0: none
  double budget_of_run = 1;                  ///< set aside before it starts
  unsigned seed = 1;
};

struct RateSimulated {
  int finished = 0;
  int refused_a_start = 0;  ///< runs for which nothing of the budget was left
  std::int64_t requests = 0;
  std::int64_t refused = 0;   ///< of them, by the server
  std::int64_t given_up = 0;  ///< runs that were refused more often than a request is retried
  std::chrono::nanoseconds time{0};
  double share =
      0;  ///< of the server's limit, that which was used most, until the last run started
  std::size_t most_waiting = 0;
  std::size_t overtaken = 0;  ///< the most turns that a waiting request saw go to later ones
  std::int64_t looks = 0;     ///< how often the state was asked
  double spent = 0;           ///< USD
  double most_committed = 0;  ///< spent and set aside, at the most
  std::string text() const;
};

RateSimulated simulate(const RateSimulation& simulation);

}  // namespace sortie::test

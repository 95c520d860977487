// Many runs at once, and a server that counts what comes in each window of time.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/end_to_end/best_of_run.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

/// Takes so many requests in any window, wherever it begins, and refuses the others.
class LimitedServer {
 public:
  LimitedServer(std::size_t limit, std::chrono::milliseconds window)
      : limit_(limit),
        window_(window),
        server_([this](const ReceivedRequest&) { return answer(); }) {
    CassetteWriter cassette;
    answer_ = cassette.message("done").streams().front();
  }
  std::string url() const { return server_.url("/v1"); }
  std::size_t requests() const { return server_.requests().size(); }
  std::size_t refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  ServedResponse answer() {
    const std::lock_guard lock(mutex_);
    const auto now = steady_clock::now();
    while (!taken_.empty() && now - taken_.front() >= window_) taken_.pop_front();
    if (taken_.size() < limit_) {
      taken_.push_back(now);
      return served_stream(answer_);
    }
    ++refused_;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(taken_.front() + window_ - now).count();
    return served_status(429, {{"retry-after-ms", std::to_string(wait)}},
                         R"({"error":{"message":"Rate limit reached."}})");
  }

  std::size_t limit_;
  std::chrono::milliseconds window_;
  std::string answer_;
  mutable std::mutex mutex_;
  std::deque<steady_clock::time_point> taken_;
  std::size_t refused_ = 0;
  LoopbackHttp server_;  ///< last: it uses the others until it ends
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limits_load)

// 60 requests a minute, in a tenth of the time; in the whole time with SORTIE_TEST_MINUTES.
BOOST_AUTO_TEST_CASE(two_hundred_runs_are_taken_by_a_server_that_takes_sixty_in_a_window) {
  const bool whole = std::getenv("SORTIE_TEST_MINUTES") != nullptr;
  const int seconds = whole ? 60 : 6;
  constexpr int kRuns = 200;
  constexpr std::size_t kAtOnce = 8;
  LimitedServer server(60, std::chrono::seconds(seconds));
  const ProviderRun run;
  run.write("limits.yaml",
            "version: 1\nproviders: {openai: {requests: " + std::to_string(60 * 60 / seconds) +
                ", window: " + std::to_string(seconds) + "s}}\n");
  std::deque<std::unique_ptr<Program>> under_way;
  int failures = 0;
  const auto finish_first = [&] {
    const ProgramEnd end = under_way.front()->finish(600s);
    under_way.pop_front();
    failures += end.status == 0 ? 0 : 1;
    BOOST_TEST(end.status == 0, end.errors);
  };
  for (int i = 0; i < kRuns; ++i) {
    if (under_way.size() == kAtOnce) finish_first();
    under_way.push_back(std::make_unique<Program>(
        run.start(server.url(), {"--rate-limits", run.path("limits.yaml").string(), "--out",
                                 run.path("out-" + std::to_string(i)).string()})));
  }
  while (!under_way.empty()) finish_first();

  BOOST_TEST(failures == 0);
  BOOST_TEST(server.requests() >= kRuns);
  BOOST_TEST(server.refused() * 50 <= kRuns, server.refused() << " requests were refused");
}

BOOST_AUTO_TEST_SUITE_END()

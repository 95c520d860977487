#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"

namespace sortie::test {

/// A StreamSink that keeps what it hears.
class StreamList : public StreamSink {
 public:
  std::vector<RequestRecord> requests;
  std::vector<int> attempts;
  std::vector<RetryRecord> retries;
  std::vector<PacedWait> waits;
  std::uint64_t lost_bytes = 0;  ///< of answers that were cut off
  std::vector<FallbackRecord> fallbacks;

  void on_request(const RequestRecord& request, int attempt) override {
    requests.push_back(request);
    attempts.push_back(attempt);
  }
  void on_cut_off(int, std::uint64_t bytes) override { lost_bytes += bytes; }
  void on_retry(const RetryRecord& retry) override { retries.push_back(retry); }
  void on_wait(const PacedWait& wait) override { waits.push_back(wait); }
  void on_fallback(const FallbackRecord& fallback) override { fallbacks.push_back(fallback); }
};

}  // namespace sortie::test

#pragma once

#include <vector>

#include "core/model/cassette.h"
#include "core/model/model.h"
#include "core/model/request_body.h"
#include "core/model/wire.h"

namespace sortie {

/// Answers from a recording, one recorded response a request, in their order.
class ReplayModel : public Model {
 public:
  /// @param recording  of read_cassette()
  ReplayModel(const Wire& wire, std::vector<RecordedStream> recording);
  /// A recording that has run out is a ModelError "cassette" with ExitCode::refused.
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;
  std::size_t responses_left() const noexcept { return streams_.size() - next_; }

 private:
  const Wire& wire_;
  std::vector<RecordedStream> streams_;
  std::size_t next_ = 0;
  RequestBody body_;
};

}  // namespace sortie

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/provider/cassette.h"
#include "core/provider/request_body.h"
#include "core/provider/wires.h"

namespace sortie {

/// Answers from a recording, one recorded response a request, in order. Each request is encoded as
/// for the wire and the model that gave the response, so a recording may mix several of both.
class ReplayModel : public Model {
 public:
  /// @param recording  of read_cassette()
  explicit ReplayModel(std::vector<RecordedStream> recording, const WireOptions& options = {});
  /// Throws ModelError "cassette" with ExitCode::refused after the last recorded response.
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;

 private:
  const Wire& wire_of(const RecordedStream& stream);
  RequestRecord encode(const Request& request, const Wire& wire, int source);

  std::vector<RecordedStream> streams_;
  WireOptions options_;
  std::size_t next_ = 0;
  std::map<std::string, std::unique_ptr<Wire>, std::less<>> wires_;  ///< made when first needed
  const Wire* wire_ = nullptr;                                       ///< of the last request
  std::optional<RequestBody> body_;                                  ///< in that format
  bool mixed_ = false;                                               ///< it has several models
  PortableItems portable_{0};                                        ///< for the current model
  int source_ = 0;                                                   ///< the current model
};

}  // namespace sortie

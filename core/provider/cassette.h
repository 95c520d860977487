#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"
#include "core/model/wire.h"
#include "core/net/http.h"

namespace sortie {

/// One recorded response stream: a line of a cassette.
struct RecordedStream {
  std::string wire = "responses";
  int status = 200;
  HttpHeaders headers{};
  std::string sse{};
  int source = 0;  ///< which of a recorded run's models gave it; see Item::source
  bool operator==(const RecordedStream&) const = default;
};

/// Reads a cassette, or the responses of a transcript (with its blobs/ beside it).
///
/// A cassette is JSONL: `{"wire":"responses","status":200,"headers":{…},"sse":"…"}` a line, after
/// at most one line `{"cassette":…,"comment":…}`.
/// @throws InputError  "FILE:LINE: error: …"
std::vector<RecordedStream> read_cassette(const std::filesystem::path& file);

/// An event stream for a recorded response, to replay a transcript; nothing for an unknown wire.
///
/// @param response  the data of a `model.response` record, with its blobs. `output`, or else
///                  `items`, is the wire's own JSON (responses: output items; chat: the one
///                  assistant message; messages: content blocks)
std::optional<std::string> response_stream(std::string_view wire, const Json& response);
std::string response_stream(const Wire& wire, const RecordedResponse& recorded);

/// Appends each response stream to a cassette, one write(2) a line.
class Recording {
 public:
  /// Truncates the file.
  /// @param redact  applied to the stream and to header values
  /// @throws Error  if the file can't be written; busy: another run writes to it
  Recording(const std::filesystem::path& file, std::function<std::string(std::string_view)> redact);
  void add(const RecordedStream& stream);

 private:
  void empty_file() const;

  std::filesystem::path path_;
  std::function<std::string(std::string_view)> redact_;
  Fd file_;
};

}  // namespace sortie

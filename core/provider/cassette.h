#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"
#include "core/net/http.h"

namespace sortie {

/// One recorded response stream: a line of a cassette.
struct RecordedStream {
  std::string wire = "responses";
  int status = 200;
  HttpHeaders headers{};
  std::string sse{};
  int source = 0;  ///< of a transcript: which of the run's models gave it; see Item::source
  bool operator==(const RecordedStream&) const = default;
};

/// Reads a cassette, or the responses of a transcript (with its blobs/ beside it).
///
/// A cassette is JSONL: `{"wire":"responses","status":200,"headers":{…},"sse":"…"}` a line, after
/// at most one line `{"cassette":…,"comment":…}`.
/// @throws InputError  "FILE:LINE: error: …"
std::vector<RecordedStream> read_cassette(const std::filesystem::path& file);

/// The event stream that would have brought a recorded response, for a replay from a transcript;
/// nothing for a wire that is not known.
///
/// @param response  the data of a `model.response` record, its blobs read. `output`, where it has
///                  one, else `items`: the wire's own JSON (responses: output items; chat: the one
///                  assistant message; messages: content blocks)
std::optional<std::string> response_stream(std::string_view wire, const Json& response);

/// Appends each response stream to a cassette, one write(2) a line.
class Recording {
 public:
  /// Replaces what the file held.
  /// @param redact  applied to the stream and to header values
  /// @throws Error  when the file can't be written; busy where another run writes into it
  Recording(const std::filesystem::path& file, std::function<std::string(std::string_view)> redact);
  void add(const RecordedStream& stream);

 private:
  void empty_file() const;

  std::filesystem::path path_;
  std::function<std::string(std::string_view)> redact_;
  Fd file_;
};

}  // namespace sortie

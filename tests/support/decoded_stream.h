#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/wire.h"

namespace sortie::test {

/// What a decoder made of a stream, in short JSON to compare with.
struct DecodedStream {
  WireDecoder::State state = WireDecoder::State::going_on;
  Json shown{};  ///< null while it is going on
  Response response{};
};

/// Feeds a stream to its end, `piece` bytes at a time.
DecodedStream decode_stream(const Wire& wire, const ModelSettings& settings,
                            std::string_view stream, std::size_t piece = std::string::npos);

/// The folders with a `stream.sse` and an `expected.json`, in the order of their names.
std::vector<std::filesystem::path> stream_folders(const std::filesystem::path& in);

/// Checks what a stream gave against its `expected.json`: `shown`, and in "findings" a part of the
/// text of each. "" when it is as expected, else both.
std::string differences(const DecodedStream& decoded, Json expected);

}  // namespace sortie::test

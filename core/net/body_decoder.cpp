#include "core/net/body_decoder.h"

#include <Poco/InflatingStream.h>

#include <algorithm>
#include <cctype>
#include <streambuf>

namespace sortie {

namespace {

/// Poco's buffer; what these bytes become is at most a thousand times as much.
constexpr std::size_t kStep = 1024;
/// Text shrinks to a tenth or so. A body that stays below this size may be anything.
constexpr std::uint64_t kFreeBytes = 16u << 20;
constexpr std::uint64_t kMostGrowth = 100;
/// zlib's 15 bits of window, with the frame found out by itself (zlib.h, inflateInit2); without
/// one.
constexpr int kAnyFrame = 15 + 32;
constexpr int kNoFrame = -15;

std::string normalized(std::string_view coding) {
  std::string name;
  for (const char c : coding)
    if (c != ' ' && c != '\t')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// The first byte of RFC 1950: method 8 in its lower half.
bool has_zlib_frame(char first) { return (static_cast<unsigned char>(first) & 0x0f) == 8; }

struct StringBuffer : std::streambuf {
  std::string text;

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    text.append(bytes, static_cast<std::size_t>(size));
    return size;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) text += static_cast<char>(c);
    return 0;
  }
};

}  // namespace

struct BodyDecoder::State {
  explicit State(int window) : output(&buffer), input(output, window) {}
  StringBuffer buffer;
  std::ostream output;
  Poco::InflatingOutputStream input;
};

bool BodyDecoder::is_identity(std::string_view coding) {
  const std::string name = normalized(coding);
  return name.empty() || name == "identity";
}

BodyDecoder::BodyDecoder(std::string_view coding) : coding_(normalized(coding)) {
  if (coding_ != "gzip" && coding_ != "x-gzip" && coding_ != "deflate")
    throw BodyError("the response has the content encoding '" + coding_.substr(0, 80) +
                    "', which was not asked for and is not known");
}

BodyDecoder::~BodyDecoder() = default;

std::string_view BodyDecoder::next(std::string_view& bytes) {
  if (bytes.empty()) return {};
  if (!state_) {
    const bool bare = coding_ == "deflate" && !has_zlib_frame(bytes.front());
    state_ = std::make_unique<State>(bare ? kNoFrame : kAnyFrame);
  }
  state_->buffer.text.clear();
  const std::string_view step = bytes.substr(0, kStep);
  bytes.remove_prefix(step.size());
  state_->input.write(step.data(), static_cast<std::streamsize>(step.size()));
  state_->input.flush();
  if (!state_->input.good()) throw BodyError("the response is no valid " + coding_);
  taken_ += step.size();
  made_ += state_->buffer.text.size();
  if (made_ > kFreeBytes && made_ / kMostGrowth > taken_)
    throw BodyError("the response is " + coding_ + " that grows beyond measure");
  return state_->buffer.text;
}

}  // namespace sortie

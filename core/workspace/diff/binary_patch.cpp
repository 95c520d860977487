#include "core/workspace/diff/binary_patch.h"

#include <Poco/InflatingStream.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <ostream>
#include <streambuf>

#include "core/base/error.h"
#include "core/files/files.h"

namespace sortie {
namespace {

constexpr std::string_view kTitle = "GIT binary patch\n";
constexpr std::string_view kDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
constexpr int kNoDigit = -1;

std::array<int, 256> digit_values() {
  std::array<int, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int>(i);
  return values;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) throw Error("its binary part is cut off");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// Decodes a line: a letter for the number of bytes, then five digits for each four of them (git,
/// base85.c).
std::string decoded_line(std::string_view line) {
  static const std::array<int, 256> kValues = digit_values();
  const char length = line.empty() ? '\0' : line.front();
  const std::size_t bytes =
      length >= 'A' && length <= 'Z'   ? static_cast<std::size_t>(length - 'A' + 1)
      : length >= 'a' && length <= 'z' ? static_cast<std::size_t>(length - 'a' + 27)
                                       : 0;
  line.remove_prefix(line.empty() ? 0 : 1);
  if (bytes == 0 || line.size() != (bytes + 3) / 4 * 5)
    throw Error("a line of its binary part has another length than it says");
  std::string decoded;
  for (std::size_t at = 0; at < line.size(); at += 5) {
    std::uint64_t value = 0;
    for (const char digit : line.substr(at, 5)) {
      const int one = kValues[static_cast<unsigned char>(digit)];
      if (one == kNoDigit)
        throw Error("a line of its binary part has a character that is no digit");
      value = value * kDigits.size() + static_cast<std::uint64_t>(one);
    }
    if (value > 0xffffffffu) throw Error("a line of its binary part is no number of base 85");
    for (int shift = 24; shift >= 0; shift -= 8)
      decoded += static_cast<char>(value >> shift & 0xffu);
  }
  decoded.resize(bytes);
  return decoded;
}

/// Takes what is inflated, up to a size.
class BoundedText : public std::streambuf {
 public:
  explicit BoundedText(std::uint64_t most) : most_(most) {}
  std::string text{};

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (static_cast<std::uint64_t>(count) > most_ - text.size()) return 0;
    text.append(bytes, static_cast<std::size_t>(count));
    return count;
  }
  int_type overflow(int_type one) override {
    if (traits_type::eq_int_type(one, traits_type::eof())) return traits_type::not_eof(one);
    const char byte = traits_type::to_char_type(one);
    return xsputn(&byte, 1) == 1 ? one : traits_type::eof();
  }
  const std::uint64_t most_;
};

/// One of a patch's two parts.
struct BinaryHunk {
  bool is_delta = false;
  std::uint64_t size = 0;  ///< of the inflated data
  std::string_view lines;  ///< the deflated data, coded
};

BinaryHunk take_hunk(std::string_view& text) {
  constexpr std::string_view kLiteral = "literal ";
  constexpr std::string_view kDelta = "delta ";
  std::string_view line = take_line(text);
  BinaryHunk hunk{.is_delta = line.starts_with(kDelta)};
  if (!hunk.is_delta && !line.starts_with(kLiteral))
    throw Error("its binary part is neither literal nor delta");
  line.remove_prefix(hunk.is_delta ? kDelta.size() : kLiteral.size());
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), hunk.size);
  if (problem != std::errc() || end != line.data() + line.size())
    throw Error("its binary part has no size");
  if (hunk.size > kMostFileBytes)
    throw Error("its binary part says that it has " + std::to_string(hunk.size) +
                " bytes, more than the " + std::to_string(kMostFileBytes) +
                " that are read of a file");
  const std::string_view lines = text;
  for (;;) {
    const std::size_t left = text.size();
    if (take_line(text).empty()) {
      hunk.lines = lines.substr(0, lines.size() - left);
      return hunk;
    }
  }
}

std::string inflated(const BinaryHunk& hunk) {
  BoundedText made(hunk.size);
  std::ostream output(&made);
  Poco::InflatingOutputStream input(output, Poco::InflatingStreamBuf::STREAM_ZLIB);
  for (std::string_view lines = hunk.lines; !lines.empty();) {
    const std::string bytes = decoded_line(take_line(lines));
    input.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    input.flush();
    if (!input.good())
      throw Error(output.good() ? "its binary part is not deflated"
                                : "its binary part inflates to more than the " +
                                      std::to_string(hunk.size) + " bytes that it says");
  }
  if (made.text.size() != hunk.size)
    throw Error("its binary part inflates to " + std::to_string(made.text.size()) +
                " bytes, not to the " + std::to_string(hunk.size) + " that it says");
  return std::move(made.text);
}

/// Reads the numbers of a delta.
class DeltaReader {
 public:
  explicit DeltaReader(std::string_view delta) : rest_(delta) {}
  bool at_end() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) throw Error("its delta is cut off");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t size() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7fu) << shift;
      if ((part & 0x80u) == 0) return value;
    }
    throw Error("its delta has no size");
  }
  /// Bytes in little endian, of which those are there that have a bit.
  std::uint64_t sparse(unsigned bits, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i)
      if ((bits >> i & 1u) != 0) value |= static_cast<std::uint64_t>(byte()) << (8 * i);
    return value;
  }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw Error("its delta is cut off");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

 private:
  std::string_view rest_;
};

/// Applies a delta (gitformat-pack(5), "Deltified representation").
std::string apply_delta(std::string_view before, std::string_view delta) {
  DeltaReader reader(delta);
  if (reader.size() != before.size()) throw Error("its delta is for a file of another size");
  const std::uint64_t size = reader.size();
  if (size > kMostFileBytes)
    throw Error("its delta makes " + std::to_string(size) + " bytes, more than are read of a file");
  std::string made;
  while (!reader.at_end()) {
    const unsigned what = reader.byte();
    std::string_view part;
    if ((what & 0x80u) != 0) {
      const std::uint64_t from = reader.sparse(what & 0xfu, 4);
      std::uint64_t count = reader.sparse(what >> 4 & 7u, 3);
      if (count == 0) count = 0x10000;
      if (from > before.size() || count > before.size() - from)
        throw Error("its delta copies from behind the end of the file");
      part = before.substr(from, count);
    } else {
      if (what == 0) throw Error("its delta has a step that is not defined");
      part = reader.bytes(what);
    }
    if (part.size() > size - made.size()) throw Error("its delta makes more than it says");
    made += part;
  }
  if (made.size() != size) throw Error("its delta makes less than it says");
  return made;
}

}  // namespace

std::string apply_binary_patch(std::string_view before, std::string_view body) {
  if (!body.starts_with(kTitle)) throw Error("it has no content of the binary file");
  body.remove_prefix(kTitle.size());
  const BinaryHunk forward = take_hunk(body);
  take_hunk(body);
  if (!body.empty()) throw Error("something follows its binary part");
  std::string data = inflated(forward);
  return forward.is_delta ? apply_delta(before, data) : data;
}

}  // namespace sortie

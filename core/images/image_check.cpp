#include "core/images/image_check.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/images/jpeg_marker.h"

namespace sortie {
namespace {

using namespace std::string_view_literals;

/// Takes parts of known size off the front; what is not there any more is a failure that stays.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }
  std::uint32_t byte() { return big(1); }
  /// At most 4 bytes, the most significant first; 0 where they are not there.
  std::uint32_t big(std::size_t count) {
    std::uint32_t number = 0;
    for (const char c : take(count)) number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }
  std::uint32_t little(std::size_t count) {
    const std::string_view part = take(count);
    std::uint32_t number = 0;
    for (std::size_t i = part.size(); i > 0; --i)
      number = number << 8 | static_cast<unsigned char>(part[i - 1]);
    return number;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < table.size(); ++n) {
    std::uint32_t value = n;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) ? 0xEDB88320u ^ (value >> 1) : value >> 1;
    table[n] = value;
  }
  return table;
}();

/// W3C PNG §5.5: of a chunk's type and data.
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : bytes)
    crc = kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

/// Kind and depth, methods and interlacing of an IHDR (W3C PNG §11.2.2).
bool is_usual_ihdr(std::string_view data) {
  if (data.size() != 13) return false;
  const auto depth = static_cast<unsigned char>(data[8]);
  const auto kind = static_cast<unsigned char>(data[9]);
  const bool low = depth == 1 || depth == 2 || depth == 4;
  const bool known = (kind == 0 && (low || depth == 8 || depth == 16)) ||
                     (kind == 3 && (low || depth == 8)) ||
                     ((kind == 2 || kind == 4 || kind == 6) && (depth == 8 || depth == 16));
  return known && data[10] == 0 && data[11] == 0 && (data[12] == 0 || data[12] == 1);
}

/// Whether a stream in zlib's format could begin so (RFC 1950 §2.2).
bool begins_zlib(std::string_view data) {
  if (data.size() < 2) return false;
  const unsigned method = static_cast<unsigned char>(data[0]);
  const unsigned flags = static_cast<unsigned char>(data[1]);
  return (method & 0x0F) == 8 && (method >> 4) <= 7 && (method << 8 | flags) % 31 == 0 &&
         (flags & 0x20) == 0;
}

/// What is wrong; "" for nothing. Chunks: length, type, data, checksum.
std::string png_problem(std::string_view bytes) {
  Cursor file(bytes.substr(8));
  bool palette = false;
  bool indexed = false;
  bool behind_data = false;
  std::string data;  // the beginning of what is compressed
  for (bool first = true;; first = false) {
    const std::uint32_t length = file.big(4);
    const std::string_view rest = file.rest();
    const std::string_view type = file.take(4);
    const std::string_view content = file.take(length);
    const std::uint32_t crc = file.big(4);
    if (file.failed()) return "it ends before its chunk IEND";
    const std::string name(type);
    for (const char c : type)
      if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return "a chunk has no name";
    // A capital begins the name of a chunk that a picture needs. Decoders take a wrong checksum of
    // others, and files with one are about.
    const bool needed = type[0] <= 'Z';
    if (needed && crc != crc_of(rest.substr(0, 4 + content.size())))
      return "the checksum of its chunk " + name + " is wrong";
    if (first != (type == "IHDR")) return "its first chunk alone has to be IHDR";
    if (first) {
      if (!is_usual_ihdr(content)) return "its IHDR says what no PNG has";
      indexed = content[9] == 3;
    } else if (type == "PLTE") {
      palette = true;
    } else if (type == "IDAT") {
      if (behind_data) return "its chunks IDAT are not together";
      if (data.size() < 2) data += content.substr(0, 2);
    } else if (type == "IEND") {
      if (data.empty()) return "it has no data";
      if (!begins_zlib(data)) return "its data is not compressed as PNG has it";
      return indexed && !palette ? "it has no palette" : "";
    }
    if (type != "IDAT" && !data.empty()) behind_data = true;
  }
}

/// Passes over a scan's data up to the next marker: FF 00 and restarts (D0 to D7) belong to it.
void skip_scan(Cursor& file) {
  while (!file.failed()) {
    const std::size_t at = file.rest().find('\xFF');
    file.take(at == std::string_view::npos ? file.rest().size() + 1 : at);
    const std::string_view rest = file.rest();
    if (rest.size() < 2) return;
    const auto code = static_cast<unsigned char>(rest[1]);
    if (code != 0x00 && (code < 0xD0 || code > 0xD7)) return;
    file.take(2);
  }
}

/// Segments: FF (any number of them), marker, and but for a few a length that counts itself.
std::string jpeg_problem(std::string_view bytes) {
  Cursor file(bytes.substr(2));
  bool frame = false;
  bool scan = false;
  for (;;) {
    if (file.byte() != 0xFF && !file.failed()) return "there is no segment where one is due";
    std::uint32_t marker = file.byte();
    while (marker == 0xFF) marker = file.byte();
    if (marker == 0xD9) return scan ? "" : "it has no scan";
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) continue;
    if (file.failed()) return "it ends before its end mark";
    if (marker == 0x00 || marker == 0xD8) return "there is no segment where one is due";
    const std::uint32_t length = file.big(2);
    const std::string_view content = file.take(length < 2 ? 0 : length - 2);
    if (file.failed()) return "it ends before its end mark";
    if (length < 2) return "a segment has no length";
    const auto count_at = [&](std::size_t at) {
      return content.size() > at ? static_cast<unsigned char>(content[at]) : 0u;
    };
    if (begins_jpeg_frame(marker)) {
      if (frame && marker != 0xC5 && marker != 0xC6 && marker != 0xC7)
        return "it has more than one frame";
      frame = true;
      const std::uint32_t components = count_at(5);
      if (components < 1 || components > 4 || content.size() != 6 + 3 * components)
        return "its frame is none";
    } else if (marker == 0xDA) {
      const std::uint32_t components = count_at(0);
      if (!frame) return "it has a scan without a frame";
      if (components < 1 || components > 4 || content.size() != 4 + 2 * components)
        return "its scan is none";
      scan = true;
      skip_scan(file);
    }
  }
}

/// Blocks of at most 255 bytes, each behind its length, up to an empty one.
/// @return  how many there are
std::size_t skip_blocks(Cursor& file) {
  for (std::size_t count = 0;; ++count) {
    const std::uint32_t length = file.byte();
    if (length == 0 || file.failed()) return count;
    file.take(length);
  }
}

/// Bytes of the table of colours that these flags tell of.
std::size_t table_bytes(std::uint32_t flags) {
  return (flags & 0x80) != 0 ? std::size_t{3} << ((flags & 7) + 1) : 0;
}

/// The logical screen, then extensions (21) and images (2C) up to the trailer (3B).
std::string gif_problem(std::string_view bytes) {
  Cursor file(bytes.substr(6));
  const std::string_view screen = file.take(7);
  if (file.failed()) return "it ends within its first bytes";
  file.take(table_bytes(static_cast<unsigned char>(screen[4])));
  for (std::size_t images = 0;;) {
    const std::uint32_t kind = file.byte();
    if (file.failed()) return "it ends before its trailer";
    if (kind == 0x3B) return images > 0 ? "" : "it has no image";
    if (kind == 0x21) {
      file.take(1);
      skip_blocks(file);
    } else if (kind == 0x2C) {
      file.take(4);
      const std::uint32_t width = file.little(2);
      const std::uint32_t height = file.little(2);
      file.take(table_bytes(file.byte()));
      const std::uint32_t code_size = file.byte();
      const std::size_t blocks = skip_blocks(file);
      if (file.failed()) return "it ends before its trailer";
      if (width == 0 || height == 0 || blocks == 0 || code_size < 2 || code_size > 8)
        return "one of its images is none";
      ++images;
    } else {
      return "there is no block where one is due";
    }
  }
}

/// RFC 9649 §2.3 and §2.7: chunks of a name, a length and content, which is padded to be even.
std::string webp_problem(std::string_view bytes, const ImageHeader& header) {
  Cursor whole(bytes.substr(4));
  const std::uint32_t size = whole.little(4);
  if (size < 12) return "its length is none";
  Cursor file(whole.take(size));
  if (whole.failed()) return "it ends before the length that it tells";
  file.take(4);  // "WEBP"
  bool extended = false;
  bool shown = false;
  for (bool first = true; !file.at_end(); first = false) {
    const std::string_view name = file.take(4);
    const std::uint32_t length = file.little(4);
    const std::string_view content = file.take(length);
    file.take(length % 2);
    if (file.failed()) return "it ends within a chunk";
    if (first) extended = name == "VP8X";
    if (name == "ANMF" && extended) shown = shown || length > 16 + 8;
    if (name != "VP8 " && name != "VP8L") continue;
    // As a file of its own: what it says of its size has to be what the whole says.
    std::string alone =
        "RIFF....WEBP" + std::string(name) + "...." + std::string(content.substr(0, 16));
    for (std::size_t i = 0; i < 4; ++i) alone[16 + i] = static_cast<char>(length >> (8 * i));
    if (read_image_header(alone) != header) return "its data says another size than its header";
    if (name == "VP8 ") {
      Cursor frame(content);
      const std::uint32_t tag = frame.little(3);
      if (length < 10 || tag >> 5 > length - 10) return "its data ends too early";
    }
    shown = true;
  }
  return shown ? "" : "it has no data";
}

}  // namespace

std::string image_problem(std::string_view bytes, const ImageHeader& header) {
  if (header.width > kLongestImageSide || header.height > kLongestImageSide)
    return "has " + std::to_string(header.width) + " x " + std::to_string(header.height) +
           " pixels, and can't be shown: at most " + std::to_string(kLongestImageSide) +
           " a side can";
  const std::string_view format = image_format(bytes);
  std::string problem;
  if (format == "PNG") problem = png_problem(bytes);
  if (format == "JPEG") problem = jpeg_problem(bytes);
  if (format == "GIF") problem = gif_problem(bytes);
  if (format == "WebP") problem = webp_problem(bytes, header);
  if (problem.empty()) return "";
  return "is not a complete " + std::string(format) + ": " + problem;
}

}  // namespace sortie

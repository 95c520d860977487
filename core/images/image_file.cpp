#include "core/images/image_file.h"

#include <cstddef>

namespace sortie {
namespace {

using namespace std::string_view_literals;

/// Reads numbers at offsets; nothing for offsets past the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool has(std::size_t at, std::string_view text) const {
    return at <= bytes_.size() && bytes_.substr(at).starts_with(text);
  }
  std::optional<std::uint32_t> byte(std::size_t at) const {
    if (at >= bytes_.size()) return std::nullopt;
    return static_cast<unsigned char>(bytes_[at]);
  }
  /// `count` bytes, at most 4, the most significant first.
  std::optional<std::uint32_t> big(std::size_t at, std::size_t count) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto next = byte(at + i);
      if (!next) return std::nullopt;
      number = number << 8 | *next;
    }
    return number;
  }
  /// The same, the least significant first.
  std::optional<std::uint32_t> little(std::size_t at, std::size_t count) const {
    std::uint32_t number = 0;
    for (std::size_t i = count; i > 0; --i) {
      const auto next = byte(at + i - 1);
      if (!next) return std::nullopt;
      number = number << 8 | *next;
    }
    return number;
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

std::optional<ImageHeader> image_of(const char* type, std::optional<std::uint32_t> width,
                                    std::optional<std::uint32_t> height) {
  constexpr std::uint32_t kMost = 0x7FFFFFFF;  // PNG's limit; the other formats have smaller ones
  if (!width || !height || *width == 0 || *height == 0 || *width > kMost || *height > kMost)
    return std::nullopt;
  return ImageHeader{type, static_cast<int>(*width), static_cast<int>(*height)};
}

/// Signature, then the chunk IHDR of 13 bytes: length, type, width, height, ….
std::optional<ImageHeader> read_png(const Reader& file) {
  constexpr std::size_t kLength = 8;
  if (file.big(kLength, 4) != 13u || !file.has(kLength + 4, "IHDR")) return std::nullopt;
  return image_of("image/png", file.big(16, 4), file.big(20, 4));
}

/// "GIF87a" or "GIF89a", then the logical screen's width and height.
std::optional<ImageHeader> read_gif(const Reader& file) {
  return image_of("image/gif", file.little(6, 2), file.little(8, 2));
}

/// Whether a marker (ITU-T T.81 table B.1, without its FF) begins a frame: SOF0 to SOF15 without
/// DHT (C4), JPG (C8) and DAC (CC).
constexpr bool begins_jpeg_frame(std::uint32_t marker) noexcept {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// Markers: FF (any number of them), code, and for most a length of two bytes that includes itself.
/// A frame's: length, precision, height, width. A height of 0 would be given by a DNL marker after
/// the first scan, which no current encoder writes.
std::optional<ImageHeader> read_jpeg(const Reader& file) {
  for (std::size_t at = 2; at < file.size();) {
    if (file.byte(at) != 0xFFu) return std::nullopt;
    while (file.byte(at) == 0xFFu) ++at;
    const auto marker = file.byte(at++);
    if (!marker || *marker == 0x00) return std::nullopt;
    if (*marker == 0x01 || (*marker >= 0xD0 && *marker <= 0xD8)) continue;  // TEM, RSTn, SOI
    if (*marker == 0xD9 || *marker == 0xDA) return std::nullopt;  // end, or a scan without a frame
    const auto length = file.big(at, 2);
    if (!length || *length < 2) return std::nullopt;
    if (begins_jpeg_frame(*marker)) {
      if (*length < 8) return std::nullopt;
      return image_of("image/jpeg", file.big(at + 5, 2), file.big(at + 3, 2));
    }
    at += *length;
  }
  return std::nullopt;
}

/// A key frame: three bytes of tag, the start code 9D 01 2A, width and height of 14 bits.
std::optional<ImageHeader> read_lossy_webp(const Reader& file, std::size_t at) {
  const auto tag = file.byte(at);
  if (!tag || (*tag & 1) != 0 || !file.has(at + 3, "\x9D\x01\x2A"sv)) return std::nullopt;
  auto width = file.little(at + 6, 2);
  auto height = file.little(at + 8, 2);
  if (width) *width &= 0x3FFF;
  if (height) *height &= 0x3FFF;
  return image_of("image/webp", width, height);
}

/// The signature 2F, then width - 1 and height - 1 of 14 bits each, and a version that is 0.
std::optional<ImageHeader> read_lossless_webp(const Reader& file, std::size_t at) {
  const auto bits = file.little(at + 1, 4);
  if (file.byte(at) != 0x2Fu || !bits || *bits >> 29 != 0) return std::nullopt;
  return image_of("image/webp", (*bits & 0x3FFF) + 1, (*bits >> 14 & 0x3FFF) + 1);
}

/// Flags and three reserved bytes, then width - 1 and height - 1 of 24 bits each.
std::optional<ImageHeader> read_extended_webp(const Reader& file, std::size_t at) {
  const auto width = file.little(at + 4, 3);
  const auto height = file.little(at + 7, 3);
  if (!width || !height) return std::nullopt;
  return image_of("image/webp", *width + 1, *height + 1);
}

/// "RIFF", a length, "WEBP", then chunks: name, length, content.
std::optional<ImageHeader> read_webp(const Reader& file) {
  constexpr std::size_t kContent = 20;
  const auto length = file.little(16, 4);
  const auto holds = [&](std::uint32_t least) { return length && *length >= least; };
  if (file.has(12, "VP8 ")) return holds(10) ? read_lossy_webp(file, kContent) : std::nullopt;
  if (file.has(12, "VP8L")) return holds(5) ? read_lossless_webp(file, kContent) : std::nullopt;
  if (file.has(12, "VP8X")) return holds(10) ? read_extended_webp(file, kContent) : std::nullopt;
  return std::nullopt;
}

/// The place behind data in blocks (length, bytes; a length of 0 ends it) that begins at `at`.
std::optional<std::size_t> behind_blocks(const Reader& file, std::size_t at) {
  while (const auto length = file.byte(at)) {
    at += 1 + *length;
    if (*length == 0) return at;
  }
  return std::nullopt;
}

/// Bytes of a colour table, by the flags that announce it.
std::size_t colours(std::uint32_t flags) {
  return (flags & 0x80) != 0 ? std::size_t{3} << ((flags & 7) + 1) : 0;
}

/// Whether a GIF ends behind a whole image: programs show it, and some write no trailer.
///
/// Header, screen and colours, then extensions (21, label, blocks) and images (2C, place, flags,
/// colours, code size, blocks).
bool lacks_only_trailer(std::string_view bytes) {
  const Reader file(bytes);
  bool image = false;
  auto at = std::optional<std::size_t>(13 + colours(file.byte(10).value_or(0)));
  while (at && *at < bytes.size()) {
    const bool is_image = file.byte(*at) == 0x2Cu;
    if (!is_image && file.byte(*at) != 0x21u) return false;
    at = behind_blocks(file, *at + (is_image ? 11 + colours(file.byte(*at + 9).value_or(0)) : 2));
    image = image || is_image;
  }
  return image && at == bytes.size();
}

/// "it ends …" if the end mark of a complete file is missing, else "".
std::string missing_end(std::string_view bytes, std::string_view format) {
  const auto has = [bytes](std::string_view mark) { return bytes.find(mark) != bytes.npos; };
  if (format == "PNG")
    return has("\0\0\0\0IEND\xAE\x42\x60\x82"sv) ? "" : "it ends before its chunk IEND";
  if (format == "JPEG") {  // after a scan: a thumbnail in its metadata has marks, too
    const std::size_t scan = bytes.rfind("\xFF\xDA"sv);
    const bool ended = scan != bytes.npos && bytes.find("\xFF\xD9"sv, scan) != bytes.npos;
    return ended ? "" : "it ends before its end mark";
  }
  // The last block of the last image is empty.
  if (format == "GIF")
    return has("\0;"sv) || lacks_only_trailer(bytes) ? "" : "it ends before its trailer";
  const auto length = Reader(bytes).little(4, 4);
  const bool whole = length && *length >= 12 && *length <= bytes.size() - 8;
  return whole ? "" : "it ends before the length in its header";
}

}  // namespace

std::string_view image_format(std::string_view bytes) noexcept {
  if (bytes.starts_with("\x89PNG\r\n\x1A\n"sv)) return "PNG";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "GIF";
  if (bytes.starts_with("\xFF\xD8\xFF"sv)) return "JPEG";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "WebP";
  return "";
}

std::optional<ImageHeader> read_image_header(std::string_view bytes) {
  const Reader file(bytes);
  const std::string_view format = image_format(bytes);
  if (format == "PNG") return read_png(file);
  if (format == "GIF") return read_gif(file);
  if (format == "JPEG") return read_jpeg(file);
  if (format == "WebP") return read_webp(file);
  return std::nullopt;
}

std::string image_problem(std::string_view bytes, const ImageHeader& header) {
  if (header.width > kLongestImageSide || header.height > kLongestImageSide)
    return "has " + std::to_string(header.width) + " x " + std::to_string(header.height) +
           " pixels, and can't be shown: at most " + std::to_string(kLongestImageSide) +
           " a side can";
  const std::string_view format = image_format(bytes);
  const std::string problem = missing_end(bytes, format);
  return problem.empty() ? "" : "is not a complete " + std::string(format) + ": " + problem;
}

}  // namespace sortie

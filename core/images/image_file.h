#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// The header of an image file.
struct ImageHeader {
  std::string media_type;  ///< "image/png", "image/jpeg", "image/gif", "image/webp"
  int width = 0;           ///< pixels, at least 1
  int height = 0;
  bool operator==(const ImageHeader&) const = default;
};

/// The largest image that is sent to a model.
inline constexpr std::uint64_t kMaxImageBytes = 10ull << 20;

/// Reads type and size from the content of a PNG (W3C PNG §5.2, §11.2.2), JPEG (ITU-T T.81 annex
/// B), GIF (87a, 89a) or WebP (RFC 9649). Only the header is read.
/// @return nothing for other files, and for a header that is incomplete or broken
std::optional<ImageHeader> read_image_header(std::string_view bytes);

/// "PNG", "JPEG", "GIF" or "WebP" by the first bytes alone; "" for other files.
std::string_view image_format(std::string_view bytes) noexcept;

/// The longest side of a shown image in pixels, which all current decoders accept.
inline constexpr int kLongestImageSide = 16'384;

/// Why an image can't be shown, as in "shot.png PROBLEM"; or "".
///
/// Checks its size and its end mark (a WebP's length), to detect a truncated file at once. The
/// content is left to the provider: a run continues after an image was refused. Bytes after the end
/// mark are ignored.
/// @param header  from read_image_header() for the same bytes
std::string image_problem(std::string_view bytes, const ImageHeader& header);

}  // namespace sortie

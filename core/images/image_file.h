#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// What an image file says of itself.
struct ImageHeader {
  std::string media_type;  ///< "image/png", "image/jpeg", "image/gif", "image/webp"
  int width = 0;           ///< pixels, at least 1
  int height = 0;
  bool operator==(const ImageHeader&) const = default;
};

/// The most that a model is sent as one image.
inline constexpr std::uint64_t kMaxImageBytes = 10ull << 20;

/// Reads kind and size from the content alone: of PNG (W3C PNG §5.2, §11.2.2), JPEG (ITU-T T.81
/// annex B), GIF (87a, 89a) and WebP (RFC 9649). What follows the header is not looked at.
/// @return nothing where it is none of these, or is cut or broken before its size is known
std::optional<ImageHeader> read_image_header(std::string_view bytes);

/// "PNG", "JPEG", "GIF" or "WebP" by the first bytes alone, whatever follows them; "" for none.
std::string_view image_format(std::string_view bytes) noexcept;

/// Of an image that is shown, in pixels: what every decoder of today takes.
inline constexpr int kLongestImageSide = 16'384;

/// Why an image can't be shown, as in "shot.png PROBLEM"; "" where it can.
///
/// Looks at its size and for its end mark (of a WebP at its length), so that a file that is cut off
/// is told apart at once. What stands between is for the provider to judge: a run goes on after an
/// image that was refused. What stands behind the end mark does not count.
/// @param header  what read_image_header() made of the same bytes
std::string image_problem(std::string_view bytes, const ImageHeader& header);

}  // namespace sortie

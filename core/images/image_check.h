#pragma once

#include <string>
#include <string_view>

#include "core/images/image_file.h"

namespace sortie {

/// Of an image that is shown, in pixels: what every decoder of today takes.
inline constexpr int kLongestImageSide = 16'384;

/// Why an image can't be shown, as in "shot.png PROBLEM": "is not a complete PNG: …" where its
/// structure does not go on to its end mark, or its size is none. "" where it can.
///
/// Walks through all chunks (PNG, needed ones with their checksums; WebP), segments (JPEG) or
/// blocks (GIF); what is compressed in them is not decoded. What stands behind the end mark does
/// not count.
/// @param header  what read_image_header() made of the same bytes
std::string image_problem(std::string_view bytes, const ImageHeader& header);

}  // namespace sortie

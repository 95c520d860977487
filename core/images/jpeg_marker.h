#pragma once

#include <cstdint>

namespace sortie {

/// Whether a marker (ITU-T T.81 table B.1, without its FF) begins a frame: SOF0 to SOF15 without
/// DHT (C4), JPG (C8) and DAC (CC).
constexpr bool begins_jpeg_frame(std::uint32_t marker) noexcept {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

}  // namespace sortie

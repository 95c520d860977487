#include "app/inputs/run_id.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "core/base/error.h"

namespace sortie {

std::string new_run_id() {
  std::array<std::uint8_t, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw system_error("getrandom");
  const auto milliseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  for (std::size_t i = 0; i < 6; ++i)
    bytes[i] = static_cast<std::uint8_t>(milliseconds >> (8 * (5 - i)));
  bytes[6] = static_cast<std::uint8_t>(0x70 | (bytes[6] & 0x0F));
  bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

}  // namespace sortie

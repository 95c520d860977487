#pragma once

#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

namespace sortie::test {

/// So long a wait is no wait for a reader any more, but a test that hangs.
inline constexpr std::chrono::seconds kLong{120};

/// All that comes until the other end is closed.
inline std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace sortie::test

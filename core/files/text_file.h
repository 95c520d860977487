#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace sortie {

/// A text file that was read, or why it was not.
struct TextFile {
  std::string text;
  std::string problem;  ///< "no such file", "is a folder", "is not UTF-8"; "" where it was read
};

enum class Pipes { refused, accepted };

/// Reads a whole file that has to be UTF-8 text: a regular one. With Pipes::accepted a pipe or a
/// character device is read too, as shells make one of `<(command)` and `/dev/stdin`: up to 64 MiB,
/// and as long as no more than 10 s go by without a byte (ReadLimits).
TextFile read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                        Pipes pipes = Pipes::refused);

/// The same of any bytes.
TextFile read_bytes_file(const std::filesystem::path& path, std::uint64_t max_bytes,
                         Pipes pipes = Pipes::refused);

}  // namespace sortie

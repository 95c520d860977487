#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

struct FileDigest {
  std::string sha256;
  std::uint64_t bytes = 0;
};

/// SHA-256 of a file and its size; nothing where it can't be read, is a link or no regular file, or is
/// larger than any of ours: a file with holes costs a forger nothing.
std::optional<FileDigest> digest_of(const std::filesystem::path& path, std::uint64_t most);

/// The beginning of a digest, for people.
std::string digest_begin(std::string_view digest);

}  // namespace sortie

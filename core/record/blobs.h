#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// The largest that is read.
inline constexpr std::uint64_t kMaxBlobBytes = 256ull << 20;

/// Strings too long for a record, each in a file named by its digest: blobs/sha256-….
class Blobs {
 public:
  /// @param folder  created with the first blob
  explicit Blobs(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Writes the text atomically and synced, unless the blob exists already.
  /// @return {"blob":"sha256-…","bytes":N,"head":"…"}
  /// @throws Error  ExitCode::environment
  Json put(std::string_view text);

  /// Makes an existing file a blob: by a hard link if possible, else by a copy; synced. The file
  /// must not change afterwards.
  /// @return  as put(); nothing if the file is missing or has another size
  /// @throws Error  ExitCode::environment
  std::optional<Json> adopt(const std::filesystem::path& file, const std::string& sha256,
                            std::uint64_t bytes);

  /// Replaces the longest strings by blobs until the value has at most `max_bytes` of JSON. If that
  /// is not enough, whole members become blobs of JSON text, with "json":true.
  Json shorten(const Json& value, std::size_t max_bytes);

  /// Counts the blobs of an earlier process towards bytes().
  void count_found();

  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void make_folder() const;

  std::filesystem::path folder_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sortie

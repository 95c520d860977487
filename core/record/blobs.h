#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// Strings too long for a record, one file each, named by digest: blobs/sha256-….
class Blobs {
 public:
  /// @param folder  made with the first blob
  explicit Blobs(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Writes the text (whole or not at all, synced) unless it is there already.
  /// @return {"blob":"sha256-…","bytes":N,"head":"…"}
  /// @throws Error  ExitCode::environment
  Json put(std::string_view text);

  /// Takes a file that stands elsewhere as a blob: as another name of it where that can be had,
  /// else as a copy; synced. The file has to stay as it is.
  /// @return  as put(); nothing where the file is not there, or of another size
  /// @throws Error  ExitCode::environment
  std::optional<Json> adopt(const std::filesystem::path& file, const std::string& sha256,
                            std::uint64_t bytes);

  /// Replaces the longest strings of the value until it is at most `max_bytes` of JSON; where that
  /// is not enough, the largest members as JSON text, with "json":true.
  Json shorten(const Json& value, std::size_t max_bytes);

  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void make_folder() const;

  std::filesystem::path folder_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sortie

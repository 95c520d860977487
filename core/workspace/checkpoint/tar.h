#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

inline constexpr std::size_t kTarBlock = 512;

/// A member of an archive, without its content.
struct TarEntry {
  std::string name;
  bool is_link = false;
  unsigned mode = 0644;
  std::int64_t mtime = 0;  ///< nanoseconds
  std::uint64_t size = 0;  ///< of the content; 0 for a link
  std::string target{};    ///< of a link
  bool operator==(const TarEntry&) const = default;
};

/// The header blocks of a member; the content follows, filled up to whole blocks. A pax header holds
/// what the plain one has no room for.
///
/// Source: POSIX.1-2017 pax, "ustar Interchange Format" and "pax Extended Header".
std::string tar_header(const TarEntry& entry);

/// The zero bytes after a content of this size.
std::string tar_padding(std::uint64_t size);

/// The two blocks that end an archive.
std::string tar_end();

struct TarMember {
  TarEntry entry;
  std::string_view content;
};

/// Reads the members that tar_header() wrote, one after the other.
class TarReader {
 public:
  explicit TarReader(std::string_view archive) : archive_(archive) {}
  /// Nothing at the end, and where the archive is torn or written by something else.
  std::optional<TarMember> next();
  /// Where the member begins that next() reads.
  std::size_t offset() const noexcept { return offset_; }

 private:
  std::string_view archive_;
  std::size_t offset_ = 0;
};

}  // namespace sortie

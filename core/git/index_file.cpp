#include "core/git/index_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/git/config/rule_files.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using namespace std::string_view_literals;

// "DIRC", version, number of entries (32 bits, big endian, as all numbers); the entries; extensions
// (4 letters, size, content); the SHA-1 of all before, or zeros.
constexpr std::size_t kHeader = 12;
constexpr std::size_t kChecksum = 20;
constexpr std::size_t kExtensionHeader = 8;
constexpr std::uint64_t kMostIndexBytes = 1ull << 30;

// An entry: times of change and modification (s, ns each), device, inode, mode, user, group, size,
// id, flags (16 bits), in version 3 with kExtended further flags (16 bits), path, 1 to 8 NULs up to
// a multiple of 8.
constexpr std::size_t kInode = 20;
constexpr std::size_t kMode = 24;
constexpr std::size_t kSize = 36;
constexpr std::size_t kId = 40;
constexpr std::size_t kFlags = 60;
constexpr std::size_t kPath = 62;
constexpr unsigned kAssumeUnchanged = 0x8000;
constexpr unsigned kExtended = 0x4000;
constexpr unsigned kLengthMask = 0x0fff;  ///< also for longer paths
constexpr unsigned kSkipWorktree = 0x4000;
constexpr unsigned kIntentToAdd = 0x2000;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i]));
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

unsigned short_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])) << 8 |
         static_cast<unsigned char>(bytes[at + 1]);
}

std::array<unsigned char, kChecksum> id_at(std::string_view bytes, std::size_t at) {
  std::array<unsigned char, kChecksum> id;
  std::memcpy(id.data(), bytes.data() + at, id.size());
  return id;
}

std::size_t path_at(std::string_view bytes, std::size_t at) {
  return at + kPath + ((short_at(bytes, at + kFlags) & kExtended) != 0 ? 2 : 0);
}

/// The path of an entry that was found to be whole.
std::string_view path_of(std::string_view bytes, std::size_t at) {
  const std::size_t begin = path_at(bytes, at);
  const std::size_t length = short_at(bytes, at + kFlags) & kLengthMask;
  if (length < kLengthMask) return bytes.substr(begin, length);
  return bytes.substr(begin, bytes.find('\0', begin) - begin);
}

bool has_right_digest(std::string_view bytes) {
  const std::string_view digest = bytes.substr(bytes.size() - kChecksum);
  if (digest.find_first_not_of('\0') == digest.npos) return true;  // index.skipHash
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const char one : digest) {
    const auto byte = static_cast<unsigned char>(one);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return sha1_hex(bytes.substr(0, bytes.size() - kChecksum)) == hex;
}

}  // namespace

std::optional<IndexFile> IndexFile::open(const fs::path& path) {
  if (reading_may_block(path)) return std::nullopt;
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMostIndexBytes) return std::nullopt;
  std::string bytes(size, '\0');
  for (std::size_t filled = 0; filled < size;) {
    const ssize_t count = ::read(file.get(), bytes.data() + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    filled += static_cast<std::size_t>(count);
  }
  return parse(std::move(bytes));
}

std::shared_ptr<const IndexFile> IndexOnce::open(const fs::path& path) {
  const std::scoped_lock lock(mutex_);
  if (file_ == nullptr)
    if (auto file = IndexFile::open(path))
      file_ = std::make_shared<const IndexFile>(std::move(*file));
  return file_;
}

std::optional<IndexFile> IndexFile::parse(std::string bytes) {
  IndexFile file(std::move(bytes));
  if (!file.find_entries()) return std::nullopt;
  return file;
}

bool IndexFile::find_entries() {
  const std::string_view all = bytes_;
  if (all.size() < kHeader + kChecksum || all.size() > kMostIndexBytes) return false;
  const bool is_known = all.starts_with("DIRC\0\0\0\2"sv) || all.starts_with("DIRC\0\0\0\3"sv);
  if (!is_known) return false;
  const std::size_t end = all.size() - kChecksum;
  const std::size_t count = number_at(all, 8);
  if (count > (end - kHeader) / kPath) return false;
  places_.reserve(count);
  std::size_t at = kHeader;
  std::string_view last;
  unsigned last_stage = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (end - at < kPath + 2) return false;
    const std::size_t begin = path_at(all, at);
    const unsigned flags = short_at(all, at + kFlags);
    std::size_t length = flags & kLengthMask;
    if (length == kLengthMask) length = std::min(all.find('\0', begin), end) - begin;
    const std::size_t next = at + ((begin - at + length + 8) & ~std::size_t{7});
    if (next > end || all[begin + length] != '\0') return false;
    const std::string_view path = all.substr(begin, length);
    const unsigned stage = flags >> 12 & 3;
    const int order = i == 0 ? -1 : last.compare(path);
    if (order > 0 || (order == 0 && last_stage >= stage) || path.empty()) return false;
    places_.push_back(static_cast<std::uint32_t>(at));
    last = path;
    last_stage = stage;
    at = next;
  }
  return find_extensions(at) && has_right_digest(all);
}

/// Those that change what entries mean have names in lower case: a split or a sparse index.
bool IndexFile::find_extensions(std::size_t at) {
  const std::string_view all = std::string_view(bytes_).substr(0, bytes_.size() - kChecksum);
  while (at < all.size()) {
    if (all.size() - at < kExtensionHeader) return false;
    const std::string_view name = all.substr(at, 4);
    const std::size_t size = number_at(all, at + 4);
    at += kExtensionHeader;
    if (size > all.size() - at || name[0] < 'A' || name[0] > 'Z') return false;
    if (name == "TREE") read_tree(all.substr(at, size));
    at += size;
  }
  return true;
}

/// The first entry is the whole tree: NUL (its path is empty), the number of entries in it or -1 if
/// it is not known, ' ', the number of folders, LF, the id if it is known.
void IndexFile::read_tree(std::string_view content) {
  const std::size_t end = content.find('\n');
  if (end == content.npos || content.front() != '\0' || content.size() - end - 1 < kChecksum)
    return;
  const std::string_view numbers = content.substr(1, end - 1);
  const std::string count = std::to_string(places_.size()) + ' ';
  if (numbers.starts_with(count)) tree_ = id_at(content, end + 1);
}

std::string_view IndexFile::path(std::size_t i) const { return path_of(bytes_, places_[i]); }

IndexEntry IndexFile::entry(std::size_t i) const {
  const std::string_view all = bytes_;
  const std::size_t at = places_[i];
  const unsigned flags = short_at(all, at + kFlags);
  const unsigned more = (flags & kExtended) != 0 ? short_at(all, at + kPath) : 0;
  return {.path = path_of(all, at),
          .mode = number_at(all, at + kMode),
          .id = id_at(all, at + kId),
          .size = number_at(all, at + kSize),
          .inode = number_at(all, at + kInode),
          .modified_s = number_at(all, at + 8),
          .modified_ns = number_at(all, at + 12),
          .changed_s = number_at(all, at),
          .changed_ns = number_at(all, at + 4),
          .stage = flags >> 12 & 3,
          .assume_unchanged = (flags & kAssumeUnchanged) != 0,
          .skip_worktree = (more & kSkipWorktree) != 0,
          .intent_to_add = (more & kIntentToAdd) != 0};
}

std::size_t IndexFile::lower_bound(std::string_view path) const {
  const auto at = std::lower_bound(places_.begin(), places_.end(), path,
                                   [&](std::uint32_t place, std::string_view wanted) {
                                     return path_of(bytes_, place) < wanted;
                                   });
  return static_cast<std::size_t>(at - places_.begin());
}

std::optional<IndexEntry> IndexFile::find(std::string_view path) const {
  const std::size_t i = lower_bound(path);
  if (i == places_.size() || this->path(i) != path) return std::nullopt;
  IndexEntry found = entry(i);
  return found.stage == 0 ? std::optional(found) : std::nullopt;
}

}  // namespace sortie

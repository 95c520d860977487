#include "core/git/git_index.h"

#include <fcntl.h>
#include <git2/sys/repository.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/files.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::size_t kDigest = 20;
constexpr std::uint64_t kMostOfIndex = 1ull << 30;

/// Whether the checksum at its end is left out: all zero (gitformat-index(5)).
bool lacks_checksum(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, kDigest> end{};
  const off_t at = status.st_size - static_cast<off_t>(kDigest);
  if (at < 0 || ::pread(file.get(), end.data(), end.size(), at) != static_cast<ssize_t>(kDigest))
    return false;
  return end == std::array<char, kDigest>{};
}

/// The two digits of each byte as the byte.
std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// The index with its checksum, read from a file in memory.
bool open_with_checksum(GitIndex& index, const fs::path& path) {
  std::string bytes;
  try {
    bytes = read_file(path, kMostOfIndex);
  } catch (const Error&) {
    return false;
  }
  if (bytes.size() < kDigest) return false;
  bytes.resize(bytes.size() - kDigest);
  bytes += bytes_of(sha1_hex(bytes));
  const Fd memory(::memfd_create("index", MFD_CLOEXEC));
  if (!memory || !write_all(memory.get(), bytes)) return false;
  // libgit2 reads the whole of it here, and not again.
  const std::string name = "/proc/self/fd/" + std::to_string(memory.get());
  return git_index_open(GitOut(index), name.c_str()) == 0;
}

}  // namespace

void give_readable_index(git_repository& repository, const fs::path& path) {
  GitIndex index;
  if (lacks_checksum(path) && open_with_checksum(index, path))
    git_repository_set_index(&repository, index.get());
}

bool open_index_file(GitIndex& index, const fs::path& path) {
  if (lacks_checksum(path)) return open_with_checksum(index, path);
  return git_index_open(GitOut(index), path.c_str()) == 0;
}

}  // namespace sortie

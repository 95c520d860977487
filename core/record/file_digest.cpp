#include "core/record/file_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/fd.h"
#include "core/base/hash.h"

namespace sortie {

std::optional<FileDigest> digest_of(const std::filesystem::path& path, std::uint64_t most) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) > most)
    return {};
  Sha256 hash;
  FileDigest digest;
  std::string part(1 << 16, '\0');
  for (;;) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {};
    if (count == 0) break;
    digest.bytes += static_cast<std::uint64_t>(count);
    hash.update(std::string_view(part.data(), static_cast<std::size_t>(count)));
  }
  digest.sha256 = hash.finish();
  return digest;
}

std::string digest_begin(std::string_view digest) {
  return std::string(digest.substr(0, 12)) + "…";
}

}  // namespace sortie

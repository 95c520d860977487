#include "app/run/attempt_key.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/base/patient_io.h"

namespace sortie {

AttemptKey::AttemptKey(const RunOptions& options) {
  Fd opened;
  int source = options.api_key_fd.value_or(-1);
  struct stat status {};
  if (!options.api_key_file.empty() && ::stat(options.api_key_file.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode)) {
    opened = Fd(::open(options.api_key_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    source = opened.get();
  }
  if (source < 0) return;
  ReadBytes key = read_to_end(source, {.max_bytes = 1u << 16});
  if (!key.problem.empty()) throw InputError("the API key " + key.problem);
  Fd copy(::memfd_create("sortie-key", MFD_CLOEXEC));
  const bool written = copy && write_all(copy.get(), key.bytes);
  ::explicit_bzero(key.bytes.data(), key.bytes.size());
  if (!written) throw system_error("memfd_create", ExitCode::environment);
  if (options.api_key_fd) ::close(*options.api_key_fd);
  copy_ = std::move(copy);
}

/// A position of its own: the attempts read at the same time.
RunOptions AttemptKey::again(RunOptions options) const {
  if (!copy_) return options;
  const std::string path = "/proc/self/fd/" + std::to_string(copy_->get());
  const int own = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (own < 0) throw path_error("the API key", errno);
  options.api_key_fd = own;
  options.api_key_file.clear();
  return options;
}

void AttemptKey::give_to(RunOptions& options) {
  options = again(std::move(options));
  copy_.reset();
}

}  // namespace sortie

#include "core/files/sync_together.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <thread>

namespace sortie {

int sync_together(const std::vector<Fd>& files) noexcept {
  std::atomic<int> failed = 0;
  const auto sync = [&failed](const Fd& file) {
    if (::fsync(file.get()) != 0) failed = errno;
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < files.size(); ++i) {
    try {
      others.emplace_back([&sync, &file = files[i]] { sync(file); });
    } catch (const std::exception&) {  // no more threads, or no memory
      sync(files[i]);
    }
  }
  if (!files.empty()) sync(files.front());
  others.clear();
  return failed;
}

}  // namespace sortie

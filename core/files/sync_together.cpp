#include "core/files/sync_together.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <thread>

#include "core/base/error.h"

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

void sync_with_name(const std::filesystem::path& file) {
  std::vector<Fd> both;
  for (const std::filesystem::path& path : {file, file.parent_path()}) {
    both.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!both.back()) throw path_error(path.string(), errno);
  }
  if (const int error = sync_together(both)) throw path_error(file.string(), error);
}

}  // namespace sortie

#include "policies/sandbox/layers/process_files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sortie {
namespace {

constexpr std::size_t kMost = 128;

std::size_t most_processes() {
  constexpr rlim_t kFilesOfEach = 2;
  constexpr rlim_t kPart = 4;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  return std::min<rlim_t>(kMost, files.rlim_cur / kPart / kFilesOfEach);
}

/// "" if nothing is open, or its process is gone. Both files are shorter than this.
std::string read_from_start(const Fd& file) {
  char buffer[4096];
  const ssize_t count = file ? ::pread(file.get(), buffer, sizeof buffer, 0) : -1;
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : std::string();
}

}  // namespace

ProcessFiles::ProcessFiles() : most_(most_processes()) {}

std::string ProcessFiles::read(pid_t process, Fd Open::*which, const char* name) {
  auto known = open_.find(process);
  if (known != open_.end()) {
    known->second.was_read = true;
    if (std::string text = read_from_start(known->second.*which); !text.empty()) return text;
  }
  // Not open yet, or of a process that had the number before.
  const std::string path = "/proc/" + std::to_string(process) + name;
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text = read_from_start(file);
  if (text.empty()) return text;
  if (known == open_.end() && open_.size() < most_)
    known = open_.emplace(process, Open{.was_read = true}).first;
  if (known != open_.end()) known->second.*which = std::move(file);
  return text;
}

void ProcessFiles::close_unread() {
  for (auto one = open_.begin(); one != open_.end();)
    one = std::exchange(one->second.was_read, false) ? std::next(one) : open_.erase(one);
}

}  // namespace sortie

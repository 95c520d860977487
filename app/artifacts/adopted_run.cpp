#include "app/artifacts/adopted_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTranscript = "transcript.jsonl";

/// A transcript may be larger than what fits into memory.
void copy_one(const fs::path& from, const fs::path& to) {
  const Fd file(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) throw path_error(from.string(), errno);
  AtomicFile copy(to, new_file_mode());
  std::vector<char> buffer(1u << 20);
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw path_error(from.string(), errno);
    if (count == 0) break;
    copy.write({buffer.data(), static_cast<std::size_t>(count)});
  }
  copy.commit();
}

void copy_below(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (error) throw path_error(to.string(), error.value());
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path name = entry.path().filename();
    if (is_unfinished_write(name.string())) continue;
    if (entry.is_symlink()) continue;  // a run makes none
    if (entry.is_directory())
      copy_below(entry.path(), to / name);
    else if (entry.is_regular_file())
      copy_one(entry.path(), to / name);
  }
}

}  // namespace

void adopt_run(const fs::path& run, const OutputFolder& out) {
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name == ".lock" || name == ".gitignore" || name == "state" || name == "result.json" ||
        name == kTranscript || entry.is_symlink() || is_unfinished_write(name))
      continue;
    if (entry.is_directory())
      copy_below(entry.path(), out.path() / name);
    else if (entry.is_regular_file())
      copy_one(entry.path(), out.path() / name);
  }
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(run / kTranscript, error)))
    copy_one(run / kTranscript, out.path() / kTranscript);
}

}  // namespace sortie

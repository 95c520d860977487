#include "core/record/transcript_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/record/transcript.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Most transcripts are shorter than some of these, and of many only the first line is read.
constexpr std::size_t kPart = 64 << 10;

/// What to say of a transcript that is not there: people name the folder.
Error no_run(const fs::path& path) {
  std::error_code error;
  const bool in_folder = path.filename() == kTranscriptName && path.has_parent_path() &&
                         fs::is_directory(path.parent_path(), error);
  return Error(in_folder ? path.parent_path().string() + ": not a run's folder: it has no " +
                               std::string(kTranscriptName)
                         : path.string() +
                               ": no such file or folder; expected the folder of a run's --out, or "
                               "its transcript",
               ExitCode::usage);
}

Fd open_transcript(const fs::path& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!file && errno == ENOENT) throw no_run(path);
  if (!file || ::fstat(file.get(), &status) != 0)
    throw system_error("open " + path.string(), ExitCode::usage);
  // A pipe would be waited for without end, a device may have none.
  if (!S_ISREG(status.st_mode))
    throw Error(path.string() + ": not a transcript: not a regular file", ExitCode::usage);
  return file;
}

/// Memory that is not filled with zeros first.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) { grow(bytes); }

  char* end() { return memory_.get() + used_; }
  std::size_t room() const { return size_ - used_; }
  void add(std::size_t bytes) { used_ += bytes; }
  std::string_view text() const { return {memory_.get(), used_}; }
  void drop_front(std::size_t bytes) {
    used_ -= bytes;
    std::copy_n(memory_.get() + bytes, used_, memory_.get());
  }
  void grow(std::size_t bytes) {
    auto larger = std::make_unique_for_overwrite<char[]>(size_ + bytes);
    std::copy_n(memory_.get(), used_, larger.get());
    memory_ = std::move(larger);
    size_ += bytes;
  }

 private:
  std::unique_ptr<char[]> memory_{};
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

using Each = std::function<bool(std::string_view)>;

/// Hands over the whole lines of a block, without their newlines, until false is returned.
/// @return  whether that never was
bool each_line_of(std::string_view block, const Each& each) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    if (!each(block.substr(0, end))) return false;
    block.remove_prefix(std::min(end + 1, block.size()));
  }
  return true;
}

}  // namespace

std::uint64_t each_line(const fs::path& path, const Each& each) {
  const Fd file = open_transcript(path);
  Buffer buffer(kPart);
  for (;;) {
    if (buffer.room() == 0) buffer.grow(buffer.text().size());
    const ssize_t count = ::read(file.get(), buffer.end(), buffer.room());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("read " + path.string(), ExitCode::usage);
    if (count == 0) return buffer.text().size();
    const std::size_t held = buffer.text().size();
    buffer.add(static_cast<std::size_t>(count));
    const std::size_t last = buffer.text().substr(held).rfind('\n');
    if (last != std::string_view::npos) {
      const std::size_t whole = held + last + 1;
      if (!each_line_of(buffer.text().substr(0, whole), each)) return 0;
      buffer.drop_front(whole);
    } else if (buffer.text().size() > kLongestLine) {
      each(buffer.text());
      return 0;
    }
  }
}

}  // namespace sortie

#include "core/workspace/diff/diff_text.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/unnamed_file.h"

namespace sortie {
namespace {

/// Shorter texts stay in memory; longer ones are written in parts of this size.
constexpr std::size_t kWrittenPart = 512u << 10;

}  // namespace

class DiffText::Mapping {
 public:
  Mapping(const Fd& file, std::size_t bytes)
      : bytes_(bytes), begin_(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0)) {
    if (begin_ == MAP_FAILED) throw system_error("the text of the diff", ExitCode::environment);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(begin_, bytes_); }

  std::string_view view() const noexcept { return {static_cast<const char*>(begin_), bytes_}; }
  /// The pages stay in the kernel's cache, as those of any file that was read.
  void give_back() const noexcept { ::madvise(begin_, bytes_, MADV_DONTNEED); }

 private:
  std::size_t bytes_;
  void* begin_;
};

DiffText::DiffText(const Fd& file, std::size_t bytes)
    : mapping_(std::make_shared<const Mapping>(file, bytes)) {}

std::string_view DiffText::view() const noexcept {
  return mapping_ ? mapping_->view() : std::string_view(text_);
}

void DiffText::give_back() const noexcept {
  if (mapping_) mapping_->give_back();
}

void DiffTextWriter::add(std::string_view text) {
  if (!stays_in_memory() && text_.size() + text.size() >= kWrittenPart) {
    if (write_out(text_)) {
      text_.clear();
      if (text.size() >= kWrittenPart && write_out(text)) return;
    }
  }
  text_ += text;
}

void DiffTextWriter::add(char character) { add(std::string_view(&character, 1)); }

void DiffTextWriter::expect(std::size_t bytes) {
  text_.reserve(stays_in_memory() ? text_.size() + bytes : kWrittenPart);
}

/// Whether it is in the file now. If not, all is in memory from here on.
bool DiffTextWriter::write_out(std::string_view text) {
  if (stays_in_memory()) return false;
  if (!file_) file_ = unnamed_file(folder_);
  if (file_ && write_all(file_.get(), text)) {
    written_ += text.size();
    return true;
  }
  come_back();
  return false;
}

/// Reads what is in the file into memory again.
void DiffTextWriter::come_back() {
  folder_.clear();
  std::string text;
  text.reserve(written_ + text_.size() + kWrittenPart);
  text.resize(written_);
  for (std::size_t at = 0; at < written_;) {
    const auto got = ::pread(file_.get(), text.data() + at, written_ - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) throw system_error("the text of the diff", ExitCode::environment);
    at += static_cast<std::size_t>(got);
  }
  text_.insert(0, text);
  written_ = 0;
  file_.reset();
}

DiffText DiffTextWriter::take() {
  if (written_ == 0 || !write_out(text_)) return DiffText(std::move(text_));
  return DiffText(std::exchange(file_, Fd()), written_);
}

}  // namespace sortie

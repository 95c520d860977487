#include "tools/files/searched_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "core/base/fd.h"
#include "core/text/output_buffer.h"
#include "tools/files/text_encoding.h"

namespace sortie {
namespace {

constexpr std::size_t kKeptBuffer = 1u << 20;  ///< a larger buffer is freed after its file
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Removes CR before LF; most texts have none.
std::string_view without_carriage_returns(char* text, std::size_t size) {
  auto* const first = static_cast<char*>(std::memchr(text, '\r', size));
  if (first == nullptr) return {text, size};
  char* to = first;
  const char* const end = text + size;
  for (const char* from = first; from < end; ++from)
    if (*from != '\r' || (from + 1 < end && from[1] != '\n')) *to++ = *from;
  return {text, static_cast<std::size_t>(to - text)};
}

}  // namespace

SearchedText SearchedText::Reader::read(const WalkedFile& file) {
  const Fd open(::openat(file.folder->get(), file.name,
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!open) {
    // Removed since its folder was read: nothing is left out.
    if (errno == ENOENT) return {Kind::nothing};
    return unread(errno == EACCES ? "no permission" : "can't be read");
  }
  struct stat status {};
  if (::fstat(open.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {Kind::nothing};
  if (static_cast<std::uint64_t>(status.st_size) > largest_) return unread("too large");
  return read_from(open.get(), static_cast<std::size_t>(status.st_size));
}

/// @param size  the file's size, as far as known
SearchedText SearchedText::Reader::read_from(int file, std::size_t size) {
  if (buffer_.size() > kKeptBuffer) std::vector<char>(kKeptBuffer).swap(buffer_);
  // One byte more than the size, so that one read(2) sees the end.
  buffer_.resize(std::max(buffer_.size(), size + 1));
  std::size_t filled = 0;
  std::optional<Utf16Order> order;
  for (;;) {
    if (filled > largest_) return unread("too large: it grows");
    if (filled == buffer_.size()) buffer_.resize(filled + kKeptBuffer);
    const ssize_t count = ::read(file, buffer_.data() + filled, buffer_.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unread("can't be read");
    const bool first = filled == 0;
    filled += static_cast<std::size_t>(count);
    if (first) order = utf16_order({buffer_.data(), filled});
    if (first && !order && begins_binary({buffer_.data(), filled})) return {Kind::binary};
    if (count == 0 || (first && filled == size)) break;
  }
  if (order) {
    decoded_ = Utf16Decoder(*order).feed({buffer_.data(), filled});
    return {Kind::text, without_carriage_returns(decoded_.data(), decoded_.size())};
  }
  const std::size_t mark = std::string_view(buffer_.data(), filled).starts_with(kByteOrderMark)
                               ? kByteOrderMark.size()
                               : 0;
  return {Kind::text, without_carriage_returns(buffer_.data() + mark, filled - mark)};
}

}  // namespace sortie

#include "core/files/file_name.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {

std::string path_text(const std::filesystem::path& path) {
  return one_line(repair_utf8(path.native()), 300);
}

bool is_plain_path(std::string_view path) noexcept {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool names_descriptor(std::string_view path) noexcept {
  if (path == "/dev/stdin") return true;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    path.remove_prefix(folder.size());
    return !path.empty() && path.find_first_not_of("0123456789") == std::string_view::npos;
  }
  return false;
}

namespace {

constexpr std::string_view kTemporaryStart = ".sortie-";
constexpr std::string_view kTemporaryEnd = ".tmp";
constexpr std::size_t kTemporaryDigits = 16;  ///< of a 64-bit number in hex

}  // namespace

std::string temporary_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw system_error("getrandom");
  char digits[kTemporaryDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return std::string(kTemporaryStart) + digits + std::string(kTemporaryEnd);
}

bool is_temporary_name(std::string_view name) noexcept {
  if (!name.starts_with(kTemporaryStart) || !name.ends_with(kTemporaryEnd)) return false;
  if (name.size() != kTemporaryStart.size() + kTemporaryDigits + kTemporaryEnd.size()) return false;
  return name.substr(kTemporaryStart.size(), kTemporaryDigits)
             .find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string some_of(const std::vector<std::string>& paths, std::size_t shown) {
  const std::span told(paths.data(), std::min(paths.size(), shown));
  std::string text = joined(told, ", ", path_text);
  if (paths.size() > shown) text += " and " + std::to_string(paths.size() - shown) + " more";
  return text;
}

}  // namespace sortie

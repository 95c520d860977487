#include "core/files/file_name.h"

#include <stdlib.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <span>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Where temporary folders may be, in order of preference.
std::vector<fs::path> places() {
  std::vector<fs::path> found = {own_variable("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm",
                                 own_variable("HOME")};
  std::erase_if(found, [](const fs::path& place) { return !place.is_absolute(); });
  return found;
}

}  // namespace

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

fs::path make_temporary_folder(const std::string& name) {
  std::string problem;
  for (const fs::path& folder : places()) {
    std::string pattern = (folder / (name + "-XXXXXX")).string();
    if (::mkdtemp(pattern.data()) != nullptr) return fs::canonical(pattern);
    if (!problem.empty()) problem += "; ";
    problem += folder.string() + ": " + errno_text(errno);
  }
  throw Error("no folder for temporary files: " + problem + ": set TMPDIR", ExitCode::environment);
}

bool is_temporary_folder(const fs::path& path, const std::string& name) {
  if (!path.filename().string().starts_with(name + '-')) return false;
  for (const fs::path& place : places()) {
    std::error_code error;
    if (fs::canonical(place, error) == path.parent_path() && !error) return true;
  }
  return false;
}

}  // namespace sortie

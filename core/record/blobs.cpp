#include "core/record/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kHeadBytes = 1024;
/// A shorter string is hardly longer than the reference to a blob.
constexpr std::size_t kShortestBlob = 2 * kHeadBytes;

struct LongString {
  const Json* place;
  std::size_t written;  ///< bytes as JSON, with escapes
};

void collect(const Json& value, std::vector<LongString>& found) {
  if (value.is_string() && value.text().size() >= kShortestBlob)
    found.push_back({&value, written_size(value)});
  for (const Json& item : value.items()) collect(item, found);
  for (const auto& member : value.members()) collect(member.second, found);
}

using Replaced = std::unordered_map<const Json*, Json>;

/// A copy in which the large strings are replaced by references, without copying them.
Json copy_with(const Json& value, Replaced& replaced) {
  if (const auto found = replaced.find(&value); found != replaced.end())
    return std::move(found->second);
  if (value.is_array()) {
    Json array = Json::array();
    for (const Json& item : value.items()) array.items().push_back(copy_with(item, replaced));
    return array;
  }
  if (value.is_object()) {
    Json object = Json::object();
    for (const auto& [name, member] : value.members())
      object.members().emplace_back(name, copy_with(member, replaced));
    return object;
  }
  return value;
}

Json blob_reference(const std::string& name, std::uint64_t bytes, std::string_view text) {
  return Json::object({{"blob", name}, {"bytes", bytes}, {"head", utf8_prefix(text, kHeadBytes)}});
}

/// Syncs the file and its name in the folder.
void sync_file(int file, const std::filesystem::path& folder) {
  const Fd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (::fdatasync(file) != 0 || !parent || ::fsync(parent.get()) != 0)
    throw system_error("fsync " + folder.string(), ExitCode::environment);
}

void copy_to(const std::filesystem::path& path, int source) try {
  AtomicFile copy(path, new_file_mode());
  std::string part(1 << 16, '\0');
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(source, part.data(), part.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("read " + path.string(), ExitCode::environment);
    if (count == 0) break;
    copy.write(std::string_view(part).substr(0, static_cast<std::size_t>(count)));
    at += count;
  }
  copy.commit();
} catch (const Error& error) {
  throw Error(error.what(), ExitCode::environment, error.cause());
}

}  // namespace

Json Blobs::put(std::string_view text) {
  const std::string name = "sha256-" + sha256_hex(text);
  const auto path = folder_ / name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    make_folder();
    try {
      write_file(path, text, new_file_mode());
    } catch (const Error& error) {
      throw Error(error.what(), ExitCode::environment, error.cause());
    }
    bytes_ += text.size();
  }
  return blob_reference(name, text.size(), text);
}

void Blobs::count_found() {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const auto size = entry->file_size(ignored);
    if (!ignored) bytes_ += size;
  }
}

void Blobs::make_folder() const {
  if (::mkdir(folder_.c_str(), 0755) != 0 && errno != EEXIST)
    throw system_error("mkdir " + folder_.string(), ExitCode::environment);
}

std::optional<Json> Blobs::adopt(const std::filesystem::path& file, const std::string& sha256,
                                 std::uint64_t bytes) {
  const Fd source(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != bytes)
    return {};
  const std::string name = "sha256-" + sha256;
  const auto path = folder_ / name;
  make_folder();
  // A link has the file's mode, which commands need; the umask may want less.
  const bool may_link = (status.st_mode & 0777 & ~new_file_mode()) == 0;
  if (may_link && ::link(file.c_str(), path.c_str()) == 0) {
    sync_file(source.get(), folder_);
    bytes_ += bytes;
  } else if (!may_link || errno != EEXIST) {
    copy_to(path, source.get());
    bytes_ += bytes;
  }
  std::string head(kHeadBytes, '\0');
  const ssize_t count = ::pread(source.get(), head.data(), head.size(), 0);
  head.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return blob_reference(name, bytes, head);
}

Json Blobs::shorten(const Json& whole, std::size_t max_bytes) {
  std::size_t size = written_size(whole);
  if (size <= max_bytes) return whole;

  std::vector<LongString> strings;
  collect(whole, strings);
  std::stable_sort(strings.begin(), strings.end(),
                   [](const auto& a, const auto& b) { return a.written > b.written; });
  Replaced blobs;
  for (const LongString& one : strings) {
    if (size <= max_bytes) break;
    Json blob = put(one.place->text());
    size = size - one.written + written_size(blob);
    blobs.emplace(one.place, std::move(blob));
  }
  Json value = copy_with(whole, blobs);
  // Too many short strings: whole members become blobs, the largest first.
  while (size > max_bytes && !value.members().empty()) {
    Json* largest = nullptr;
    std::size_t most = 0;
    for (auto& member : value.members()) {
      const std::size_t written = written_size(member.second);
      if (written > most) largest = &member.second, most = written;
    }
    if (most < 2 * kShortestBlob) break;  // blobs would save nothing more
    Json blob = put(write_json(*largest));
    blob.set("json", true);
    *largest = std::move(blob);
    size = written_size(value);
  }
  return value;
}

}  // namespace sortie

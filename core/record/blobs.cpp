#include "core/record/blobs.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/text.h"

namespace sortie {
namespace {

constexpr std::size_t kHeadBytes = 1024;
/// A shorter string is hardly longer than what would stand in for it.
constexpr std::size_t kShortestBlob = 2 * kHeadBytes;

struct LongString {
  Json* place;
  std::size_t written;  ///< bytes as JSON, with escapes
};

void collect(Json& value, std::vector<LongString>& found) {
  if (value.is_string() && value.text().size() >= kShortestBlob)
    found.push_back({&value, written_size(value)});
  for (Json& item : value.items()) collect(item, found);
  for (auto& member : value.members()) collect(member.second, found);
}

}  // namespace

Json Blobs::put(std::string_view text) {
  const std::string name = "sha256-" + sha256_hex(text);
  const auto path = folder_ / name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (::mkdir(folder_.c_str(), 0755) != 0 && errno != EEXIST)
      throw system_error("mkdir " + folder_.string(), ExitCode::environment);
    try {
      write_file(path, text);
    } catch (const Error& error) {
      throw Error(error.what(), ExitCode::environment);
    }
    bytes_ += text.size();
  }
  return Json::object({{"blob", name},
                       {"bytes", static_cast<std::uint64_t>(text.size())},
                       {"head", utf8_prefix(text, kHeadBytes)}});
}

Json Blobs::shorten(Json value, std::size_t max_bytes) {
  std::size_t size = written_size(value);
  if (size <= max_bytes) return value;

  std::vector<LongString> strings;
  collect(value, strings);
  std::stable_sort(strings.begin(), strings.end(),
                   [](const auto& a, const auto& b) { return a.written > b.written; });
  for (const LongString& one : strings) {
    if (size <= max_bytes) return value;
    *one.place = put(one.place->text());
    size = size - one.written + written_size(*one.place);
  }
  // So many short strings: whole members then, the largest first.
  while (size > max_bytes && !value.members().empty()) {
    Json* largest = nullptr;
    std::size_t most = 0;
    for (auto& member : value.members()) {
      const std::size_t written = written_size(member.second);
      if (written > most) largest = &member.second, most = written;
    }
    if (most < 2 * kShortestBlob) break;  // nothing left that a blob would shorten
    Json blob = put(write_json(*largest));
    blob.set("json", true);
    *largest = std::move(blob);
    size = written_size(value);
  }
  return value;
}

}  // namespace sortie

#include "core/record/blobs.h"

#include <sys/stat.h>

#include <algorithm>
#include <unordered_map>
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

/// A copy with these in the place of those: they are what is large, and never copied.
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

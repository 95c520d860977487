#include "core/model/responses/response_items.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "core/model/wire.h"

namespace sortie {
namespace {

/// The members by which an item is known again.
struct Ids {
  std::string type{};
  std::string id{};
  std::string call_id{};

  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    if (!id.empty()) keys.push_back(type + "\nid\n" + id);
    if (!call_id.empty()) keys.push_back(type + "\ncall\n" + call_id);
    return keys;
  }
};

Ids ids_of(const Json& item) {
  return {item.string_at("type"), item.string_at("id"), item.string_at("call_id")};
}

/// What it says, without its ids.
std::string content_key(const Json& item) {
  const std::string type = item.string_at("type");
  if (type == "message") return type + '\n' + content_text(item["content"]);
  if (type == "reasoning") return type + '\n' + write_json(item["summary"]);
  std::string key = type + '\n' + item.string_at("name");
  for (const char* member : {"arguments", "input", "action"})
    key += '\n' + write_json(item[member]);
  return key;
}

bool is_same(const Json& one, const Json& other) {
  const auto keys = ids_of(one).keys();
  const auto others = ids_of(other).keys();
  if (keys.empty() || others.empty()) return content_key(one) == content_key(other);
  return std::any_of(others.begin(), others.end(), [&keys](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  });
}

}  // namespace

bool ResponseItems::add(std::optional<std::int64_t> index, Json& item) {
  const auto last = items_.empty() ? -1 : items_.rbegin()->first;
  const bool full = last == std::numeric_limits<std::int64_t>::max();  // a hostile index
  if (!index && full) return false;
  const auto there = index ? items_.find(*index) : items_.end();
  if (there != items_.end() && is_same(there->second, item)) return true;  // sent twice
  if (there != items_.end() && full) return false;
  items_[!index || there != items_.end() ? last + 1 : *index] = std::move(item);
  return true;
}

bool ResponseItems::are_all_of(const Json& output) const {
  if (items_.empty()) return false;
  std::set<std::string> known;
  for (const auto& [index, item] : items_)
    for (auto& key : ids_of(item).keys()) known.insert(std::move(key));
  return std::all_of(output.items().begin(), output.items().end(), [&known](const Json& item) {
    const auto keys = ids_of(item).keys();
    return std::any_of(keys.begin(), keys.end(),
                       [&known](const std::string& key) { return known.count(key) != 0; });
  });
}

std::vector<Json> ResponseItems::take_with(std::vector<Json> output) {
  std::vector<Json> all;
  for (auto& [index, item] : items_) all.push_back(std::move(item));
  items_.clear();
  if (all.empty()) return output;
  if (output.empty()) return all;
  // Each collected item is one of the output's at most.
  std::multimap<std::string, std::size_t> known;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (auto& key : ids_of(all[i]).keys()) known.emplace(std::move(key), i);
    known.emplace(content_key(all[i]), i);
  }
  std::vector<bool> matched(all.size(), false);
  const auto match = [&](const std::string& key) {
    const auto [begin, end] = known.equal_range(key);
    const auto free =
        std::find_if(begin, end, [&matched](const auto& one) { return !matched[one.second]; });
    return free != end && (matched[free->second] = true);
  };
  std::vector<const Json*> left;
  for (const Json& item : output) {
    const auto keys = ids_of(item).keys();
    if (std::none_of(keys.begin(), keys.end(), match)) left.push_back(&item);
  }
  for (const Json* item : left)
    if (!match(content_key(*item))) all.push_back(*item);
  return all;
}

}  // namespace sortie

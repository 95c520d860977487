#include "core/workspace/start_list.h"

#include <algorithm>
#include <charconv>

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::string_view kListBegins = "sortie-start 2";

/// Values, each terminated by a zero byte, which no path contains.
class ValueWriter {
 public:
  void put(std::string_view text) {
    text_ += text;
    text_ += '\0';
  }
  template <class Number>
  void number(Number value) {
    char room[24];
    const auto end = std::to_chars(room, room + sizeof room, value).ptr;
    put({room, static_cast<std::size_t>(end - room)});
  }
  void paths(const std::vector<fs::path>& paths) {
    number(paths.size());
    for (const fs::path& path : paths) put(path.native());
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads them; failed() once one is missing or wrong.
class ValueReader {
 public:
  explicit ValueReader(std::string_view text) : left_(text) {}
  std::string_view take() {
    const auto end = left_.find('\0');
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view value = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return value;
  }
  template <class Number>
  void number(Number& value) {
    const std::string_view text = take();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) failed_ = true;
  }
  std::vector<fs::path> paths() {
    std::size_t count = 0;
    number(count);
    std::vector<fs::path> paths;
    for (; count > 0 && !failed_; --count) paths.emplace_back(take());
    return paths;
  }
  bool failed() const noexcept { return failed_; }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace

void StartList::sort() {
  std::sort(entries_.begin(), entries_.end(),
            [](const StartEntry& a, const StartEntry& b) { return a.path < b.path; });
}

const StartEntry* StartList::find(std::string_view path) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), path,
                       [](const StartEntry& entry, std::string_view p) { return entry.path < p; });
  return found != entries_.end() && found->path == path ? &*found : nullptr;
}

std::vector<const StartEntry*> StartList::children(const std::string& folder) const {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  const auto from = [this](auto begin, const std::string& path) {
    return std::lower_bound(
        begin, entries_.end(), path,
        [](const StartEntry& entry, const std::string& p) { return entry.path < p; });
  };
  std::vector<const StartEntry*> found;
  for (auto at = from(entries_.begin(), prefix);
       at != entries_.end() && at->path.starts_with(prefix);) {
    const auto slash = at->path.find('/', prefix.size());
    if (slash == std::string::npos) {
      if (at->path.size() > prefix.size()) found.push_back(&*at);
      ++at;
    } else {
      at = from(at, at->path.substr(0, slash) + static_cast<char>('/' + 1));
    }
  }
  return found;
}

std::string start_list_text(const StartList& list) {
  ValueWriter out;
  out.put(kListBegins);
  out.put(list.mark);
  out.put(list.root.native());
  out.paths(list.cover);
  out.paths(list.linked);
  out.number(list.entries().size());
  for (const StartEntry& entry : list.entries()) {
    out.put(entry.path);
    out.number(entry.stamp.mode);
    out.number(entry.stamp.size);
    out.number(entry.stamp.inode);
    out.number(entry.stamp.mtime);
    out.number(entry.stamp.ctime);
    out.number(entry.user);
    out.number(entry.group);
    out.number(static_cast<int>(entry.held));
    out.put(entry.place);
    out.number(static_cast<int>(entry.is_ignored));
  }
  return out.take();
}

std::optional<StartList> parse_start_list(std::string_view text) {
  ValueReader in(text);
  if (in.take() != kListBegins) return std::nullopt;
  StartList list;
  list.mark = in.take();
  list.root = in.take();
  list.cover = in.paths();
  list.linked = in.paths();
  std::size_t count = 0;
  in.number(count);
  for (; count > 0 && !in.failed(); --count) {
    StartEntry entry;
    int held = 0;
    int ignored = 0;
    entry.path = in.take();
    in.number(entry.stamp.mode);
    in.number(entry.stamp.size);
    in.number(entry.stamp.inode);
    in.number(entry.stamp.mtime);
    in.number(entry.stamp.ctime);
    in.number(entry.user);
    in.number(entry.group);
    in.number(held);
    entry.held = static_cast<StartEntry::Held>(held);
    entry.place = in.take();
    in.number(ignored);
    entry.is_ignored = ignored != 0;
    list.add(std::move(entry));
  }
  if (in.failed()) return std::nullopt;
  return list;
}

}  // namespace sortie

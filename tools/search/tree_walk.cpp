#include "tools/search/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace sortie {
namespace {

constexpr std::size_t kMostRuleBytes = 1u << 20;

/// The records of getdents64(2).
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  unsigned char type;
  char name[1];
};

/// The content of a small regular file, "" if there is none. Its type is checked before it is
/// opened: opening a pipe would block.
std::string read_small(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
    return {};
  const Fd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostRuleBytes), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (count <= 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

unsigned char type_of(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace

void add_rules_of(int folder, const std::string& path, IgnoreRules& rules) {
  using Kind = IgnoreRules::Kind;
  rules.add(Kind::ignore, path, read_small(folder, ".ignore"));
  rules.add(Kind::gitignore, path, read_small(folder, ".gitignore"));
  const Fd info(::openat(folder, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!info) return;
  const Fd below(::openat(info.get(), "info", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (below) rules.add(Kind::exclude, path, read_small(below.get(), "exclude"));
}

void TreeWalk::run(Fd folder, const std::string& path,
                   const std::function<bool(const WalkedFile&)>& take) {
  folders_.clear();
  ended_ = false;
  begin(std::move(folder), path);
  while (!folders_.empty() && !ended_) {
    Folder& last = folders_.back();
    if (last.next == last.entries.size()) {
      rules_.leave(last.path);
      folders_.pop_back();
      continue;
    }
    const Entry& entry = last.entries[last.next++];
    const char* const name = last.names.data() + entry.name;
    path_ = last.path;
    if (!path_.empty()) path_ += '/';
    path_.append(name, entry.length);
    if (!entry.is_folder) {
      if (!take({last.open, name, path_})) return;
      continue;
    }
    if (!enters_(path_)) continue;
    if (folders_.size() >= kMaxDepth) {
      ++counts_.deep_folders;
      continue;
    }
    Fd below(::openat(last.open->get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below)
      ++counts_.closed_folders;
    else
      begin(std::move(below), path_);  // may move `last`
  }
}

bool TreeWalk::must_end() {
  if (!ended_ && options_.goes_on) ended_ = !options_.goes_on();
  return ended_;
}

void TreeWalk::begin(Fd open, const std::string& path) {
  if (must_end()) return;
  add_rules_of(open.get(), path, rules_);
  Folder folder{.open = std::make_shared<const Fd>(std::move(open)),
                .path = path,
                .names = {},
                .entries = {}};
  if (!read_entries(folder)) {
    ++counts_.closed_folders;
    rules_.leave(folder.path);
    return;
  }
  if (ended_) return;
  // A folder sorts by the paths of its content: "a.c" before "a/b".
  std::sort(folder.entries.begin(), folder.entries.end(), [&](const Entry& a, const Entry& b) {
    const char* const left = folder.names.data() + a.name;
    const char* const right = folder.names.data() + b.name;
    const int order = std::memcmp(left, right, std::min(a.length, b.length));
    if (order != 0) return order < 0;
    if (a.length == b.length) return false;
    const auto last = [](const Entry& entry, const char* name, std::size_t at) {
      return static_cast<unsigned char>(at < entry.length ? name[at] : entry.is_folder ? '/' : 0);
    };
    const std::size_t at = std::min(a.length, b.length);
    return last(a, left, at) < last(b, right, at);
  });
  folders_.push_back(std::move(folder));
}

bool TreeWalk::read_entries(Folder& folder) {
  buffer_.resize(64u << 10);
  for (;;) {
    const long count =
        ::syscall(SYS_getdents64, folder.open->get(), buffer_.data(), buffer_.size());
    if (count < 0) return false;
    if (count == 0 || must_end()) return true;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer_.data() + at);
      at += entry->length;
      add_entry(folder, entry->name, entry->type);
    }
  }
}

void TreeWalk::add_entry(Folder& folder, const char* name, unsigned char type) {
  const std::string_view text = name;
  if (text == "." || text == ".." || text == ".git") return;
  if (type == DT_UNKNOWN) type = type_of(folder.open->get(), name);
  const bool is_link = type == DT_LNK && options_.with_links;
  if (type != DT_REG && type != DT_DIR && !is_link) {
    ++(type == DT_LNK ? counts_.links : counts_.special);
    return;
  }
  const bool is_folder = type == DT_DIR;
  if (!passes(folder, text, is_folder)) return;
  folder.entries.push_back({folder.names.size(), text.size(), is_folder});
  folder.names.insert(folder.names.end(), text.data(), text.data() + text.size() + 1);
}

bool TreeWalk::passes(const Folder& folder, std::string_view name, bool is_folder) {
  path_ = folder.path;
  if (!path_.empty()) path_ += '/';
  path_ += name;
  const IgnoreVerdict verdict = rules_.verdict(path_, name, is_folder);
  if (verdict == IgnoreVerdict::ignored && options_.keeps && options_.keeps(path_, is_folder))
    return true;
  if (verdict == IgnoreVerdict::ignored) {
    ++counts_.ignored;
    return false;
  }
  if (verdict == IgnoreVerdict::kept || options_.dot_names || !name.starts_with('.')) return true;
  if (options_.keeps_dot_name && options_.keeps_dot_name(path_)) return true;
  if (!is_folder || enters_(path_)) ++counts_.dot_names;
  return false;
}

}  // namespace sortie

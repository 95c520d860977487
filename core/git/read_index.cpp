#include "core/git/read_index.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sortie {
namespace {

void add_number(std::string& bytes, std::uint32_t number, int bits = 32) {
  while (bits > 0) bytes += static_cast<char>(number >> (bits -= 8) & 0xff);
}

/// As in version 3 of the file (index_file.cpp).
void add_entry(std::string& bytes, const git_index_entry& entry) {
  constexpr std::size_t kLongest = 0xfff;
  const std::size_t begin = bytes.size();
  const std::string_view path = entry.path;
  for (const git_index_time& time : {entry.ctime, entry.mtime}) {
    add_number(bytes, static_cast<std::uint32_t>(time.seconds));
    add_number(bytes, time.nanoseconds);
  }
  for (const std::uint32_t number :
       {entry.dev, entry.ino, entry.mode, entry.uid, entry.gid, entry.file_size})
    add_number(bytes, number);
  bytes.append(reinterpret_cast<const char*>(entry.id.id), sizeof entry.id.id);
  const unsigned more = entry.flags_extended & GIT_INDEX_ENTRY_EXTENDED_FLAGS;
  const unsigned marks = entry.flags & (GIT_INDEX_ENTRY_VALID | GIT_INDEX_ENTRY_STAGEMASK);
  add_number(bytes,
             marks | (more != 0 ? GIT_INDEX_ENTRY_EXTENDED : 0) |
                 static_cast<unsigned>(std::min(path.size(), kLongest)),
             16);
  if (more != 0) add_number(bytes, more, 16);
  bytes += path;
  do bytes += '\0';
  while ((bytes.size() - begin) % 8 != 0);
}

git_index_entry entry_for_libgit2(const IndexEntry& from, const std::string& path) {
  git_index_entry entry{};
  entry.mode = from.mode;
  std::memcpy(entry.id.id, from.id.data(), from.id.size());
  entry.path = path.c_str();
  entry.flags = static_cast<std::uint16_t>(from.stage << GIT_INDEX_ENTRY_STAGESHIFT);
  return entry;
}

bool is_rule_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == ".gitattributes" || name == ".gitignore";
}

}  // namespace

IndexFile index_of(const git_index& index) {
  auto* const from = const_cast<git_index*>(&index);  // libgit2 has no function for const ones
  std::vector<const git_index_entry*> entries;
  for (std::size_t i = 0; i < git_index_entrycount(from); ++i)
    if (const auto* entry = git_index_get_byindex(from, i); entry->path[0] != '\0')
      entries.push_back(entry);
  // In byte order, even if the repository ignores case.
  std::sort(entries.begin(), entries.end(), [](const auto* one, const auto* other) {
    const int order = std::strcmp(one->path, other->path);
    return order != 0 ? order < 0 : git_index_entry_stage(one) < git_index_entry_stage(other);
  });
  const auto same = [](const auto* one, const auto* other) {
    return std::strcmp(one->path, other->path) == 0 &&
           git_index_entry_stage(one) == git_index_entry_stage(other);
  };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  std::string bytes("DIRC\0\0\0\3", 8);
  add_number(bytes, static_cast<std::uint32_t>(entries.size()));
  for (const auto* entry : entries) add_entry(bytes, *entry);
  bytes.append(20, '\0');
  auto parsed = IndexFile::parse(std::move(bytes));
  if (!parsed) throw Error("the index can't be read", ExitCode::environment);
  return std::move(*parsed);
}

GitIndex rules_of(const IndexFile& index) {
  GitIndex rules;
  check_git(git_index_new(GitOut(rules)), "index");
  for (std::size_t i = 0; i < index.size(); ++i)
    if (is_rule_file(index.path(i))) add_entries(*rules, index, std::string(index.path(i)));
  return rules;
}

void add_entries(git_index& to, const IndexFile& from, const std::string& path) {
  for (std::size_t i = from.lower_bound(path); i < from.size() && from.path(i) == path; ++i) {
    const git_index_entry entry = entry_for_libgit2(from.entry(i), path);
    git_index_add(&to, &entry);  // else as if it were not listed
  }
}

}  // namespace sortie

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "tools/search/ignore_rules.h"

namespace sortie {

/// Why files were not looked at.
struct WalkCounts {
  std::uint64_t ignored = 0;         ///< files and folders that ignore files name
  std::uint64_t dot_names = 0;       ///< files and folders whose name begins with a dot
  std::uint64_t links = 0;           ///< never followed
  std::uint64_t special = 0;         ///< pipes, sockets, devices
  std::uint64_t closed_folders = 0;  ///< that can't be read
  std::uint64_t deep_folders = 0;    ///< beyond kMostLevels
};

/// A regular file on the way.
struct WalkedFile {
  int folder;             ///< open
  const char* name;       ///< in it
  std::string_view path;  ///< relative to the workspace
};

struct WalkOptions {
  bool dot_names = false;   ///< names that begin with a dot too; never `.git`
  bool with_links = false;  ///< links themselves as files
  /// Asked of what ignore files name; true takes it in nevertheless.
  std::function<bool(std::string_view path, bool is_folder)> keeps{};
  /// Asked of a name that begins with a dot, where `dot_names` leaves it out; true takes it in.
  std::function<bool(std::string_view path)> keeps_dot_name{};
  /// Asked of each folder, and in the midst of a long one; false ends the walk.
  std::function<bool()> goes_on{};
};

/// Goes through a tree in the order of its paths' bytes. Links are not followed, so that there are
/// no loops and no way out; ignore files are heeded as they come up.
class TreeWalk {
 public:
  /// One descriptor is open for each.
  static constexpr std::size_t kMostLevels = 100;

  /// @param enters  asked of each folder; false leaves it out without a word
  TreeWalk(IgnoreRules rules, std::function<bool(const std::string& path)> enters,
           WalkOptions options = {})
      : rules_(std::move(rules)), enters_(std::move(enters)), options_(std::move(options)) {}

  /// @param folder  open for reading, "" for the workspace; its own rules are read too
  /// @param take    false ends the walk
  void run(Fd folder, const std::string& path, const std::function<bool(const WalkedFile&)>& take);

  const WalkCounts& counts() const noexcept { return counts_; }

 private:
  struct Entry {
    std::size_t name;  ///< in Folder::names, with a zero byte behind it
    std::size_t length;
    bool is_folder;
  };
  struct Folder {
    Fd open;
    std::string path;
    std::vector<char> names;
    std::vector<Entry> entries;
    std::size_t next = 0;
  };
  void begin(Fd open, const std::string& path);
  bool must_end();
  bool read_entries(Folder& folder);
  void add_entry(Folder& folder, const char* name, unsigned char type);
  void read_rules(const Folder& folder);
  bool passes(const Folder& folder, std::string_view name, bool is_folder);

  IgnoreRules rules_;
  std::function<bool(const std::string&)> enters_;
  WalkOptions options_;
  WalkCounts counts_;
  bool ended_ = false;           ///< by goes_on
  std::vector<Folder> folders_;  ///< from the first to the one being read
  std::string path_;             ///< of the entry being looked at
  std::vector<char> buffer_;     ///< of getdents64(2)
};

/// Adds the rules that the ignore files of an open folder hold.
/// @param path  "" for the workspace
void add_rules_of(int folder, const std::string& path, IgnoreRules& rules);

}  // namespace sortie

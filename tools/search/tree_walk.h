#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "tools/search/ignore_rules.h"

namespace sortie {

/// How many entries a walk left out, by reason.
struct WalkCounts {
  std::uint64_t ignored = 0;         ///< files and folders excluded by ignore files
  std::uint64_t dot_names = 0;       ///< files and folders whose name begins with a dot
  std::uint64_t links = 0;           ///< never followed
  std::uint64_t special = 0;         ///< pipes, sockets, devices
  std::uint64_t closed_folders = 0;  ///< unreadable folders
  std::uint64_t deep_folders = 0;    ///< folders deeper than kMaxDepth
};

/// A file that the walk visits.
struct WalkedFile {
  std::shared_ptr<const Fd> folder;  ///< its open folder
  const char* name;                  ///< name in that folder
  std::string_view path;             ///< relative to the workspace
};

struct WalkOptions {
  bool dot_names = false;   ///< include names that begin with a dot; never `.git`
  bool with_links = false;  ///< visit links, themselves, as files
  /// Called for ignored entries; true includes one all the same.
  std::function<bool(std::string_view path, bool is_folder)> keeps{};
  /// Called for dot names unless `dot_names` is set; true includes one.
  std::function<bool(std::string_view path)> keeps_dot_name{};
  /// Called for each folder, and repeatedly within a long one; false ends the walk.
  std::function<bool()> goes_on{};
};

/// Walks a tree in byte order of its paths. Links are not followed, so there are no loops and no
/// way out; ignore files apply as they come up.
class TreeWalk {
 public:
  /// Each level holds an open descriptor.
  static constexpr std::size_t kMaxDepth = 100;

  /// @param enters  called for each folder; false skips it without counting it
  TreeWalk(IgnoreRules rules, std::function<bool(const std::string& path)> enters,
           WalkOptions options = {})
      : rules_(std::move(rules)), enters_(std::move(enters)), options_(std::move(options)) {}

  /// @param folder  open for reading; its own ignore files apply too
  /// @param path    its path, "" for the workspace
  /// @param take    false ends the walk
  void run(Fd folder, const std::string& path, const std::function<bool(const WalkedFile&)>& take);

  const WalkCounts& counts() const noexcept { return counts_; }

 private:
  struct Entry {
    std::size_t name;  ///< offset in Folder::names, zero-terminated
    std::size_t length;
    bool is_folder;
  };
  struct Folder {
    std::shared_ptr<const Fd> open;
    std::string path;
    std::vector<char> names;
    std::vector<Entry> entries;
    std::size_t next = 0;
  };
  void begin(Fd open, const std::string& path);
  bool must_end();
  bool read_entries(Folder& folder);
  void add_entry(Folder& folder, const char* name, unsigned char type);
  bool passes(const Folder& folder, std::string_view name, bool is_folder);

  IgnoreRules rules_;
  std::function<bool(const std::string&)> enters_;
  WalkOptions options_;
  WalkCounts counts_;
  bool ended_ = false;           ///< goes_on returned false
  std::vector<Folder> folders_;  ///< from the root to the current one
  std::string path_;             ///< of the current entry
  std::vector<char> buffer_;     ///< for getdents64(2)
};

/// Adds the rules of the ignore files in an open folder.
/// @param path  "" for the workspace
void add_rules_of(int folder, const std::string& path, IgnoreRules& rules);

}  // namespace sortie

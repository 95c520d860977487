#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// A file that was touched, with the digests of its content before and after.
struct TouchedFile {
  enum class Kind { added, modified, deleted };
  std::string path;
  Kind kind = Kind::modified;
  unsigned mode = 0644;                  ///< permission bits; of a deleted file 0644
  std::string before;                    ///< hex; "" if there was no file, or it was not read
  std::string after;                     ///< the same
  std::string link_target;               ///< of a link: its digests are those of this text
  std::string not_read;                  ///< why a digest is missing; ""
  std::optional<std::string> content{};  ///< after the change, if asked for and not too large
};

/// A file or link as it was read; `content` is missing if there is none, or `why_not` says why.
struct EntryRead {
  bool is_there = false;
  bool is_link = false;
  unsigned mode = 0644;                  ///< permission bits
  std::optional<std::string> content{};  ///< of a link its target
  std::string why_not{};
};

/// EntryRead::why_not of a folder or a special file.
inline constexpr const char* kNoFile = "not a regular file";

/// Reads a file of at most 8 MiB, or a link.
/// @param budget  bytes that may still be read; what is read is taken from it
EntryRead read_entry(const Files& files, const std::string& path, std::uint64_t& budget);

/// Finds the digests of touched files, as they were at the start or after the last touch, and as
/// they are now. Reads a bounded number of bytes each time.
class FileDigests {
 public:
  enum class Contents { leave, keep };

  /// @param view  as commands see the tree. All arguments outlive this
  FileDigests(const Workspace& workspace, const Files& view) : workspace_(workspace), view_(view) {}

  /// The digest of a file after an earlier process of the run changed it; "": there is none.
  void know(const std::string& path, std::string digest) { known_[path] = std::move(digest); }
  /// @param touched  lines of TouchedPaths::take(); a last one "… N more" is left out
  std::vector<TouchedFile> look(const std::vector<std::string>& touched, Contents contents);

 private:
  TouchedFile look_at(const std::string& path, char kind, Contents contents);
  std::string digest_before(const std::string& path, TouchedFile& file);

  const Workspace& workspace_;
  const Files& view_;
  std::map<std::string, std::string> known_;  ///< path → digest after the last touch
  std::uint64_t bytes_left_ = 0;              ///< to be read in this look()
  std::uint64_t kept_left_ = 0;               ///< of contents
};

}  // namespace sortie

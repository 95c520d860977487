#pragma once

#include <git2.h>

#include <filesystem>
#include <string>

namespace sortie {

/// What git stores for the content of a regular file, and what it writes to the working tree for it,
/// by the attributes text, eol, crlf, ident, working-tree-encoding and the repository's settings. No
/// filter that runs a program is applied.
///
/// Attributes are read from the working tree's files, then the index. Before each call see to it
/// that libgit2 does not block on them (blocking_rule_file()).
///
/// Source: gitattributes(5); git: convert.c

/// @param path  from the toplevel
/// @throws Error  the attributes can't be read
std::string stored_bytes(git_repository& repository, const std::string& path,
                         const std::string& content);
/// The bytes that git writes to the working tree.
std::string tree_bytes(git_repository& repository, const std::string& path,
                       const std::string& stored);
/// Whether git may store other bytes for a file than it has.
bool may_convert(git_repository& repository, const std::string& path);
/// Whether more than line ends may be converted: then `git apply` takes no bytes of the working tree
/// in a diff.
bool converts_text(git_repository& repository, const std::string& path);

/// Whether two contents differ at most in the ids of their `ident` keywords: git writes these anew
/// with each checkout, but not with a commit.
bool same_but_ids(const std::string& one, const std::string& other);

/// The value of an attribute; "" if it is not set, or has no value.
std::string attribute_value(git_repository& repository, const std::string& path, const char* name);

/// The same for a working tree on disk, by its attributes as they are now.
class WorkTreeBytes {
 public:
  /// An index that can't be read has no attributes. @param repository  outlives the object
  WorkTreeBytes(git_repository& repository, std::filesystem::path toplevel);
  /// @throws Error  environment: an attribute file is a pipe or a device
  std::string to_git(const std::string& path, const std::string& content) const;
  std::string to_tree(const std::string& path, const std::string& stored) const;
  /// Whether a diff's content of a path is what git stores: git stores it as it is, or git takes no
  /// other in diffs (converts_text()).
  bool is_stored(const std::string& path, const std::string& content) const;

 private:
  void refuse_blocking(const std::string& path) const;
  git_repository& repository_;
  std::filesystem::path toplevel_;
};

}  // namespace sortie

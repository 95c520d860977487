#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "core/git/git_repository.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// What git knows about a workspace as it was at the start: HEAD, index, ignore rules, attributes.
/// Paths are relative to the workspace, which may be a folder below the repository's toplevel or
/// lie in no repository at all; then only its `.gitignore` files speak.
///
/// Read from the record of the start. Ignore and attribute files come into it once a path asks for
/// them: those of the user's tree that were not written to since, else what the start's index has.
/// Where that has none either, no rule of theirs holds: the diff says more then, not less.
class StartState {
 public:
  /// Opens the record and HEAD's tree.
  /// @param root  the user's own tree, absolute, links resolved; only read
  /// @throws Error  ExitCode::environment for a HEAD that can't be read
  StartState(const StartRecord& record, const std::filesystem::path& root);

  const std::string& head_commit() const { return head_commit_; }
  /// The workspace within its repository: "" or "sub/folder/".
  const std::string& prefix() const { return prefix_; }
  /// In the index; in HEAD, where the index is of a kind that libgit2 can't read.
  bool tracked(const std::string& path) const;
  bool ignored(const std::string& path) const;
  /// Whether `filter=lfs` holds for it: then git keeps other bytes than the working tree.
  bool lfs(const std::string& path) const;
  /// The submodule that the path is or lies in, or "".
  std::string submodule(const std::string& path) const;
  /// HEAD's file, read from the object database. @throws Error  where its object is missing
  std::optional<TreeEntry> head_entry(const std::string& path) const;
  bool head_has_file(const std::string& path) const {
    return in_head(in_repository(path)).has_value();
  }
  bool head_has_folder(const std::string& path) const;
  /// Whether the user's own file is what the start's index has: the same file by its inode and
  /// birth, though it was touched or linked, with that content. Then that was its content at the
  /// start. (But for one that was edited before the start, and edited back in place since.)
  bool is_as_indexed(const std::string& path, const TreeEntry& now) const;
  bool head_has(const std::string& path, const std::optional<TreeEntry>& entry) const;
  bool index_has(const std::string& path, const std::optional<TreeEntry>& entry) const;
  bool has_index() const { return index() != nullptr; }
  /// Why the repository's index can't be read, or "": HEAD stands in for it then.
  const std::string& index_problem() const {
    index();
    return index_problem_;
  }

 private:
  struct Listed {
    git_oid id;
    unsigned mode;
  };
  git_index* index() const;
  void do_without_index(const std::string& problem) const;
  void bring_rules(const std::string& path, const char* name) const;
  std::optional<std::string> rules_at_start(const std::filesystem::path& folder,
                                            const char* name) const;
  std::string listed_text(const std::string& repository_path) const;
  std::string in_repository(const std::string& path) const { return prefix_ + path; }
  std::optional<Listed> in_head(const std::string& repository_path) const;
  std::optional<Listed> in_index(const std::string& repository_path) const;
  static bool same(const std::optional<Listed>& listed, const std::optional<TreeEntry>& entry);

  const StartRecord record_;
  const std::filesystem::path root_;
  GitRepository repository_;
  bool has_repository_ = false;
  std::string prefix_;
  std::string head_commit_;
  GitTree head_;
  mutable bool index_read_ = false;  ///< once it is asked for: a large one takes its time
  mutable GitIndex index_;
  mutable std::string index_problem_;
  mutable std::set<std::filesystem::path> brought_;  ///< rule files, by path in the repository
};

}  // namespace sortie

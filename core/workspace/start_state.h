#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/git/git_repository.h"
#include "core/git/index_file.h"
#include "core/workspace/start_record.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// The git state of a workspace at the start: HEAD, index, ignore rules, attributes. Paths are
/// relative to the workspace, which may be a folder below the repository's toplevel or in no
/// repository at all; then only its `.gitignore` files apply.
///
/// Read from the record of the start. Ignore and attribute files are added to it when a path needs
/// them: from the user's tree if unchanged since the start, else from the start's index. If both
/// fail, their rules do not apply: the diff then contains more, not less.
class StartState {
 public:
  /// Opens the record and HEAD's tree.
  /// @param root  the user's own tree, absolute, links resolved; only read
  /// @throws Error  ExitCode::environment if HEAD can't be read
  StartState(const StartRecord& record, const std::filesystem::path& root);

  /// The user's own tree.
  const std::filesystem::path& root() const { return root_; }
  const std::string& head_commit() const { return head_commit_; }
  /// The workspace within its repository: "" or "sub/folder/".
  const std::string& prefix() const { return prefix_; }
  /// Whether the path is in the index, or in HEAD if libgit2 can't read the index.
  bool tracked(const std::string& path) const;
  bool ignored(const std::string& path) const;
  /// The record's folder, with the ignore files that ignored() has needed so far, by their paths in
  /// the repository.
  const std::filesystem::path& rules_folder() const { return record_.folder; }
  /// Whether `filter=lfs` applies: then git stores other bytes than the working tree.
  bool lfs(const std::string& path) const;
  /// The bytes that git stores for the content of a regular file, by the rules of the start for line
  /// ends, `ident` and encodings. No filter that runs a program is applied.
  std::string to_git(const std::string& path, const std::string& content) const;
  /// Whether these bytes may be others.
  bool may_convert(const std::string& path) const;
  /// The bytes that git writes to the working tree for stored ones.
  std::string to_tree(const std::string& path, const std::string& content) const;
  /// Whether more than the line ends of a file may be converted.
  bool converts_text(const std::string& path) const;
  /// The path's attribute `filter`: "lfs"; "" for none.
  std::string filter(const std::string& path) const;
  /// The submodule that the path is or is in, or "".
  std::string submodule(const std::string& path) const;
  /// HEAD's file, read from the object database. @throws Error  if its object is missing
  std::optional<TreeEntry> head_entry(const std::string& path) const;
  /// Whether HEAD has the file, but the repository not its object.
  bool head_lacks_object(const std::string& path) const;
  bool head_has_file(const std::string& path) const {
    return in_head(in_repository(path)).has_value();
  }
  bool head_has_folder(const std::string& path) const;
  /// How many files HEAD, or the index, has below a path.
  std::size_t head_files_below(const std::string& path) const;
  std::size_t index_files_below(const std::string& path) const;
  /// The links that the start's index has in the workspace; nothing where it can't be read.
  std::optional<std::vector<std::string>> index_links() const;
  /// Whether the user's own file equals the start's index: the same inode and birth time, possibly
  /// touched or linked since, and the same content. Then this was its content at the start (unless
  /// it was edited before the start and edited back in place since).
  bool is_as_indexed(const std::string& path, const TreeEntry& now) const;
  bool head_has(const std::string& path, const TreeEntry* entry) const;
  bool index_has(const std::string& path, const TreeEntry* entry) const;
  bool head_has(const std::string& path, const std::optional<TreeEntry>& entry) const {
    return head_has(path, entry ? &*entry : nullptr);
  }
  bool has_index() const { return index() != nullptr; }
  /// Why the repository's index can't be read, or "": then HEAD replaces it.
  const std::string& index_problem() const {
    index();
    return index_problem_;
  }

 private:
  struct Listed {
    git_oid id;
    unsigned mode;
  };
  const IndexFile* index() const;
  void read_index() const;
  void prepare_attributes(const std::string& path) const;
  void do_without_index(const std::string& problem) const;
  void add_rules(const std::string& path, const char* name) const;
  std::optional<std::string> rules_at_start(const std::filesystem::path& folder,
                                            const char* name) const;
  std::string listed_text(const std::string& repository_path) const;
  std::string in_repository(const std::string& path) const { return prefix_ + path; }
  std::optional<Listed> in_head(const std::string& repository_path) const;
  std::optional<Listed> in_index(const std::string& repository_path) const;
  static bool same(const std::optional<Listed>& listed, const TreeEntry* entry);

  const StartRecord record_;
  const std::filesystem::path root_;
  GitRepository repository_;
  bool has_repository_ = false;
  std::string prefix_;
  std::string head_commit_;
  GitTree head_;
  mutable bool index_read_ = false;  ///< read on demand: a large one takes time
  mutable std::shared_ptr<const IndexFile> index_;
  mutable GitIndex libgit2_index_;  ///< with some of its entries, if libgit2 did not read it
  mutable std::string index_problem_;
  mutable std::set<std::filesystem::path> added_;  ///< rule files, by path in the repository
};

}  // namespace sortie

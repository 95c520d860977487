#pragma once

#include <git2/sys/mempack.h>

#include <set>
#include <string>

#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// An object database in memory and a repository on it: no disk, no configuration, no attributes.
class Scratch {
 public:
  Scratch() {
    start_libgit2();
    check_git(git_odb_new(GitOut(odb_)), "diff");
    git_odb_backend* memory = nullptr;
    check_git(git_mempack_new(&memory), "diff");
    check_git(git_odb_add_backend(odb_.get(), memory, 1), "diff");  // owned by the odb from here
    check_git(git_repository_wrap_odb(GitOut(repository_), odb_.get()), "diff");
  }

  /// @param left_out  paths that the tree is made without
  GitTree tree(const TouchedFiles& files, const CancelCheck& pace = {},
               const std::set<std::string>& left_out = {}) {
    GitIndex index;
    check_git(git_index_new(GitOut(index)), "diff");
    for (const auto& [path, file] : files) {
      if (left_out.contains(path)) continue;
      if (pace) pace();
      git_index_entry entry{};
      entry.path = path.c_str();
      entry.mode = file.mode;
      check_git(git_blob_create_from_buffer(&entry.id, repository_.get(), file.content.data(),
                                            file.content.size()),
                "diff: " + path_text(path));
      check_git(git_index_add(index.get(), &entry), "diff: " + path_text(path));
    }
    git_oid id;
    check_git(git_index_write_tree_to(&id, index.get(), repository_.get()), "diff");
    GitTree tree;
    check_git(git_tree_lookup(GitOut(tree), repository_.get(), &id), "diff");
    return tree;
  }

  std::string content(const git_oid& id) {
    GitBlob blob;
    check_git(git_blob_lookup(GitOut(blob), repository_.get(), &id), "diff");
    return blob_text(blob);
  }

  git_repository* repository() { return repository_.get(); }

 private:
  GitOdb odb_;
  GitRepository repository_;
};

}  // namespace sortie

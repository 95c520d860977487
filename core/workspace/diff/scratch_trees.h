#pragma once

#include <git2/sys/mempack.h>

#include <string>
#include <vector>

#include "core/base/threads.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// An object database in memory and a repository on it: no disk, no configuration, no attributes.
class ScratchTrees {
 public:
  ScratchTrees() {
    start_libgit2();
    check_git(git_odb_new(GitOut(odb_)), "diff");
    git_odb_backend* memory = nullptr;
    check_git(git_mempack_new(&memory), "diff");
    check_git(git_odb_add_backend(odb_.get(), memory, 1), "diff");  // owned by the odb from here
    check_git(git_repository_wrap_odb(GitOut(repository_), odb_.get()), "diff");
  }

  GitTree tree(const TouchedFiles& files) {
    GitIndex index;
    check_git(git_index_new(GitOut(index)), "diff");
    for (const auto& [path, file] : files) add(*index, path, file);
    return write(*index);
  }

  /// @param only  of these paths, which all exist
  GitTree tree(const TouchedFiles& files, const std::vector<std::string>& only,
               const CancelCheck& check_cancel) {
    GitIndex index;
    check_git(git_index_new(GitOut(index)), "diff");
    for (const std::string& path : only) {
      if (check_cancel) check_cancel();
      add(*index, path, files.at(path));
    }
    return write(*index);
  }

  std::string content(const git_oid& id) {
    GitBlob blob;
    check_git(git_blob_lookup(GitOut(blob), repository_.get(), &id), "diff");
    return blob_text(blob);
  }

  git_repository* repository() { return repository_.get(); }

 private:
  void add(git_index& index, const std::string& path, const TreeEntry& file) {
    git_index_entry entry{};
    entry.path = path.c_str();
    entry.mode = file.mode;
    check_git(git_blob_create_from_buffer(&entry.id, repository_.get(), file.content.data(),
                                          file.content.size()),
              "diff: " + path_text(path));
    check_git(git_index_add(&index, &entry), "diff: " + path_text(path));
  }

  GitTree write(git_index& index) {
    git_oid id;
    check_git(git_index_write_tree_to(&id, &index, repository_.get()), "diff");
    GitTree tree;
    check_git(git_tree_lookup(GitOut(tree), repository_.get(), &id), "diff");
    return tree;
  }

  GitOdb odb_;
  GitRepository repository_;
};

}  // namespace sortie

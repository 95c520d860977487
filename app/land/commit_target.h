#pragma once

#include <string>
#include <vector>

#include "app/land/land_target.h"
#include "core/git/git_repository.h"

namespace sortie {

/// Who makes a commit, and sends the mail of it: `user.name` and `user.email` of the repository's
/// own configuration, else sortie.
struct Identity {
  std::string name;
  std::string email;
};
Identity identity_of(git_repository& repository);

/// A commit (--onto): a new one is made on top of it, in the repository alone. No work tree, index,
/// hook or filter has a part in it. If REF is a branch it moves to the new commit; what else REF may
/// be stays, and the new commit has no name.
class CommitTarget : public LandTarget {
 public:
  /// @param repository  outlives the object
  /// @throws Error  usage: no such commit, or a branch that a work tree has checked out
  CommitTarget(git_repository& repository, const std::string& ref);
  PresentEntry present(const std::string& path) const override;
  std::string land(const std::vector<PathChange>& changes, const std::string& message) override;
  /// Moves the branch, if it is still where it was found.
  void settle() override;
  std::string branch() const override { return branch_; }
  std::string commit() const override { return id_text(*git_commit_id(commit_.get())); }

 private:
  git_oid make_tree(const std::vector<PathChange>& changes) const;

  git_repository& repository_;
  GitReference reference_;  ///< the branch; empty for none
  std::string branch_;
  GitCommit commit_;
  GitTree tree_;
  git_oid made_{};
};

}  // namespace sortie

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/land/land_target.h"
#include "core/base/fd.h"
#include "core/workspace/apply/tree_apply.h"

namespace sortie {

/// The work tree of a repository. Index and branches are not touched.
class TreeTarget : public LandTarget {
 public:
  /// @param toplevel  absolute @throws Error
  explicit TreeTarget(const std::filesystem::path& toplevel);
  PresentEntry present(const std::string& path) const override;
  std::string land(const std::vector<PathChange>& changes, const std::string& message) override;
  void settle() override { apply_->settle(); }
  std::string branch() const override { return branch_; }
  std::string commit() const override { return commit_; }

 private:
  Fd root_;
  std::string branch_;
  std::string commit_;
  std::unique_ptr<TreeApply> apply_;
};

}  // namespace sortie

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "policies/action.h"
#include "policies/decision.h"
#include "policies/policy.h"

namespace sortie {

/// Policy + action → decision; nothing else decides.
class Engine {
 public:
  /// @param approval   the policy's, or a stricter one from the command line
  /// @param workspace  absolute, links resolved
  /// @param out        --out, absolute; protected where it lies inside the workspace
  /// @param path       absolute folders in which a command's name is looked up
  Engine(const Policy& policy, Approval approval, std::filesystem::path workspace,
         std::filesystem::path out, std::vector<std::filesystem::path> path);

  Decision decide(const Action& action) const;
  /// Whether the model is to be shown the tool at all.
  bool shows_tool(const std::string& name) const;
  /// Whether a path relative to the workspace is protected (also one that does not exist yet).
  bool is_protected(const std::filesystem::path& path) const;
  bool is_hidden(const std::filesystem::path& path) const;
  Approval approval() const noexcept { return approval_; }

 private:
  Decision decide_command(const RunCommand& command) const;
  Decision decide_read(const ReadPath& read) const;
  Decision decide_write(const WritePath& write) const;
  Decision decide_tool(const CallTool& call) const;

  const Policy& policy_;
  Approval approval_;
  std::filesystem::path workspace_;
  std::filesystem::path out_;
  std::vector<std::filesystem::path> path_;
};

}  // namespace sortie

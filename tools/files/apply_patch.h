#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tools/patch/applier.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

/// `apply_patch`: free text constrained by a Lark grammar; for models without such tools the wires
/// declare a function {"input"}. The arguments may also have "workdir", relative to the workspace,
/// for patches found in shell calls.
class ApplyPatch : public Tool {
 public:
  /// @param workspace  absolute; absolute paths must be inside it
  /// @param refused    files that must not be written, whatever the decision on the call
  /// @param hidden     paths that hints must not name
  ApplyPatch(Files& files, std::filesystem::path workspace,
             std::function<bool(const std::filesystem::path&)> refused = {},
             HiddenPaths hidden = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  patch::Place place_of(const Json& arguments) const;

  Files& files_;
  std::filesystem::path workspace_;
  std::function<bool(const std::filesystem::path&)> refused_;
  HiddenPaths hidden_;
};

}  // namespace sortie

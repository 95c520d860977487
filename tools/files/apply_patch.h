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

/// `apply_patch`, free text held to a Lark grammar; for models that take no such tools the wires
/// declare it as a function {"input"}. Beside "input" the arguments may hold "workdir", relative to
/// the workspace: patches found in shell calls have one.
class ApplyPatch : public Tool {
 public:
  /// @param workspace  absolute: what absolute paths must lie in
  /// @param refused    files that must not be written, whatever was decided before
  /// @param hidden     paths that are not proposed in place of a wrong one
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

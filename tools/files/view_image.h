#pragma once

#include "core/files/files.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

/// `view_image`: an image file of the workspace, shown to the model as it is. What counts is the
/// content, not the name.
class ViewImage : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
  /// @param hidden     paths that are not proposed in place of a wrong one
  ViewImage(const Files& files, std::filesystem::path workspace, HiddenPaths hidden = {});
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  const Files& files_;
  std::filesystem::path workspace_;
  HiddenPaths hidden_;
};

}  // namespace sortie

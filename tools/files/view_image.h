#pragma once

#include "core/files/files.h"
#include "tools/tool.h"
#include "tools/workspace_path.h"

namespace sortie {

/// `view_image`: shows the model an image file of the workspace, unscaled. The format is detected
/// by content, not by name.
class ViewImage : public Tool {
 public:
  /// @param workspace  absolute; paths that begin with it are relative to it
  /// @param hidden     paths that hints must not name
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

#pragma once

#include <functional>

#include "core/base/files.h"
#include "tools/tool.h"

namespace sortie {

/// `list_dir`: what is in a folder, some levels deep, sorted.
class ListDir : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
  /// @param hidden     paths that are left out
  ListDir(const Files& files, std::filesystem::path workspace,
          std::function<bool(const std::filesystem::path&)> hidden = {});
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  struct Listing;
  void list(const std::filesystem::path& folder, int depth, Listing& listing) const;

  const Files& files_;
  std::filesystem::path workspace_;
  std::function<bool(const std::filesystem::path&)> hidden_;
  ToolSpec spec_;
};

}  // namespace sortie

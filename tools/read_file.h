#pragma once

#include "core/base/files.h"
#include "tools/tool.h"

namespace sortie {

/// `read_file`: a window of a file's lines, with their numbers.
class ReadFile : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
  ReadFile(const Files& files, std::filesystem::path workspace);
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  const Files& files_;
  std::filesystem::path workspace_;
  ToolSpec spec_;
};

}  // namespace sortie

#pragma once

#include <cstddef>

#include "core/files/files.h"
#include "core/files/open_beneath.h"
#include "tools/missing_path.h"
#include "tools/tool.h"

namespace sortie {

struct ReadFileOptions {
  HiddenPaths hidden{};        ///< paths that are not proposed in place of a wrong one
  FileStream stream{};         ///< of the files, piece by piece; not set: each is read whole
  std::size_t room = 1 << 20;  ///< bytes of the lines that are shown at once
};

/// `read_file`: a window of a file's lines, with their numbers. Of a large file no more than a
/// piece is in memory.
class ReadFile : public Tool {
 public:
  /// @param workspace  absolute: a path that begins with it is taken as relative to it
  ReadFile(const Files& files, std::filesystem::path workspace, ReadFileOptions options = {});
  const ToolSpec& spec() const override { return spec_; }
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;
  bool reads_only() const override { return true; }

 private:
  const Files& files_;
  std::filesystem::path workspace_;
  ReadFileOptions options_;
  ToolSpec spec_;
};

}  // namespace sortie

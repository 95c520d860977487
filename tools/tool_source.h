#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "tools/tool.h"

namespace sortie {

/// Tools that come from elsewhere, and may become others while the run is under way.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  /// Looks whether the tools are others than they were.
  virtual bool renew(std::stop_token stop) = 0;
  /// Of now, in a stable order. They are good until the source goes; a call of one that is there no
  /// more fails.
  virtual std::vector<std::unique_ptr<Tool>> tools() = 0;
};

}  // namespace sortie

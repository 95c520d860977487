#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/server.h"
#include "tools/tool_source.h"

namespace sortie::mcp {

/// The servers of a run: started side by side, ended with it, and the source of their tools.
class Servers : public ToolSource {
 public:
  explicit Servers(std::vector<std::unique_ptr<Server>> servers) : servers_(std::move(servers)) {}
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  /// Ends them all, in the polite way within a few seconds.
  ~Servers() override;

  /// What of them the operator has to know, a line each: a server that is not there, the tools and
  /// the pin of one that is.
  /// @throws Error  ExitCode::environment: one that is required is not there, or one is not as it
  ///                was pinned; all of them are ended then
  std::vector<std::string> start(std::stop_token stop);

  bool renew(std::stop_token stop) override;
  std::vector<std::unique_ptr<Tool>> tools() override;

 private:
  void end();

  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace sortie::mcp

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mcp/server.h"
#include "tools/tool.h"

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

  /// Ends those for now whose programs may write, so that nothing changes the tree behind whoever
  /// looks at it. They are started anew by the next renew() that finds them not held.
  /// @return  how many ran
  int rest();
  /// As rest(), for as long as it is on: they stay ended.
  /// @return  how many ran
  int hold(bool on);
  /// The names of those whose programs run and may write to the workspace; none while they are
  /// being started.
  std::vector<std::string> writing() const;
  /// @throws Error  ExitCode::environment: one that rested is not there any more and required, or
  ///                not as it was pinned
  bool renew(std::stop_token stop) override;
  std::vector<std::unique_ptr<Tool>> tools() override;

 private:
  using Failures = std::vector<std::optional<ServerError>>;

  Failures begin(const std::function<void(Server&)>& step);
  void check_that_run_goes_on(const Server& server, const ServerError& error,
                              const std::stop_token& stop);
  void wake(std::stop_token stop);
  void end();

  std::vector<std::unique_ptr<Server>> servers_;
  bool beginning_ = false;  ///< some are being started, side by side
  bool held_ = false;
};

}  // namespace sortie::mcp

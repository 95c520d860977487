#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json.h"
#include "tools/mcp/server.h"
#include "tools/tool.h"

namespace sortie::mcp {

/// Converts the result of tools/call for the model and the transcript: text through plain_text(),
/// images as images, embedded resources as text, links and what can't be shown as one line each,
/// structured content as JSON unless a text says the same. `server_answer` is the server's
/// {"content","structured_content","_meta"}; the model does not get the last, which is for programs.
/// @param output_schema  schema of the structured content; null for none
ToolResult read_call_result(const Json& result, const Json& output_schema);

/// One tool of a server, as the model sees it. The server's own claims (readOnlyHint …) are not
/// trusted: only the policy decides whether a call is allowed, and calls run one after the other.
class McpTool : public Tool {
 public:
  /// @param server  outlives the tool
  /// @param name    from shown_names()
  McpTool(Server& server, ServerTool tool, std::string name);

  Json origin() const override;
  CallTool identity() const override;
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  Server& server_;
  ServerTool tool_;
};

/// The servers of a run and the source of their tools: started in parallel, ended with the run.
class Servers : public ToolSource {
 public:
  explicit Servers(std::vector<std::unique_ptr<Server>> servers) : servers_(std::move(servers)) {}
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  /// Ends all servers, gracefully within a few seconds.
  ~Servers() override;

  /// Starts the servers.
  /// @return        lines for the operator: which server is missing, the tools and pin of the
  ///                others
  /// @throws Error  ExitCode::environment: a required server is missing, or one is not as pinned;
  ///                all of them are ended then
  std::vector<std::string> start(std::stop_token stop);

  /// Ends the processes that may write, so that nothing changes the tree while it is examined. The
  /// next renew() resumes them unless hold() is on.
  /// @return  how many were running
  int suspend();
  /// Suspends them as suspend() does; they stay suspended while this is on.
  /// @return  how many were running
  int hold(bool on);
  /// The names of running servers that may write to the workspace; none while servers are starting.
  std::vector<std::string> writing() const;
  /// The names of the usable servers with their instructions.
  std::vector<std::pair<std::string, std::string>> instructions() const;
  /// @throws Error  ExitCode::environment: a suspended server is not available anymore though
  ///                required, or not as pinned
  bool renew(std::stop_token stop) override;
  std::vector<std::unique_ptr<Tool>> tools() override;
  std::string why_missing(const std::string& name) const override;

 private:
  using Failures = std::vector<std::optional<ServerError>>;

  Failures start_each(const std::function<void(Server&)>& step);
  void check_failure(const Server& server, const ServerError& error, const std::stop_token& stop);
  void resume(std::stop_token stop);
  void end();

  std::vector<std::unique_ptr<Server>> servers_;
  bool starting_ = false;  ///< some are being started
  bool held_ = false;
};

}  // namespace sortie::mcp

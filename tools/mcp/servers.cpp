#include "tools/mcp/servers.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "tools/mcp/mcp_tool.h"

namespace sortie::mcp {
namespace {

/// What a server has to end by itself once it is told to.
constexpr std::chrono::seconds kEndWithin{2};

/// Does something with each server at the same time.
template <typename Act>
void side_by_side(const std::vector<std::unique_ptr<Server>>& servers, const Act& act) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < servers.size(); ++i)
    threads.emplace_back([&act, &servers, i] { act(*servers[i], i); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

Servers::~Servers() { end(); }

void Servers::end() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  side_by_side(servers_, [&](Server& server, std::size_t) { server.end(deadline); });
}

std::vector<std::string> Servers::start(std::stop_token stop) {
  std::vector<std::exception_ptr> failures(servers_.size());
  side_by_side(servers_, [&](Server& server, std::size_t i) {
    try {
      server.start(stop);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const ServerSettings& settings = servers_[i]->settings();
    const std::string name = "tools.mcp." + settings.name;
    if (!failures[i]) {
      const ToolList& list = servers_[i]->tools();
      lines.push_back(name + ": " + std::to_string(list.tools.size()) + " tools, pin " + list.pin);
      for (const auto& left_out : list.left_out) lines.push_back(name + ": " + left_out);
      continue;
    }
    try {
      std::rethrow_exception(failures[i]);
    } catch (const ServerError& error) {
      if (settings.required || error.kind() == ServerError::Kind::pin_broken) {
        end();
        throw Error(name + ": " +
                        (settings.required ? "the required MCP server" : "the MCP server") +
                        " can't be used: " + error.what(),
                    ExitCode::environment);
      }
      lines.push_back(name + ": the run goes on without this MCP server: " + error.what());
    }
  }
  return lines;
}

bool Servers::renew(std::stop_token stop) {
  bool changed = false;
  for (const auto& server : servers_) changed = server->renew(stop) || changed;
  return changed;
}

std::vector<std::unique_ptr<Tool>> Servers::tools() {
  std::vector<ToolIdentity> identities;
  std::vector<std::pair<Server*, const ServerTool*>> found;
  for (const auto& server : servers_)
    for (const ServerTool& tool : server->tools().tools) {
      identities.push_back({server->settings().name, tool.name});
      found.emplace_back(server.get(), &tool);
    }
  const std::vector<std::string> names = shown_names(identities);
  std::vector<std::unique_ptr<Tool>> tools;
  for (std::size_t i = 0; i < found.size(); ++i)
    tools.push_back(std::make_unique<McpTool>(*found[i].first, *found[i].second, names[i]));
  std::sort(tools.begin(), tools.end(), [](const auto& left, const auto& right) {
    return left->spec().name < right->spec().name;
  });
  return tools;
}

}  // namespace sortie::mcp

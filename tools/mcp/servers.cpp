#include "tools/mcp/servers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "tools/mcp/mcp_tool.h"

namespace sortie::mcp {
namespace {

/// The time that servers get to end: half after closing stdin, half after SIGTERM.
constexpr std::chrono::seconds kEndWithin{4};

/// Calls `act` for each server in a thread of its own.
template <typename Act>
void for_each_in_parallel(const std::vector<std::unique_ptr<Server>>& servers, const Act& act) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < servers.size(); ++i)
    threads.emplace_back([&act, &servers, i] { act(*servers[i], i); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

Servers::~Servers() { end(); }

void Servers::end() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  for_each_in_parallel(servers_, [&](Server& server, std::size_t) { server.end(deadline); });
}

std::vector<std::string> Servers::start(std::stop_token stop) {
  const auto failures = start_each([&](Server& server) { server.start(stop); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const std::string name = "tools.mcp." + servers_[i]->settings().name;
    if (!failures[i]) {
      const ToolList& list = servers_[i]->tools();
      lines.push_back(name + ": " + std::to_string(list.tools.size()) + " tools, pin " + list.pin);
      for (const auto& left_out : list.left_out) lines.push_back(name + ": " + left_out);
      continue;
    }
    check_failure(*servers_[i], *failures[i], stop);
    lines.push_back(name + ": the run continues without this MCP server: " + failures[i]->what());
  }
  return lines;
}

/// Takes a step with all servers in parallel, `ahead` ones first. @return  the failure of each
Servers::Failures Servers::start_each(const std::function<void(Server&)>& step) {
  Failures failures(servers_.size());
  std::vector<std::exception_ptr> others(servers_.size());
  starting_ = true;
  for (const bool ahead : {true, false}) {
    const auto waits = [&](const auto& server) { return server->settings().ahead == ahead; };
    if (std::none_of(servers_.begin(), servers_.end(), waits)) continue;
    for_each_in_parallel(servers_, [&](Server& server, std::size_t i) {
      if (server.settings().ahead != ahead) return;
      try {
        step(server);
      } catch (const ServerError& error) {
        failures[i] = error;
      } catch (...) {
        others[i] = std::current_exception();
      }
    });
  }
  starting_ = false;
  for (const auto& other : others)
    if (other) std::rethrow_exception(other);
  return failures;
}

/// @throws Error  ExitCode::environment
void Servers::check_failure(const Server& server, const ServerError& error,
                            const std::stop_token& stop) {
  const ServerSettings& settings = server.settings();
  const bool pin_broken = error.kind() == ServerError::Kind::pin_broken;
  // A run that is stopping ends for that reason.
  if (stop.stop_requested() || (!settings.required && !pin_broken)) return;
  end();
  throw Error("tools.mcp." + settings.name + ": " +
                  (settings.required ? "the required MCP server" : "the MCP server") +
                  " can't be used: " + error.what(),
              ExitCode::environment);
}

int Servers::suspend() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  std::atomic<int> ran = 0;
  for_each_in_parallel(
      servers_, [&](Server& server, std::size_t) { ran += server.suspend(deadline) ? 1 : 0; });
  return ran;
}

int Servers::hold(bool on) {
  held_ = on;
  return on ? suspend() : 0;
}

std::vector<std::string> Servers::writing() const {
  std::vector<std::string> names;
  if (starting_) return names;
  for (const auto& server : servers_)
    if (server->runs() && server->settings().may_write) names.push_back(server->settings().name);
  return names;
}

bool Servers::renew(std::stop_token stop) {
  if (!held_) resume(stop);
  bool changed = false;
  for (const auto& server : servers_) changed = server->renew(stop) || changed;
  return changed;
}

void Servers::resume(std::stop_token stop) {
  const auto suspended = [](const auto& server) { return server->suspended(); };
  if (std::none_of(servers_.begin(), servers_.end(), suspended)) return;
  const auto failures = start_each([&](Server& server) { server.resume(stop); });
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (failures[i]) check_failure(*servers_[i], *failures[i], stop);
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

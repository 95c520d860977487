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

/// What a server has to end by itself: half of it once its stdin is closed, half after SIGTERM.
constexpr std::chrono::seconds kEndWithin{4};

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
  const auto failures = begin([&](Server& server) { server.start(stop); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const std::string name = "tools.mcp." + servers_[i]->settings().name;
    if (!failures[i]) {
      const ToolList& list = servers_[i]->tools();
      lines.push_back(name + ": " + std::to_string(list.tools.size()) + " tools, pin " + list.pin);
      for (const auto& left_out : list.left_out) lines.push_back(name + ": " + left_out);
      continue;
    }
    check_that_run_goes_on(*servers_[i], *failures[i], stop);
    lines.push_back(name + ": the run goes on without this MCP server: " + failures[i]->what());
  }
  return lines;
}

/// Takes a step that may fail with all of them at the same time. @return  what came of each
Servers::Failures Servers::begin(const std::function<void(Server&)>& step) {
  Failures failures(servers_.size());
  std::vector<std::exception_ptr> others(servers_.size());
  beginning_ = true;
  for (const bool ahead : {true, false}) {
    const auto waits = [&](const auto& server) { return server->settings().ahead == ahead; };
    if (std::none_of(servers_.begin(), servers_.end(), waits)) continue;
    side_by_side(servers_, [&](Server& server, std::size_t i) {
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
  beginning_ = false;
  for (const auto& other : others)
    if (other) std::rethrow_exception(other);
  return failures;
}

/// @throws Error  ExitCode::environment
void Servers::check_that_run_goes_on(const Server& server, const ServerError& error,
                                     const std::stop_token& stop) {
  const ServerSettings& settings = server.settings();
  const bool pin_broken = error.kind() == ServerError::Kind::pin_broken;
  // A run that is stopped ends for that, and soon.
  if (stop.stop_requested() || (!settings.required && !pin_broken)) return;
  end();
  throw Error("tools.mcp." + settings.name + ": " +
                  (settings.required ? "the required MCP server" : "the MCP server") +
                  " can't be used: " + error.what(),
              ExitCode::environment);
}

int Servers::rest() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  std::atomic<int> ran = 0;
  side_by_side(servers_,
               [&](Server& server, std::size_t) { ran += server.rest(deadline) ? 1 : 0; });
  return ran;
}

int Servers::hold(bool on) {
  held_ = on;
  return on ? rest() : 0;
}

std::vector<std::string> Servers::writing() const {
  std::vector<std::string> names;
  if (beginning_) return names;
  for (const auto& server : servers_)
    if (server->runs() && server->settings().may_write) names.push_back(server->settings().name);
  return names;
}

bool Servers::renew(std::stop_token stop) {
  if (!held_) wake(stop);
  bool changed = false;
  for (const auto& server : servers_) changed = server->renew(stop) || changed;
  return changed;
}

void Servers::wake(std::stop_token stop) {
  const auto rests = [](const auto& server) { return server->rests(); };
  if (std::none_of(servers_.begin(), servers_.end(), rests)) return;
  const auto failures = begin([&](Server& server) { server.wake(stop); });
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (failures[i]) check_that_run_goes_on(*servers_[i], *failures[i], stop);
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

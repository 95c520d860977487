#include "tools/mcp/server.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie::mcp {
namespace {

constexpr std::size_t kMaxBytes = 256u << 10;
constexpr int kMaxRecords = 500;

const char* name_of(Remark::Kind kind) {
  switch (kind) {
    case Remark::Kind::stderr_text:
      return "stderr";
    case Remark::Kind::log:
      return "log";
    case Remark::Kind::bad_message:
      return "bad_message";
    case Remark::Kind::warning:
      return "warning";
  }
  return "warning";
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Kind = RequestError::Kind;

/// The time that a server gets to end by itself, even when the run's time is up.
constexpr milliseconds kEndBeyondTime{1000};

Json names_of(const ToolList& list) {
  Json names = Json::array();
  for (const auto& tool : list.tools) names.push_back(tool.name);
  return names;
}

std::string seconds_text(milliseconds time) {
  const auto tenths = time.count() / 100;
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") +
         " s";
}

}  // namespace

void ServerLog::remarked(const Remark& remark) {
  std::string text = repair_utf8(remark.text);
  {
    const std::lock_guard lock(mutex_);
    const std::size_t room = records_ < kMaxRecords ? kMaxBytes - bytes_ : 0;
    const std::string kept(utf8_prefix(text, room));
    left_out_ += text.size() - kept.size();
    bytes_ += kept.size();
    if (kept.empty()) return;
    ++records_;
    text = kept;
  }
  events_.on(mcp_message_event(turn_(), server_, name_of(remark.kind), text));
}

void ServerLog::record(McpServerRecord record) {
  record.server = server_;
  events_.on(mcp_server_event(turn_(), record));
}

void ServerLog::finish() {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    std::swap(bytes, left_out_);
  }
  if (bytes == 0) return;
  events_.on(mcp_message_event(turn_(), server_, "warning",
                               "further output was left out: " + std::to_string(bytes) + " bytes"));
}

Server::Server(ServerSettings settings, Connect connect, TimeLeft time_left,
               std::unique_ptr<ServerLog> log)
    : settings_(std::move(settings)),
      connect_(std::move(connect)),
      time_left_(std::move(time_left)),
      log_(std::move(log)) {}

Server::~Server() = default;

Client::Deadline Server::within(milliseconds time) const {
  return steady_clock::now() + std::max(milliseconds(0), std::min(time, time_left_()));
}

void Server::start(std::stop_token stop) {
  try {
    launch(ServerState::started, stop);
  } catch (const ServerError& error) {
    why_gone_ = error.what();
    client_.reset();
    log_->record({.state = ServerState::failed, .detail = why_gone_});
    throw;
  }
}

/// The failure of a start, with what to do about it.
std::string Server::with_hint(const std::string& failure) const {
  const bool missing = failure.find("no such program") != std::string::npos;
  const std::string& hint = missing ? settings_.missing_hint : settings_.silent_hint;
  return hint.empty() ? failure : failure + "; " + hint;
}

/// Starts a process or session, with its handshake and tool list.
void Server::launch(ServerState state, std::stop_token stop) {
  const auto deadline = within(settings_.startup_timeout);
  client_.reset();
  seen_changes_ = 0;
  ServerIdentity identity;
  try {
    client_ = std::make_unique<Client>(connect_(), *log_, settings_.client);
    identity = client_->connect(deadline, stop);
    fetch_tools(stop, deadline);
  } catch (const RequestError& error) {
    const std::string late =
        error.kind() == Kind::timed_out
            ? " (startup_timeout: " + seconds_text(settings_.startup_timeout) + ")"
            : "";
    throw ServerError(ServerError::Kind::unavailable, with_hint(error.what() + late));
  } catch (const TransportError& error) {
    throw ServerError(ServerError::Kind::unavailable, with_hint(error.what()));
  }
  usable_ = true;
  instructions_ = plain_text(identity.instructions);
  if (settings_.secrets)
    instructions_ = settings_.secrets->text(std::move(instructions_), Audience::tools);
  log_->record(
      {.state = state,
       .protocol_version = identity.protocol_version,
       .identity = identity.name + (identity.version.empty() ? "" : " " + identity.version),
       .tools = names_of(tools_),
       .pin = tools_.pin});
  for (const auto& line : tools_.left_out) log_->remarked({Remark::Kind::warning, line});
}

/// @throws RequestError
/// @throws ServerError  if the list is not the pinned one
void Server::fetch_tools(std::stop_token stop, Client::Deadline deadline) {
  seen_changes_ = client_->list_changes();
  const auto listed = client_->list_tools(deadline, stop);
  ToolList list = settings_.secrets ? read_tools(listed, settings_.tools, *settings_.secrets)
                                    : read_tools(listed, settings_.tools);
  if (!settings_.pin.empty() && list.pin != settings_.pin)
    throw ServerError(ServerError::Kind::pin_broken,
                      "its tool list is not the one that the task pinned: it is " + list.pin +
                          " now, tools.mcp." + settings_.name + ".pin says " + settings_.pin);
  if (list.tools != tools_.tools) changed_ = true;
  tools_ = std::move(list);
}

bool Server::renew(std::stop_token stop) {
  if (usable_ && !suspended_ && !client_->lost() && client_->list_changes() != seen_changes_) {
    try {
      fetch_tools(stop, within(settings_.tool_timeout));
      if (changed_)
        log_->record(
            {.state = ServerState::tools_changed, .tools = names_of(tools_), .pin = tools_.pin});
    } catch (const RequestError& error) {
      // The old tools stay available.
      log_->remarked({Remark::Kind::warning,
                      std::string("its changed tool list could not be read: ") + error.what()});
    } catch (const ServerError& error) {
      drop(error.what());
    }
  }
  return std::exchange(changed_, false);
}

Json Server::call(const std::string& tool, const Json& arguments, std::stop_token stop) {
  if (!usable_ || suspended_) throw ToolError(why_unavailable());
  if (const auto why = client_->lost(); why && !restart(*why, stop))
    throw ToolError(why_unavailable());
  try {
    return client_->call_tool(tool, arguments, within(settings_.tool_timeout), stop);
  } catch (const RequestError& error) {
    const std::string server = "The MCP server " + settings_.name;
    switch (error.kind()) {
      case Kind::refused:
      case Kind::bad_reply:
        throw ToolError(server + ": " + error.what());
      case Kind::timed_out:
        throw ToolError(server + ": " + error.what() + " (" +
                        (time_left_() > milliseconds(0)
                             ? "tool_timeout: " + seconds_text(settings_.tool_timeout)
                             : "the run's time is up: budget.time") +
                        "); the call was cancelled");
      case Kind::stopped:
        throw ToolError(std::string(error.what()));
      case Kind::failed:
        throw ToolError(server + " gave no result: " + error.what());
      case Kind::lost:
        break;
    }
    const std::string died = server + " died during this call (" + error.what() +
                             "); the effect of the call is unknown. ";
    if (restart(error.what(), stop)) throw ToolError(died + "It was restarted.");
    throw ToolError(died + why_unavailable());
  }
}

/// Restarts the server, once in a run.
bool Server::restart(const std::string& why, std::stop_token stop) {
  log_->record({.state = ServerState::died, .detail = why});
  if (restarted_) {
    drop(why + "; it had been restarted before");
    return false;
  }
  restarted_ = true;
  try {
    launch(ServerState::restarted, stop);
    return true;
  } catch (const ServerError& error) {
    drop(error.what());
    return false;
  }
}

void Server::drop(const std::string& why) {
  usable_ = false;
  why_gone_ = why;
  client_.reset();
  log_->record({.state = ServerState::failed, .detail = why});
}

std::string Server::why_unavailable() const {
  if (suspended_)
    return "The MCP server " + settings_.name +
           " is suspended, since it could write to the workspace. Its tools can't be called now.";
  return "The MCP server " + settings_.name + " is not available anymore: " + why_gone_ +
         ". Its tools can't be called.";
}

bool Server::suspend(Client::Deadline deadline) {
  if (!settings_.may_write || !usable_ || suspended_ || client_->lost()) return false;
  shut_down(deadline);
  suspended_ = true;
  return true;
}

void Server::resume(std::stop_token stop) {
  if (!std::exchange(suspended_, false)) return;
  try {
    launch(ServerState::started, stop);
  } catch (const ServerError& error) {
    drop(error.what());
    throw;
  }
}

void Server::shut_down(Client::Deadline deadline) {
  if (!client_) return;
  const bool was_there = !client_->lost();
  // A run whose time is up does not wait for an unresponsive server.
  client_->close(std::min(deadline, steady_clock::now() + std::max(time_left_(), kEndBeyondTime)));
  if (was_there)
    log_->record({.state = ServerState::ended, .detail = client_->lost().value_or("")});
  client_.reset();
}

void Server::end(Client::Deadline deadline) {
  shut_down(deadline);
  usable_ = false;
  log_->finish();
}

}  // namespace sortie::mcp

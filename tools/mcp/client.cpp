#include "tools/mcp/client.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"

namespace sortie::mcp {
namespace {

using std::chrono::steady_clock;
using Kind = RequestError::Kind;

constexpr int kMostPages = 1000;
constexpr std::size_t kMostTools = 2000;
constexpr std::size_t kMostToolBytes = 8u << 20;
constexpr std::size_t kMaxCancelled = 1000;

Json client_information() {
  return Json::object({{"name", "sortie"}, {"title", "sortie"}, {"version", SORTIE_VERSION}});
}

/// The message for a refused request, in the server's words.
std::string refusal(const std::string& method, const RpcError& error) {
  return method + " was refused with error " + std::to_string(error.code) + ": " +
         one_line(error.message, 2000);
}

}  // namespace

const std::vector<std::string>& protocol_versions() {
  static const std::vector<std::string> versions = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                    "2024-11-05"};
  return versions;
}

Client::Client(std::unique_ptr<Transport> transport, Listener& listener, ClientOptions options)
    : listener_(listener), options_(std::move(options)), transport_(std::move(transport)) {}

Client::~Client() = default;

ServerIdentity Client::connect(Deadline deadline, std::stop_token stop) {
  try {
    transport_->open(*this, deadline, stop);
  } catch (const TransportError& error) {
    throw RequestError(Kind::lost, error.what());
  }
  Json capabilities = Json::object();
  if (!options_.root_uri.empty()) capabilities.set("roots", Json::object({{"listChanged", false}}));
  const Json result = ask("initialize",
                          Json::object({{"protocolVersion", protocol_versions().front()},
                                        {"capabilities", std::move(capabilities)},
                                        {"clientInfo", client_information()}}),
                          deadline, stop);
  ServerIdentity identity = read_identity(result);
  transport_->agree(identity.protocol_version);
  send_quietly(notification("notifications/initialized"));
  if (identity.has_logging) {
    try {
      ask("logging/setLevel", Json::object({{"level", "info"}}), deadline, stop);
    } catch (const RequestError& error) {
      // No result depends on the log.
      if (error.kind() != Kind::refused) throw;
    }
  }
  return identity;
}

ServerIdentity Client::read_identity(const Json& result) const {
  const std::string version = result.string_at("protocolVersion");
  const auto& known = protocol_versions();
  if (std::find(known.begin(), known.end(), version) == known.end())
    throw RequestError(Kind::bad_reply, "it uses protocol version '" + one_line(version, 40) +
                                            "', which is not supported (expected " + known.back() +
                                            " to " + known.front() + ")");
  const Json& capabilities = result["capabilities"];
  const Json& information = result["serverInfo"];
  return {.protocol_version = version,
          .name = one_line(information.string_at("name"), 200),
          .version = one_line(information.string_at("version"), 100),
          .instructions = result.string_at("instructions"),
          .has_tools = capabilities.find("tools") != nullptr,
          .has_logging = capabilities.find("logging") != nullptr};
}

std::vector<Json> Client::list_tools(Deadline deadline, std::stop_token stop) {
  std::vector<Json> tools;
  std::set<std::string> cursors;
  std::size_t bytes = 0;
  Json params;
  for (int page = 0;; ++page) {
    Json result = ask("tools/list", params, deadline, stop);
    Json* list = result.find("tools");
    if (list == nullptr || !list->is_array())
      throw RequestError(Kind::bad_reply, "its answer to tools/list contains no list of tools");
    for (Json& tool : list->items()) {
      if (!tool.is_object() || tool.string_at("name").empty())
        throw RequestError(Kind::bad_reply, "a tool in its list has no name");
      bytes += written_size(tool);
      tools.push_back(std::move(tool));
    }
    if (tools.size() > kMostTools || bytes > kMostToolBytes)
      throw RequestError(Kind::bad_reply, "its tool list is too long: more than " +
                                              std::to_string(kMostTools) + " tools or " +
                                              std::to_string(kMostToolBytes >> 20) + " MiB");
    const Json& cursor = result["nextCursor"];
    if (!cursor.is_string()) return tools;
    if (page + 1 >= kMostPages || !cursors.insert(cursor.text()).second)
      throw RequestError(Kind::bad_reply, "its tool list has endless pages");
    params = Json::object({{"cursor", cursor}});
  }
}

Json Client::call_tool(const std::string& name, const Json& arguments, Deadline deadline,
                       std::stop_token stop) {
  Json result =
      ask("tools/call", Json::object({{"name", name}, {"arguments", arguments}}), deadline, stop);
  if (!result.is_object())
    throw RequestError(Kind::bad_reply, "its answer to tools/call is not an object");
  return result;
}

void Client::ping(Deadline deadline, std::stop_token stop) { ask("ping", {}, deadline, stop); }

Json Client::ask(const std::string& method, Json params, Deadline deadline, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (lost_) throw RequestError(Kind::lost, *lost_);
  const std::int64_t id = next_id_++;
  pending_[id] = {};
  lock.unlock();
  // The progress token is the request's own id.
  if (method == "tools/call") params.set("_meta", Json::object({{"progressToken", id}}));
  try {
    transport_->send(request(id, method, std::move(params)));
  } catch (const TransportError& error) {
    lock.lock();
    pending_.erase(id);
    throw RequestError(lost_ ? Kind::lost : Kind::failed, lost_ ? *lost_ : error.what());
  }
  lock.lock();
  const auto answered = [&] {
    const Pending& one = pending_[id];
    return one.reply || !one.failure.empty() || lost_;
  };
  changed_.wait_until(lock, stop, deadline, answered);
  const bool done = answered();
  Pending pending = std::move(pending_[id]);
  pending_.erase(id);
  if (done) {
    if (!pending.reply && pending.failure.empty()) throw RequestError(Kind::lost, *lost_);
    lock.unlock();
    return take_result(method, std::move(pending));
  }
  if (cancelled_.size() >= kMaxCancelled) cancelled_.erase(cancelled_.begin());
  cancelled_.insert(id);
  lock.unlock();
  cancel(id, method, stop.stop_requested(), pending.progress);
}

Json Client::take_result(const std::string& method, Pending pending) const {
  if (!pending.reply) throw RequestError(Kind::failed, pending.failure);
  if (pending.reply->kind == Message::Kind::error)
    throw RequestError(Kind::refused, refusal(method, pending.reply->error));
  return std::move(pending.reply->result);
}

void Client::cancel(std::int64_t id, const std::string& method, bool stopped,
                    const std::string& progress) {
  transport_->abandon(id);
  const std::string why = stopped ? "the run was stopped" : "the time is up";
  // The client must not cancel the handshake (§ Cancellation).
  if (method != "initialize")
    send_quietly(notification("notifications/cancelled",
                              Json::object({{"requestId", id}, {"reason", why}})));
  std::string text = method + " was not answered in time";
  if (stopped) text = method + " was cancelled: the run was stopped";
  if (!progress.empty()) text += "; the last progress: " + progress;
  throw RequestError(stopped ? Kind::stopped : Kind::timed_out, text);
}

void Client::send_quietly(const Message& message) {
  {
    const std::lock_guard lock(mutex_);
    sent_other_ = true;
  }
  try {
    transport_->send(message);
  } catch (const TransportError&) {
    // The next request fails with it.
  }
}

void Client::received(Message message) {
  switch (message.kind) {
    case Message::Kind::request:
      return answer(message);
    case Message::Kind::notification:
      return on_notification(message);
    case Message::Kind::result:
    case Message::Kind::error:
      return on_reply(std::move(message));
  }
}

void Client::answer(const Message& request) {
  if (request.method == "ping") return send_quietly(result_reply(request.id, Json::object()));
  if (request.method == "roots/list" && !options_.root_uri.empty()) {
    Json root = Json::object({{"uri", options_.root_uri}, {"name", options_.root_name}});
    return send_quietly(
        result_reply(request.id, Json::object({{"roots", Json::array({std::move(root)})}})));
  }
  if (request.method == "sampling/createMessage")
    return send_quietly(error_reply(
        request.id, {.code = rpc_code::kRejected,
                     .message = "Sampling is refused: the model works only for its own task"}));
  const bool elicits = request.method == "elicitation/create";
  send_quietly(error_reply(
      request.id, {.code = rpc_code::kMethodNotFound,
                   .message = elicits ? "Elicitation is refused: no user is present"
                                      : "Method not found: " + one_line(request.method, 100)}));
}

/// An error without an id answers a message that the server could not read (JSON-RPC 2.0 §5): the
/// pending request, if nothing else was sent.
Client::PendingMap::iterator Client::find_pending(const Message& reply) {
  const bool has_no_id = reply.kind == Message::Kind::error && reply.id.is_null();
  const bool says_unread = has_no_id && (reply.error.code == rpc_code::kParseError ||
                                         reply.error.code == rpc_code::kInvalidRequest);
  if (says_unread && !sent_other_ && pending_.size() == 1) return pending_.begin();
  const auto id = reply.id.integer();
  return id ? pending_.find(*id) : pending_.end();
}

void Client::on_reply(Message reply) {
  std::string unexpected;
  {
    const std::lock_guard lock(mutex_);
    const auto id = reply.id.integer();
    const auto found = find_pending(reply);
    if (found == pending_.end()) {
      if (id && cancelled_.count(*id) != 0) return;
      unexpected = reply.id.is_null()
                       ? "it could not read a message: " + one_line(reply.error.message, 200)
                       : "a reply to an unknown request: id " + id_text(reply.id);
    } else if (found->second.reply) {
      unexpected = "a second reply to request " + id_text(reply.id);
    } else {
      sent_other_ = false;
      found->second.reply = std::move(reply);
      changed_.notify_all();
    }
  }
  if (!unexpected.empty()) listener_.remarked({Remark::Kind::bad_message, unexpected});
}

void Client::on_notification(const Message& notification) {
  const Json& params = notification.params;
  if (notification.method == "notifications/tools/list_changed") {
    ++list_changes_;
  } else if (notification.method == "notifications/progress") {
    on_progress(params);
  } else if (notification.method == "notifications/message") {
    const Json& data = params["data"];
    std::string text = params.string_at("level", "info");
    if (const std::string logger = params.string_at("logger"); !logger.empty())
      text += " " + logger;
    text += ": " + (data.is_string() ? data.text() : write_json(data));
    listener_.remarked({Remark::Kind::log, std::move(text)});
  }
  // Other notifications concern unused features.
}

void Client::on_progress(const Json& params) {
  const auto id = params["progressToken"].integer();
  std::string text = params["progress"].text();
  if (const Json& total = params["total"]; total.is_number()) text += " of " + total.text();
  if (const std::string words = params.string_at("message"); !words.empty())
    text += (text.empty() ? "" : ", ") + words;
  const std::lock_guard lock(mutex_);
  const auto found = id ? pending_.find(*id) : pending_.end();
  if (found != pending_.end()) found->second.progress = one_line(text, 300);
}

void Client::failed(const Json& id, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto number = id.integer();
  const auto found = number ? pending_.find(*number) : pending_.end();
  if (found == pending_.end() || found->second.reply) return;
  found->second.failure = why.empty() ? "its transport failed" : why;
  changed_.notify_all();
}

void Client::closed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!lost_) lost_ = why.empty() ? "the connection was lost" : why;
  changed_.notify_all();
}

void Client::remarked(const Remark& remark) { listener_.remarked(remark); }

std::optional<std::string> Client::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void Client::close(Deadline deadline) { transport_->close(deadline); }

}  // namespace sortie::mcp

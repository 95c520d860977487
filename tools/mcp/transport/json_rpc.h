#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sortie::mcp {

/// Error codes of JSON-RPC 2.0 §5.1, and those of MCP.
namespace rpc_code {
inline constexpr std::int64_t kRejected = -1;  ///< rejected by the user: sampling, elicitation
inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInternal = -32603;
}  // namespace rpc_code

/// The content of an error reply.
struct RpcError {
  std::int64_t code = rpc_code::kInternal;
  std::string message{};
  Json data{};
  bool operator==(const RpcError&) const = default;
};

/// One JSON-RPC 2.0 message, in either direction.
struct Message {
  enum class Kind { request, notification, result, error };
  Kind kind = Kind::notification;
  Json id{};             ///< a string or integer; null for notifications, and for errors about
                         ///< unreadable messages
  std::string method{};  ///< for requests and notifications
  Json params{};         ///< for requests and notifications: an object, an array, or null for none
  Json result{};         ///< for results
  RpcError error{};      ///< for errors

  bool is_reply() const noexcept { return kind == Kind::result || kind == Kind::error; }
  bool operator==(const Message&) const = default;
};

Message request(Json id, std::string method, Json params = {});
Message notification(std::string method, Json params = {});
Message result_reply(Json id, Json result);
Message error_reply(Json id, RpcError error);

/// A text is not valid JSON-RPC; one sentence says why.
class RpcFormatError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ParseLimits {
  std::size_t max_bytes = 16u << 20;
  std::size_t max_depth = 128;
  std::size_t max_batch = 1000;  ///< messages in one array
};

/// Reads one message, or the messages of a batch (arrays, in protocol version 2025-03-26), in
/// order. Unknown members are ignored.
/// @return  at least one
/// @throws RpcFormatError  not JSON in UTF-8, beyond a limit, or not JSON-RPC 2.0; for a batch, if
///                         any message is invalid
std::vector<Message> parse_messages(std::string_view text, const ParseLimits& limits = {});

/// What a text that parse_messages() rejects was probably meant to be.
struct BrokenMessage {
  bool is_reply = false;  ///< a reply to a request, not a log line
  Json id{};              ///< id of the reply; null if unreadable
};

/// Reads as much of the text as possible, whether it is valid JSON or not. A reply is an object
/// with the members "jsonrpc" and "id", "result" or "error", and without "method".
BrokenMessage inspect_broken(std::string_view text);

/// The message as sent: one line, without a newline.
std::string write_message(const Message& message);

/// An id for people: 7, "abc".
std::string id_text(const Json& id);

}  // namespace sortie::mcp

#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sortie::mcp {

/// Error codes of JSON-RPC 2.0 §5.1, and the ones that MCP adds.
namespace rpc_code {
inline constexpr std::int64_t kRejected = -1;  ///< the user said no: sampling, elicitation
inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kMethodNotFound = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternal = -32603;
}  // namespace rpc_code

/// What an error reply holds.
struct RpcError {
  std::int64_t code = rpc_code::kInternal;
  std::string message{};
  Json data{};
  bool operator==(const RpcError&) const = default;
};

/// One message of JSON-RPC 2.0, either way.
struct Message {
  enum class Kind { request, notification, result, error };
  Kind kind = Kind::notification;
  Json id{};             ///< of all but notifications: a string or a whole number; an error that
                         ///< answers what could not be read has null
  std::string method{};  ///< of requests and notifications
  Json params{};         ///< of requests and notifications: an object, an array, or null for none
  Json result{};         ///< of a result
  RpcError error{};      ///< of an error

  bool is_reply() const noexcept { return kind == Kind::result || kind == Kind::error; }
  bool operator==(const Message&) const = default;
};

Message request(Json id, std::string method, Json params = {});
Message notification(std::string method, Json params = {});
Message result_reply(Json id, Json result);
Message error_reply(Json id, RpcError error);

/// What is not JSON-RPC in a text that should be; one sentence.
class RpcFormatError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ParseLimits {
  std::size_t max_bytes = 16u << 20;
  std::size_t max_depth = 128;
  std::size_t max_batch = 1000;  ///< messages of one array
};

/// Reads one message, or the messages of a batch (the arrays of protocol version 2025-03-26), in
/// their order. Members that are not known are passed over.
/// @return  at least one
/// @throws RpcFormatError  not JSON in UTF-8, beyond a limit, or no message of JSON-RPC 2.0: then
///                         none of a batch counts
std::vector<Message> parse_messages(std::string_view text, const ParseLimits& limits = {});

/// What a text was meant as that parse_messages() does not take.
struct BrokenMessage {
  bool is_reply = false;  ///< a reply that somebody waits for; not a line of a log
  Json id{};              ///< of a reply: whose it is; null where that can't be read
};

/// Reads the text as far as it goes, whether it is JSON or not. A reply is an object that names
/// "jsonrpc", and an "id", "result" or "error", and no "method", among its own members.
BrokenMessage look_at_broken(std::string_view text);

/// As it goes over the wire: one line without its newline.
std::string write_message(const Message& message);

/// An id for people: 7, "abc".
std::string id_text(const Json& id);

}  // namespace sortie::mcp

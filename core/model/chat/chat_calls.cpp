#include "core/model/chat/chat_calls.h"

#include <algorithm>

#include "core/model/wire.h"

namespace sortie {

namespace {

/// @return the bytes that it added
std::size_t add_function(const Json& function, ChatCall& call) {
  const std::string name = function.string_at("name");
  // A name comes whole, and some servers repeat it; in pieces only before any argument.
  if (call.name != name && call.arguments.empty()) call.name += name;
  const Json& arguments = function["arguments"];
  const std::string text = arguments.is_object() ? write_json(arguments) : arguments.text();
  if (arguments.is_string() || arguments.is_object()) call.arguments += text;
  return name.size() + text.size();
}

}  // namespace

ChatCall& ChatCalls::call_of(const Json& piece) {
  const std::string id = piece.string_at("id");
  const auto index = piece["index"].integer();
  const bool named = !piece["function"].string_at("name").empty();
  // The latest first: where calls share an index, pieces belong to the one begun last.
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (!id.empty() && call->id == id && (!index || !call->index || index == call->index))
      return *call;
    if (!index || index != call->index) continue;
    const bool other = !id.empty() && !call->id.empty();  // and not equal
    const bool next = id.empty() && call->id.empty() && named && !call->arguments.empty() &&
                      call->name != piece["function"].string_at("name");
    if (!other && !next) return *call;
    break;
  }
  if (!index && id.empty() && !named && !calls_.empty()) return calls_.back();
  calls_.push_back({.index = index});
  return calls_.back();
}

std::size_t ChatCalls::add_tool_calls(const Json& pieces) {
  std::size_t bytes = 0;
  for (const Json& piece : pieces.items()) {
    if (!piece.is_object()) continue;
    if (calls_.size() > WireDecoder::kMaxResponseItems) break;  // no response any more
    ChatCall& call = call_of(piece);
    const std::string id = piece.string_at("id");
    if (call.id.empty()) call.id = id;
    if (call.type.empty()) call.type = piece.string_at("type");
    bytes += 64 + id.size() + add_function(piece["function"], call);
  }
  return bytes;
}

std::size_t ChatCalls::add_function_call(const Json& piece) {
  if (!piece.is_object()) return 0;
  if (!function_call_) function_call_.emplace();
  return add_function(piece, *function_call_);
}

}  // namespace sortie

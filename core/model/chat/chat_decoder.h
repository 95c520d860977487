#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/chat/chat_delta.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// A call as its pieces have come together.
struct ChatCall {
  std::string id{};
  std::string name{};
  std::string arguments{};
  std::string type{};  ///< "" is "function"
  std::optional<std::int64_t> index{};
};

/// Puts the calls of a stream together from their pieces.
///
/// By the format a piece names its call by `index`, and the first one has id and name. Servers also
/// send whole calls in one piece, repeat id or name in each, give all calls the index 0, leave the
/// index out, or send arguments as an object.
class ChatCalls {
 public:
  /// `tool_calls` of a delta. @return the bytes that it added
  std::size_t add_tool_calls(const Json& pieces);
  /// `function_call` of a delta: the older form, of one call without an id.
  std::size_t add_function_call(const Json& piece);
  const std::vector<ChatCall>& calls() const noexcept { return calls_; }
  const std::optional<ChatCall>& function_call() const noexcept { return function_call_; }

 private:
  ChatCall& call_of(const Json& piece);
  std::vector<ChatCall> calls_;
  std::optional<ChatCall> function_call_;
};

/// Reads the chunks of one Chat Completions stream.
///
/// The finish_reason makes the response; its usage comes after it, in a chunk without choices, and
/// `[DONE]` last. So it is complete at one of these two, or where the stream ends after the
/// finish_reason: usage may then be missing. Only the first choice is read.
///
/// Response::output has one entry: the assistant message as it would have come without streaming,
/// put together from its deltas.
class ChatDecoder : public WireDecoder {
 public:
  /// @param free_text    of free_text_functions()
  /// @param new_call_id  for calls of the older form, which have none; not set: such a call can't
  ///                     be used
  ChatDecoder(std::set<std::string> free_text, std::function<std::string()> new_call_id)
      : reader_(std::move(free_text)), new_call_id_(std::move(new_call_id)) {}
  State read(const SseEvent& event) override;
  State finish() override;
  std::string message_so_far() const override { return content_; }

 private:
  void read_chunk(const Json& chunk);
  void read_choice(const Json& choice);
  void read_delta(const Json& delta);
  void read_usage(const Json& usage);
  void add_text(const ChatText& text);
  void grow(std::size_t bytes);
  void complete();
  void take_calls(bool cut);
  std::string message_json() const;
  void fail_with(const Json& error);

  ChatTextReader text_reader_;
  ChatText chunk_text_;  ///< of the chunk being read
  bool begun_ = false;   ///< a chunk was read whole: id and model are known
  std::string content_;
  std::string reasoning_;
  bool goes_back_ = false;  ///< the server wants its reasoning back
  std::string refusal_;
  std::string filtered_;  ///< what a content filter found: "violence, hate"
  ChatCalls calls_;
  std::string finish_reason_;
  std::size_t bytes_ = 0;  ///< held of the response
  CallReader reader_;
  std::function<std::string()> new_call_id_;
};

}  // namespace sortie

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/chat/chat_delta.h"
#include "core/model/leaked_calls.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// A call, assembled from its pieces.
struct ChatCall {
  std::string id{};
  std::string name{};
  std::string arguments{};
  std::string type{};  ///< "" is "function"
  std::optional<std::int64_t> index{};
};

/// Assembles the calls of a stream from their pieces.
///
/// By the format each piece has the `index` of its call, and the first one has id and name. Some
/// servers send whole calls in one piece, repeat id or name in each, give all calls the index 0,
/// omit the index, or send arguments as an object.
class ChatCalls {
 public:
  /// Adds `tool_calls` of a delta. @return the bytes added
  std::size_t add_tool_calls(const Json& pieces);
  /// Adds `function_call` of a delta: the older form, with one call without an id.
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
/// The finish_reason is followed by the usage, in a chunk without choices, and `[DONE]`. The
/// response is complete at one of these two, or if the stream ends after the finish_reason; then
/// usage may be missing. Only the first choice is read.
///
/// Reasoning and calls that the server left in the text are taken out of it (thoughts.h,
/// leaked_calls.h).
///
/// Response::output has one entry: the assistant message as it would be without streaming.
class ChatDecoder : public WireDecoder {
 public:
  /// @param settings     of the request
  /// @param new_call_id  makes ids for calls that have none: those of the older form, and of servers
  ///                     that send none
  ChatDecoder(const ModelSettings& settings, std::function<std::string()> new_call_id)
      : tools_(settings.tools),
        bare_json_(settings.output_schema ? BareJson::is_answer : BareJson::may_be_call),
        reader_(free_text_functions(settings)),
        new_call_id_(std::move(new_call_id)) {}
  State read(const SseEvent& event) override;
  State finish() override;
  bool may_end() const override { return !finish_reason_.empty(); }
  State read_whole(std::string_view body) override;
  std::string message_so_far() const override { return content_; }

 private:
  void read_chunk(const Json& chunk);
  void read_choice(const Json& choice);
  void read_delta(const Json& delta);
  void read_usage(const Json& usage);
  void add_text(const ChatText& text);
  void grow(std::size_t bytes);
  void complete();
  void take_thoughts();
  std::vector<ChatCall> whole_calls();
  void take_calls(const std::vector<ChatCall>& calls, bool cut);
  std::string message_json(const std::vector<ChatCall>& all) const;
  void fail_with(const Json& error);

  ChatTextReader text_reader_;
  ChatText chunk_text_;  ///< the text of the current chunk
  bool begun_ = false;   ///< a whole chunk was parsed: id and model are known
  std::string content_;
  std::string reasoning_;
  bool goes_back_ = false;  ///< the server wants its reasoning back
  std::string refusal_;
  std::string filtered_;  ///< what a content filter found: "violence, hate"
  ChatCalls calls_;
  std::string finish_reason_;
  std::size_t bytes_ = 0;  ///< of the response so far
  std::vector<ToolSpec> tools_;
  BareJson bare_json_;
  CallReader reader_;
  std::function<std::string()> new_call_id_;
};

}  // namespace sortie

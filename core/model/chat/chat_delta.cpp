#include "core/model/chat/chat_delta.h"

#include "core/json/json_text.h"
#include "core/json/json_visitor.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// Follows {"choices":[{"index":0,"delta":{"content":…}}]}; all else that says something ends it.
class TextVisitor : public JsonVisitor {
 public:
  explicit TextVisitor(ChatText& to) : to_(to) {}

  bool begin(Json::Type type) override {
    ++depth_;
    const bool object = type == Json::Type::object;
    switch (place_) {
      case Place::outside:
        return object && enter(Place::chunk);
      case Place::chunk:
        if (name_ == "choices") return !object && !choices_++ && enter(Place::choices);
        // Of no interest here, but not to be passed over: they end a response, or tell its cost.
        return name_ != "usage" && name_ != "error" && name_ != "x_groq";
      case Place::choices:
        return object && !choice_++ && enter(Place::choice);
      case Place::choice:
        if (name_ == "delta") return object && !deltas_++ && enter(Place::delta);
        return name_ != "message";
      case Place::delta:
        // Some servers send an empty list of calls in each chunk.
        return !object && depth_ == inner_depth_ + 1 && name_ == "tool_calls";
    }
    return false;
  }
  bool end() override {
    if (depth_-- != inner_depth_) return true;  // of something that is passed over
    --inner_depth_;
    place_ = static_cast<Place>(static_cast<int>(place_) - 1);
    return true;
  }
  bool name(std::string_view text) override {
    if (depth_ == inner_depth_) name_ = text;
    return true;
  }
  bool value(Json::Type type, std::string_view text) override {
    if (depth_ != inner_depth_) return place_ != Place::delta;
    if (type == Json::Type::null) return true;
    switch (place_) {
      case Place::chunk:
        return name_ != "choices" && name_ != "error" && name_ != "message";
      case Place::choice:
        if (name_ == "index") return text == "0";
        return name_ != "finish_reason" && name_ != "delta" && name_ != "message";
      case Place::delta:
        return delta(type, text);
      default:
        return false;
    }
  }
  /// Whether it was a chunk at all.
  bool found() const { return deltas_ == 1; }

 private:
  enum class Place { outside, chunk, choices, choice, delta };

  bool enter(Place place) {
    place_ = place;
    inner_depth_ = depth_;
    return true;
  }
  bool delta(Json::Type type, std::string_view text) {
    if (name_ == "role") return true;
    if (type != Json::Type::string) return false;
    if (name_ == "content" && !contents_++) return to_.content = text, true;
    // Some servers send both names.
    if (name_ == "reasoning_content" || name_ == "reasoning")
      return !reasonings_++ &&
             (to_.reasoning = text, to_.goes_back = name_ == "reasoning_content", true);
    return text.empty();
  }

  ChatText& to_;
  Place place_ = Place::outside;
  int depth_ = 0;
  int inner_depth_ = 0;  ///< of the value that place_ names
  std::string name_;
  int choices_ = 0;
  int choice_ = 0;
  int deltas_ = 0;
  int contents_ = 0;
  int reasonings_ = 0;
};

/// Whether the text stands in a JSON string as it is.
bool is_plain(std::string_view text) {
  return unescaped_length(text) == text.size() && is_utf8(text);
}

}  // namespace

bool ChatTextReader::read(std::string_view chunk, ChatText& to) {
  to.content.clear();
  to.reasoning.clear();
  to.goes_back = false;
  if (fits(chunk, to)) return true;
  TextVisitor visitor(to);
  if (!visit_json(chunk, visitor) || !visitor.found()) return false;
  remember(chunk, to);
  return true;
}

bool ChatTextReader::fits(std::string_view chunk, ChatText& to) const {
  if (before_.empty() || chunk.size() < before_.size() + after_.size() ||
      !chunk.starts_with(before_) || !chunk.ends_with(after_))
    return false;
  chunk.remove_prefix(before_.size());
  chunk.remove_suffix(after_.size());
  if (!is_plain(chunk)) return false;
  to.content = chunk;
  return true;
}

void ChatTextReader::remember(std::string_view chunk, const ChatText& text) {
  constexpr std::string_view kName = "\"content\"";
  before_.clear();
  if (!text.reasoning.empty() || text.content.empty() || !is_plain(text.content)) return;
  // Without escapes in it, and where the name stands once, it can be no other member's.
  const auto at = chunk.find(kName);
  if (at == std::string_view::npos || chunk.find(kName, at + 1) != std::string_view::npos ||
      chunk.find('\\') != std::string_view::npos)
    return;
  const auto begin = at + kName.size() + 2;
  if (chunk.substr(at + kName.size(), 2) != ":\"" ||
      chunk.substr(begin, text.content.size() + 1) != text.content + '"')
    return;
  before_ = chunk.substr(0, begin);
  after_ = chunk.substr(begin + text.content.size());
}

}  // namespace sortie

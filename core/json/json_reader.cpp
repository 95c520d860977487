#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_set>
#include <utility>

#include "core/json/json.h"
#include "core/json/json_text.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// A text of 32 MiB can have sixteen million values, which as such take a hundred times as much.
constexpr std::size_t kMaxValues = 1u << 20;

/// RapidJSON's events → Json. Iterative on both sides, so that depth is a number and not a crash.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  /// @param longest  a text of more bytes, of which there can be one, is left in the buffer that is read
  Builder(std::size_t max_depth, std::size_t longest) : max_depth_(max_depth), longest_(longest) {
    // Enough for most objects, and not more than the heap has at hand.
    members_.reserve(14);
    open_.reserve(8);
  }

  Json take() { return std::move(root_); }
  /// The text that was left, which is empty in the tree; no data if there is none.
  std::string_view left_text() const { return left_text_; }
  /// Where it belongs.
  const char* left_place() const { return left_place_; }
  const char* refusal() const { return refusal_; }

  bool Null() { return add(Json()); }
  bool Bool(bool value) { return add(Json(value)); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return add(Json::number(std::string(text, length)));
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return length > longest_ ? leave({text, length}) : add(Json(std::string(text, length)));
  }
  bool StartObject() { return open(true, members_.size()); }
  bool StartArray() { return open(false, items_.size()); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    auto& frame = open_.back();
    const std::string_view name(text, length);
    const std::size_t members = members_.size() - frame.begin;
    // A linear look is quickest for the few members an object has; large ones get a set.
    if (members == kFewMembers) frame.names = std::make_unique<Names>(names_from(frame.begin));
    const bool known =
        frame.names ? !frame.names->emplace(name).second : has_name_from(frame.begin, name);
    if (known) return refuse("duplicate name in an object");
    members_.emplace_back(name, Json());
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return add(Json::object(taken_from(members_, close()))); }
  bool EndArray(rapidjson::SizeType) { return add(Json::array(taken_from(items_, close()))); }

 private:
  using Names = std::unordered_set<std::string>;
  static constexpr std::size_t kFewMembers = 16;

  /// An object or array that is not closed.
  struct Frame {
    bool is_object;
    std::size_t begin;               ///< of its own in members_ or items_
    std::unique_ptr<Names> names{};  ///< of more than a few members
  };

  bool refuse(const char* why) {
    refusal_ = why;
    return false;
  }
  bool add(Json&& value) {
    if (++values_ > kMaxValues) return refuse("more than a million values");
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().is_object)
      members_.back().second = std::move(value);
    else
      items_.push_back(std::move(value));
    return true;
  }
  bool leave(std::string_view text) {
    // Memory of its own, by which it is found again wherever it is moved.
    std::string place;
    place.reserve(2 * sizeof place);
    left_text_ = text;
    left_place_ = place.data();
    return add(Json(std::move(place)));
  }
  bool open(bool is_object, std::size_t begin) {
    if (open_.size() >= max_depth_) return refuse("nested too deeply");
    open_.push_back({is_object, begin});
    return true;
  }
  /// @return  where its values begin
  std::size_t close() {
    const std::size_t begin = open_.back().begin;
    open_.pop_back();
    return begin;
  }
  /// The last values of a list, as a list of their own that has just the memory it needs.
  template <typename Value>
  static std::vector<Value> taken_from(std::vector<Value>& all, std::size_t begin) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    std::vector<Value> own(std::make_move_iterator(first), std::make_move_iterator(all.end()));
    all.erase(first, all.end());
    return own;
  }
  bool has_name_from(std::size_t begin, std::string_view name) const {
    return std::any_of(members_.begin() + static_cast<std::ptrdiff_t>(begin), members_.end(),
                       [name](const Json::Member& member) { return member.first == name; });
  }
  Names names_from(std::size_t begin) const {
    Names names;
    for (std::size_t i = begin; i < members_.size(); ++i) names.insert(members_[i].first);
    return names;
  }

  std::size_t max_depth_;
  std::size_t longest_;
  std::string_view left_text_{};
  const char* left_place_ = nullptr;
  std::size_t values_ = 0;
  std::vector<Frame> open_;
  std::vector<Json> items_;            ///< of all arrays in open_, the outermost first
  std::vector<Json::Member> members_;  ///< of all objects in open_; the last one may lack its value
  Json root_;
  const char* refusal_ = nullptr;
};

/// Where a JSON string ends, and whether it needs no reader to be known as correct.
struct PlainString {
  std::size_t end;  ///< of its closing quote; npos: there is none
  bool is_plain;
};

/// @param text   in UTF-8
/// @param begin  behind the opening quote
PlainString read_plain_string(std::string_view text, std::size_t begin) {
  bool is_plain = true;
  for (std::size_t at = begin;; ++at) {
    at += unescaped_length(text.substr(std::min(at, text.size())));
    if (at >= text.size()) return {std::string_view::npos, false};
    if (text[at] == '"') return {at, is_plain};
    if (text[at] != '\\') {
      is_plain = false;  // a control character
      continue;
    }
    // Of \u only the reader knows whether its digits and its pair are right.
    constexpr std::string_view kNamed = "\"\\/bfnrt";
    if (++at < text.size() && kNamed.find(text[at]) == std::string_view::npos) is_plain = false;
  }
}

constexpr unsigned kTreeFlags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

/// @param flags   rapidjson::ParseFlag, with kTreeFlags
/// @param stream  of `bytes` bytes
template <unsigned flags, typename Stream>
Json parse_stream(Stream& stream, std::size_t bytes, Builder& builder) {
  rapidjson::Reader reader;
  const auto result = reader.Parse<flags>(stream, builder);
  if (result.IsError()) {
    std::string what =
        builder.refusal() ? builder.refusal() : rapidjson::GetParseError_En(result.Code());
    if (what.ends_with('.')) what.pop_back();  // the place is said behind it
    throw JsonError(what, result.Offset());
  }
  // The stream ends at a NUL byte, so that the text behind one would not be read.
  if (stream.Tell() != bytes) throw JsonError("a NUL byte behind the root", stream.Tell());
  return builder.take();
}

/// The string in the tree that has this memory.
Json* find_place(Json& value, const char* place) {
  if (value.is_string() && value.text().data() == place) return &value;
  for (Json& item : value.items())
    if (Json* found = find_place(item, place)) return found;
  for (auto& [name, member] : value.members())
    if (Json* found = find_place(member, place)) return found;
  return nullptr;
}

/// A shorter text is copied to the stack to be read.
constexpr std::size_t kShortText = 4u << 10;
/// A string that is nearly all of a longer text gets the copy's memory, and is not copied once more.
constexpr std::size_t kLongText = 64u << 10;
constexpr std::size_t most_of(std::size_t bytes) { return std::max(kLongText, bytes - bytes / 8); }
/// The reader looks at so many bytes at once, and so past the end.
constexpr std::size_t kReadAhead = 16;

/// Reads a text in place: strings where they stand, many bytes at once, and not gathered byte by byte.
/// @param copy  of `bytes` bytes, and kReadAhead NUL bytes; is changed
Json parse_in_place(char* copy, std::size_t bytes, Builder& builder) {
  rapidjson::InsituStringStream stream(copy);
  return parse_stream<kTreeFlags | rapidjson::kParseInsituFlag>(stream, bytes, builder);
}

Json parse_long(std::string_view text, std::size_t max_depth) {
  Builder builder(max_depth, most_of(text.size()));
  std::string copy;
  copy.reserve(text.size() + kReadAhead);
  copy.append(text).append(kReadAhead, '\0');
  Json root = parse_in_place(copy.data(), text.size(), builder);
  const std::string_view left = builder.left_text();
  Json* const place = left.data() ? find_place(root, builder.left_place()) : nullptr;
  if (place) {
    const auto begin = static_cast<std::size_t>(left.data() - copy.data());
    copy.resize(begin + left.size());
    copy.erase(0, begin);
    *place = Json(std::move(copy));
  }
  return root;
}

}  // namespace

Json parse_json(std::string_view text, std::size_t max_depth) {
  // Looking at the bytes beforehand takes a tenth of what the reader's own look at each character
  // does; that one knows where the text is wrong. In place, RapidJSON 1.1 lets some control characters
  // pass, depending on where they stand: it compares many bytes with 0x19 for 0x1f.
  if (!is_utf8(text) || has_byte_between(text, 0x1a, 0x1f)) {
    Builder builder(max_depth, text.size());
    rapidjson::MemoryStream stream(text.data(), text.size());
    return parse_stream<kTreeFlags | rapidjson::kParseValidateEncodingFlag>(stream, text.size(),
                                                                            builder);
  }
  if (text.size() >= kShortText) return parse_long(text, max_depth);
  Builder builder(max_depth, text.size());
  char copy[kShortText + kReadAhead];
  std::fill_n(std::copy(text.begin(), text.end(), copy), kReadAhead, '\0');
  return parse_in_place(copy, text.size(), builder);
}

Json parse_json_without_long_texts(std::string_view text) {
  if (!is_utf8(text)) return parse_json(text);  // which knows where it is wrong
  std::string shorter;
  std::size_t copied = 0;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string_view::npos; ++at) {
    const std::size_t begin = ++at;
    const PlainString string = read_plain_string(text, begin);
    at = string.end;
    if (at == std::string_view::npos) break;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    const bool is_name = next != std::string_view::npos && text[next] == ':';
    if (at - begin <= kLongText || !string.is_plain || is_name) continue;
    shorter.append(text, copied, begin - copied);
    copied = at;
  }
  if (copied == 0) return parse_json(text);
  shorter.append(text, copied);
  try {
    return parse_json(shorter);
  } catch (const JsonError&) {
    return parse_json(text);  // says where
  }
}

bool is_json(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::BaseReaderHandler<> nobody;
  rapidjson::Reader reader;
  // Iterative: a line of a million brackets must not use up the stack.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  return !reader.Parse<kFlags>(stream, nobody).IsError() && stream.Tell() == text.size();
}

}  // namespace sortie

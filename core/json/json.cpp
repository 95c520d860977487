#include "core/json/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "core/json/plain_json.h"
#include "core/text/text.h"

namespace sortie {

namespace {

constexpr std::size_t kMaxDepth = 128;
/// A text of 32 MiB can have sixteen million values, which as such take a hundred times as much.
constexpr std::size_t kMaxValues = 1u << 20;

/// RapidJSON's events → Json. Iterative on both sides, so that depth is a number and not a crash.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  /// @param left_out  see parse_json_without; "" for nothing
  Builder(std::size_t max_depth, std::string_view left_out)
      : max_depth_(max_depth), left_out_(left_out) {}

  Json take() { return std::move(root_); }
  const char* refusal() const { return refusal_; }

  bool Null() { return add(Json()); }
  bool Bool(bool value) { return add(Json(value)); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return add(Json::number(std::string(text, length)));
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return skip_ ? add(Json()) : add(Json(std::string(text, length)));
  }
  bool StartObject() { return open(Json::object()); }
  bool StartArray() { return open(Json::array()); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    auto& frame = open_.back();
    std::string name(text, length);
    auto& members = frame.value.members();
    // A linear look is quickest for the few members an object has; large ones get a set.
    if (members.size() == 16)
      for (const auto& member : members) frame.names.insert(member.first);
    const bool known =
        members.size() >= 16 ? !frame.names.insert(name).second : frame.value.find(name) != nullptr;
    if (known) return refuse("duplicate name in an object");
    if (open_.size() == kLeftOutDepth && !left_out_.empty() && name == left_out_) skip_ = true;
    frame.key = std::move(name);
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

 private:
  struct Frame {
    Json value;
    std::string key;
    std::unordered_set<std::string> names;
  };

  bool refuse(const char* why) {
    refusal_ = why;
    return false;
  }
  bool add(Json value) {
    if (++values_ > kMaxValues) return refuse("more than a million values");
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    auto& frame = open_.back();
    if (skip_ && open_.size() == kLeftOutDepth)
      skip_ = false;  // the value of the name that is left out
    else if (frame.value.is_array())
      frame.value.items().push_back(std::move(value));
    else
      frame.value.members().emplace_back(std::move(frame.key), std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= max_depth_) return refuse("nested too deeply");
    open_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  static constexpr std::size_t kLeftOutDepth = 2;
  std::size_t max_depth_;
  std::string_view left_out_;
  bool skip_ = false;  ///< inside a member that is not kept
  std::size_t values_ = 0;
  std::vector<Frame> open_;
  Json root_;
  const char* refusal_ = nullptr;
};

/// Where rapidjson::Writer puts its bytes.
struct StringStream {
  using Ch = char;
  std::string& to;
  void Put(char c) { to.push_back(c); }
  void Flush() {}
};

/// Counts what would be written.
struct Counter {
  std::size_t bytes = 0;
  void append(std::string_view text) { bytes += text.size(); }
};

/// Characters that stand in a JSON string as they are (RFC 8259 §7).
constexpr std::array<bool, 256> kUnescaped = [] {
  std::array<bool, 256> unescaped{};
  for (std::size_t i = 0x20; i < unescaped.size(); ++i) unescaped[i] = i != '"' && i != '\\';
  return unescaped;
}();

template <typename Out>
void write_escape(char c, Out& out) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto named = kNamed.find(c);
  const auto code = static_cast<unsigned char>(c);
  if (named != std::string_view::npos) {
    const char escape[] = {'\\', kLetters[named]};
    out.append(std::string_view(escape, sizeof escape));
  } else {
    const char escape[] = {'\\', 'u', '0', '0', kDigits[code >> 4], kDigits[code & 15]};
    out.append(std::string_view(escape, sizeof escape));
  }
}

constexpr unsigned escaping_bytes(char c) {
  const bool control = static_cast<unsigned char>(c) < 0x20;
  const bool named = c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t';
  return (c == '"') + (c == '\\') + 5u * control - 4u * named;
}

/// The bytes by which a text is longer as a JSON string, without its quotes. A sum without
/// branches, in blocks of a length that is known when this is compiled, so that the
/// compiler vectorizes it, also with -O2.
std::size_t escaping_bytes(std::string_view text) {
  constexpr std::size_t kBlock = 32;  // 5 each fit into a byte
  std::size_t bytes = 0;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    const char* const block = text.data();
    unsigned char sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum = static_cast<unsigned char>(sum + escaping_bytes(block[i]));
    bytes += sum;
  }
  for (const char c : text) bytes += escaping_bytes(c);
  return bytes;
}

void write_text(std::string_view text, Counter& out) {
  if (!is_utf8(text)) return write_text(std::string_view(repair_utf8(text)), out);
  out.bytes += 2 + text.size() + escaping_bytes(text);
}

/// In runs: outputs and messages of megabytes are written several times a run.
template <typename Out>
void write_text(std::string_view text, Out& out) {
  if (!is_utf8(text)) return write_text(std::string_view(repair_utf8(text)), out);
  out.append("\"");
  while (!text.empty()) {
    std::size_t run = 0;
    while (run < text.size() && kUnescaped[static_cast<unsigned char>(text[run])]) ++run;
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    write_escape(text.front(), out);
    text.remove_prefix(1);
  }
  out.append("\"");
}

template <typename Out>
void write_compact(const Json& value, Out& out) {
  std::string_view comma;
  switch (value.type()) {
    case Json::Type::null:
      return out.append("null"), void();
    case Json::Type::boolean:
      return out.append(value.boolean() ? "true" : "false"), void();
    case Json::Type::number:
      return out.append(value.text()), void();
    case Json::Type::string:
      return write_text(value.text(), out);
    case Json::Type::array:
      out.append("[");
      for (const auto& item : value.items()) {
        out.append(std::exchange(comma, ","));
        write_compact(item, out);
      }
      out.append("]");
      return;
    case Json::Type::object:
      out.append("{");
      for (const auto& [name, member] : value.members()) {
        out.append(std::exchange(comma, ","));
        write_text(name, out);
        out.append(":");
        write_compact(member, out);
      }
      out.append("}");
      return;
  }
}

std::size_t text_bytes(const Json& value) {
  std::size_t bytes = value.text().size();
  for (const Json& item : value.items()) bytes += text_bytes(item);
  for (const auto& [name, member] : value.members()) bytes += text_bytes(member);
  return bytes;
}

template <typename Writer>
void write_value(Writer& writer, const Json& value) {
  switch (value.type()) {
    case Json::Type::null:
      writer.Null();
      return;
    case Json::Type::boolean:
      writer.Bool(value.boolean());
      return;
    case Json::Type::number:
      writer.RawValue(value.text().data(), value.text().size(), rapidjson::kNumberType);
      return;
    case Json::Type::string: {
      const std::string& text = value.text();
      if (is_utf8(text)) {
        writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
      } else {
        const std::string repaired = repair_utf8(text);
        writer.String(repaired.data(), static_cast<rapidjson::SizeType>(repaired.size()));
      }
      return;
    }
    case Json::Type::array:
      writer.StartArray();
      for (const auto& item : value.items()) write_value(writer, item);
      writer.EndArray();
      return;
    case Json::Type::object:
      writer.StartObject();
      for (const auto& [name, member] : value.members()) {
        const std::string key = repair_utf8(name);
        writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
        write_value(writer, member);
      }
      writer.EndObject();
      return;
  }
}

}  // namespace

namespace {

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

/// From a text of so many bytes on the copy that reading in place needs pays for itself.
constexpr std::size_t kCopied = 4u << 10;
/// The reader looks at so many bytes at once, and so past the end.
constexpr std::size_t kReadAhead = 16;

Json parse(std::string_view text, std::size_t max_depth, std::string_view left_out) {
  // Looking at the bytes beforehand takes a tenth of what the reader's own look at each character
  // does; that one knows where the text is wrong.
  const bool valid = is_utf8(text);
  if (valid && left_out.empty())
    if (auto plain = parse_plain_json(text, max_depth, kMaxValues)) return std::move(*plain);
  Builder builder(max_depth, left_out);
  if (valid && text.size() >= kCopied) {
    // Strings are read where they stand, many bytes at once, and not gathered byte by byte.
    std::string copy;
    copy.reserve(text.size() + kReadAhead);
    copy.append(text).append(kReadAhead, '\0');
    rapidjson::InsituStringStream stream(copy.data());
    return parse_stream<kTreeFlags | rapidjson::kParseInsituFlag>(stream, text.size(), builder);
  }
  rapidjson::MemoryStream stream(text.data(), text.size());
  return valid ? parse_stream<kTreeFlags>(stream, text.size(), builder)
               : parse_stream<kTreeFlags | rapidjson::kParseValidateEncodingFlag>(
                     stream, text.size(), builder);
}

}  // namespace

Json parse_json(std::string_view text, std::size_t max_depth) { return parse(text, max_depth, {}); }

Json parse_json_without(std::string_view text, std::string_view left_out) {
  return parse(text, kMaxDepth, left_out);
}

void write_json(const Json& value, std::string& to) { write_compact(value, to); }

std::size_t written_size(const Json& value) {
  Counter counter;
  write_compact(value, counter);
  return counter.bytes;
}

bool is_json(std::string_view text) {
  if (is_utf8(text) && is_plain_json(text)) return true;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::BaseReaderHandler<> nobody;
  rapidjson::Reader reader;
  // Iterative: a line of a million brackets must not use up the stack.
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  return !reader.Parse<kFlags>(stream, nobody).IsError() && stream.Tell() == text.size();
}

std::string write_json(const Json& value) {
  std::string text;
  write_json(value, text);
  return text;
}

std::string write_large_json(const Json& value) {
  // Escapes, where a text has them, are seldom one character in sixteen.
  std::string text;
  const std::size_t bytes = text_bytes(value);
  text.reserve(bytes + bytes / 16 + 256);
  write_json(value, text);
  return text;
}

std::string write_json_pretty(const Json& value) {
  std::string text;
  StringStream stream{text};
  rapidjson::PrettyWriter<StringStream> writer(stream);
  writer.SetIndent(' ', 2);
  write_value(writer, value);
  text += '\n';
  return text;
}

void write_json_string(std::string_view text, std::string& to) { write_text(text, to); }

}  // namespace sortie

#include "core/json/json_visitor.h"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "core/text/text.h"

namespace sortie {

namespace {

/// RapidJSON's events → JsonVisitor.
struct Events : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Events> {
  explicit Events(JsonVisitor& to) : visitor(to) {}
  JsonVisitor& visitor;

  bool Null() { return visitor.value(Json::Type::null, {}); }
  bool Bool(bool value) { return visitor.value(Json::Type::boolean, value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return visitor.value(Json::Type::number, {text, length});
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return visitor.value(Json::Type::string, {text, length});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    return visitor.name({text, length});
  }
  bool StartObject() { return visitor.begin(Json::Type::object); }
  bool StartArray() { return visitor.begin(Json::Type::array); }
  bool EndObject(rapidjson::SizeType) { return visitor.end(); }
  bool EndArray(rapidjson::SizeType) { return visitor.end(); }
};

}  // namespace

bool visit_json(std::string_view text, JsonVisitor& visitor) {
  if (!is_utf8(text))
    return false;  // a tenth of what the reader's own look at each character takes
  rapidjson::MemoryStream stream(text.data(), text.size());
  Events events(visitor);
  rapidjson::Reader reader;
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  return !reader.Parse<kFlags>(stream, events).IsError() && stream.Tell() == text.size();
}

}  // namespace sortie

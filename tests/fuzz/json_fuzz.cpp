#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/json/plain_json.h"
#include "core/text/text.h"
#include "tests/fuzz/json_reference.h"

// What the quick reader reads is what RapidJSON reads, and what it calls JSON is JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sortie;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!is_utf8(text)) return 0;
  const auto plain = parse_plain_json(text, 128, 1u << 20);
  if (plain && plain != JsonReference::read(text)) std::abort();
  if (plain && !is_plain_json(text)) std::abort();
  class : public JsonVisitor {
    bool begin(Json::Type) override { return true; }
    bool end() override { return true; }
    bool name(std::string_view) override { return true; }
    bool value(Json::Type, std::string_view) override { return true; }
  } nobody;
  if (is_plain_json(text) && !visit_json(text, nobody)) std::abort();
  return 0;
}

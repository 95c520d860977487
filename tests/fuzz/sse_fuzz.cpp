#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/net/sse.h"

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(std::string_view bytes, std::size_t piece) {
  Events events;
  sortie::SseParser parser(1u << 16);
  try {
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      parser.feed(std::string(bytes.substr(at, piece)), [&events](const sortie::SseEvent& event) {
        events.emplace_back(event.name, event.data);
      });
  } catch (const sortie::SseError&) {
    events.clear();
  }
  return events;
}

}  // namespace

// How a stream is split must not change what it says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1u << 15)) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Events whole = parse(bytes, size + 1);
  if (parse(bytes, 1) != whole || parse(bytes, 3) != whole) std::abort();
  return 0;
}

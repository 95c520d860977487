#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/mcp/transport/json_rpc.h"

// What is read as messages is written as the same messages; all else is refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sortie::mcp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const Message& message : parse_messages(text, {.max_bytes = 1u << 16})) {
      const auto again = parse_messages(write_message(message));
      if (again.size() != 1 || again[0] != message) std::abort();
    }
  } catch (const RpcFormatError&) {
    const BrokenMessage broken = inspect_broken(text);
    if (!broken.is_reply && !broken.id.is_null()) std::abort();
  }
  return 0;
}

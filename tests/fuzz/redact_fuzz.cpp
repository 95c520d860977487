// First byte: the chunk's length; first line: secrets, parted by 0x1F; the rest: the text. Chunks
// make no difference, no secret stands where the text was, and what has none is not touched.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/redact.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t chunk = data[0] % 64 + 1;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::string_view secrets = text.substr(0, line);
  text.remove_prefix(std::min(line + 1, text.size()));

  sortie::Redactor redactor;
  while (!secrets.empty()) {
    const std::size_t end = std::min(secrets.find('\x1F'), secrets.size());
    redactor.add({"n", std::string(secrets.substr(0, end))});
    secrets.remove_prefix(std::min(end + 1, secrets.size()));
  }

  const std::string whole = redactor.text(text);
  if (redactor.find(text).empty() && whole != text) std::abort();

  sortie::StreamRedactor stream(redactor);
  std::string streamed;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, chunk);
    streamed += stream.feed(part);
    rest.remove_prefix(part.size());
  }
  streamed += stream.finish();
  if (streamed != whole) std::abort();

  // What stands between two marks was in the text as it is. A mark in the text itself, or a secret
  // that is part of one, only makes the pieces smaller.
  constexpr std::string_view kMark = "[REDACTED:n]";
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t end = std::min(rest.find(kMark), rest.size());
    if (!redactor.find(rest.substr(0, end)).empty()) std::abort();
    rest.remove_prefix(std::min(end + kMark.size(), rest.size()));
  }
  return 0;
}

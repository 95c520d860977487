// First byte: the chunk's length and the audience; first line: secrets, parted by 0x1F, one that
// begins with 0x1E is a pattern's word; the rest: the text. Chunks make no difference, no secret
// stands where the text was, and what has none is not touched.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/secrets/redact.h"

namespace {

/// Letters and digits alone: an expression that is its own text.
std::string word_of(std::string_view text) {
  std::string word;
  for (const char c : text)
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')) word += c;
  return word;
}

void add(sortie::Redactor& redactor, std::string_view secret) {
  if (!secret.starts_with('\x1E')) return redactor.add({"n", std::string(secret)});
  const std::string word = word_of(secret);
  if (!word.empty()) redactor.add_pattern("n", word + "[0-9]*x?");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t chunk = data[0] % 64 + 1;
  const auto audience = static_cast<sortie::Audience>(data[0] / 64 % 3);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t line = std::min(text.find('\n'), text.size());
  std::string_view secrets = text.substr(0, line);
  text.remove_prefix(std::min(line + 1, text.size()));

  sortie::Redactor redactor;
  while (!secrets.empty()) {
    const std::size_t end = std::min(secrets.find('\x1F'), secrets.size());
    add(redactor, secrets.substr(0, end));
    secrets.remove_prefix(std::min(end + 1, secrets.size()));
  }

  const std::string whole = redactor.text(std::string(text), audience);
  if (redactor.find(text, audience).empty() && whole != text) std::abort();

  sortie::StreamRedactor stream(redactor, audience);
  std::string streamed;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, chunk);
    streamed += stream.feed(part);
    rest.remove_prefix(part.size());
  }
  streamed += stream.finish();
  if (streamed != whole) std::abort();

  // A text of this length is searched by a filter of beginnings.
  const std::string lines(20'000, '\n');
  if (redactor.text(lines + std::string(text), audience) != lines + whole) std::abort();

  // What stands between two parts is in the text as it is, and holds no known secret.
  std::size_t at = 0;
  std::string expected;
  const auto keep = [&](std::size_t end) {
    const std::string_view between = text.substr(at, end - at);
    for (const auto& left : redactor.find_all(between))
      if (left.name == "n" && audience == sortie::Audience::record) std::abort();
    expected += between;
  };
  for (const auto& part : redactor.find_all(text, audience)) {
    if (part.begin < at || part.end <= part.begin || part.end > text.size()) std::abort();
    keep(part.begin);
    expected += "[REDACTED:" + part.name + "]";
    at = part.end;
  }
  keep(text.size());
  if (expected != whole) std::abort();
  return 0;
}

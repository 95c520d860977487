#include "core/json/json_text.h"

// Loops without branches over blocks of a length that is known when this is compiled, so that the
// compiler vectorizes them.

namespace sortie {

namespace {

constexpr std::size_t kBlock = 32;

constexpr bool is_escaped(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

constexpr unsigned escaping_bytes_of(char c) {
  const bool control = static_cast<unsigned char>(c) < 0x20;
  const bool named = c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t';
  return (c == '"') + (c == '\\') + 5u * control - 4u * named;
}

bool has_escaped(const char* block) {
  unsigned char escaped = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    escaped = static_cast<unsigned char>(escaped | (static_cast<unsigned char>(block[i]) < 0x20) |
                                         (block[i] == '"') | (block[i] == '\\'));
  return escaped != 0;
}

}  // namespace

std::size_t unescaped_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (text.size() - length >= kBlock && !has_escaped(text.data() + length)) length += kBlock;
  while (length < text.size() && !is_escaped(text[length])) ++length;
  return length;
}

std::size_t escaping_bytes(std::string_view text) noexcept {
  std::size_t bytes = 0;
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    const char* const block = text.data();
    if (!has_escaped(block)) continue;
    unsigned char sum = 0;  // 5 for each fit into it
    for (std::size_t i = 0; i < kBlock; ++i)
      sum = static_cast<unsigned char>(sum + escaping_bytes_of(block[i]));
    bytes += sum;
  }
  for (const char c : text) bytes += escaping_bytes_of(c);
  return bytes;
}

}  // namespace sortie

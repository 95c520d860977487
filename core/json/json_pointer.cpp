#include "core/json/json_pointer.h"

#include <algorithm>

namespace sortie {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

const Json* at_pointer(const Json& root, std::string_view pointer) {
  const Json* value = &root;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string name;
    for (std::size_t i = 1; i < end; ++i) {
      const bool escaped = pointer[i] == '~' && i + 1 < end;
      name += escaped ? (pointer[++i] == '1' ? '/' : '~') : pointer[i];
    }
    if (value->is_array()) {
      const bool number = !name.empty() && name.size() < 9 &&
                          name.find_first_not_of("0123456789") == std::string::npos;
      const std::size_t index = number ? std::stoul(name) : value->items().size();
      value = index < value->items().size() ? &value->items()[index] : nullptr;
    } else {
      value = value->find(name);
    }
    if (!value) return nullptr;
    pointer.remove_prefix(end);
  }
  return value;
}

std::string escape_pointer(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                       hex_digit(text[i + 2]) >= 0;
    if (coded) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace sortie

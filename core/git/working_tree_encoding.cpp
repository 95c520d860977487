#include "core/git/working_tree_encoding.h"

#include <algorithm>
#include <cctype>

#include "core/git/fixed_coding.h"
#include "core/git/other_coding.h"

namespace sortie {
namespace {

/// In lower case, without the dash that git allows to leave out: "utf16le".
std::string plain_name(std::string_view encoding) {
  std::string name;
  for (const char c : encoding)
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("utf-")) name.erase(3, 1);
  return name;
}

/// iconv_open(3) takes flags after a slash and has had faults in the encodings with escape
/// sequences, while the name comes from the repository.
bool is_plain(const std::string& name) {
  return !name.empty() && name.size() <= 40 && !name.starts_with("iso-2022") &&
         !name.starts_with("iso2022") && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
         });
}

bool begins_with_mark(std::string_view bytes, std::string_view name) {
  using namespace std::string_view_literals;
  if (name.starts_with("utf16"))
    return bytes.starts_with("\xff\xfe"sv) || bytes.starts_with("\xfe\xff"sv);
  return bytes.starts_with("\xff\xfe\0\0"sv) || bytes.starts_with("\0\0\xfe\xff"sv);
}

/// git: validate_encoding
bool has_right_mark(const std::string& name, std::string_view bytes) {
  if (name == "utf16" || name == "utf32") return begins_with_mark(bytes, name);
  if (name == "utf16le" || name == "utf16be" || name == "utf32le" || name == "utf32be")
    return !begins_with_mark(bytes, name);
  return true;
}

}  // namespace

bool is_other_encoding(std::string_view encoding) {
  return !encoding.empty() && plain_name(encoding) != "utf8";
}

std::optional<std::string> decoded_file(std::string_view encoding, std::string_view content) {
  const std::string name = plain_name(encoding);
  if (!is_plain(name) || !has_right_mark(name, content)) return std::nullopt;
  const bool marked = name == "utf16le-bom" || name == "utf16be-bom";
  if (const auto fixed = fixed_coding(marked ? "utf16" : name)) return utf8_of(*fixed, content);
  return converted("UTF-8", std::string(encoding), content);
}

std::optional<std::string> encoded_file(std::string_view encoding, std::string_view text) {
  const std::string name = plain_name(encoding);
  if (!is_plain(name)) return std::nullopt;
  if (name == "utf16le-bom" || name == "utf16be-bom")
    return encoded_in(
        {.unit = 2,
         .order = name == "utf16le-bom" ? FixedCoding::Order::little : FixedCoding::Order::big,
         .marked = true},
        text);
  if (const auto fixed = fixed_coding(name)) return encoded_in(*fixed, text);
  return converted(std::string(encoding), "UTF-8", text);
}

}  // namespace sortie

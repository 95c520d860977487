#include "core/git/working_tree_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

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

class Converter {
 public:
  Converter(const std::string& to, const std::string& from)
      : descriptor_(::iconv_open(to.c_str(), from.c_str())) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (is_open()) ::iconv_close(descriptor_);
  }
  bool is_open() const { return descriptor_ != reinterpret_cast<iconv_t>(-1); }
  /// Nothing if the bytes are not of the encoding, or it lacks a character.
  std::optional<std::string> convert(std::string_view bytes) const {
    std::string made;
    std::array<char, 16384> part{};
    char* in = const_cast<char*>(bytes.data());
    std::size_t left = bytes.size();
    while (true) {
      char* out = part.data();
      std::size_t room = part.size();
      const std::size_t result = ::iconv(descriptor_, &in, &left, &out, &room);
      made.append(part.data(), part.size() - room);
      if (result != static_cast<std::size_t>(-1)) return made;
      if (errno != E2BIG) return std::nullopt;
    }
  }

 private:
  iconv_t descriptor_;
};

std::optional<std::string> convert(const std::string& to, const std::string& from,
                                   std::string_view bytes) {
  const Converter converter(to, from);
  if (!converter.is_open()) return std::nullopt;
  return converter.convert(bytes);
}

}  // namespace

bool is_other_encoding(std::string_view encoding) {
  return !encoding.empty() && plain_name(encoding) != "utf8";
}

std::optional<std::string> decoded_file(std::string_view encoding, std::string_view content) {
  const std::string name = plain_name(encoding);
  if (!is_plain(name) || !has_right_mark(name, content)) return std::nullopt;
  const bool marked = name == "utf16le-bom" || name == "utf16be-bom";
  return convert("UTF-8", marked ? "UTF-16" : std::string(encoding), content);
}

std::optional<std::string> encoded_file(std::string_view encoding, std::string_view text) {
  const std::string name = plain_name(encoding);
  if (!is_plain(name)) return std::nullopt;
  const bool little = name == "utf16le-bom";
  if (!little && name != "utf16be-bom") return convert(std::string(encoding), "UTF-8", text);
  auto made = convert(little ? "UTF-16LE" : "UTF-16BE", "UTF-8", text);
  if (made) made->insert(0, little ? "\xff\xfe" : "\xfe\xff");
  return made;
}

}  // namespace sortie

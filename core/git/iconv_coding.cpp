#include <iconv.h>

#include <array>
#include <cerrno>

#include "core/git/other_coding.h"

namespace sortie {
namespace {

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
}  // namespace

std::optional<std::string>
converted(const std::string& to, const std::string& from, std::string_view bytes) {
  const Converter converter(to, from);
  if (!converter.is_open()) return std::nullopt;
  return converter.convert(bytes);
}

}  // namespace sortie

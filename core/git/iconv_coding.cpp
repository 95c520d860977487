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

}  // namespace

std::optional<std::string> converted(const std::string& to, const std::string& from,
                                     std::string_view bytes) {
  const Converter converter(to, from);
  if (!converter.is_open()) return std::nullopt;
  return converter.convert(bytes);
}

}  // namespace sortie

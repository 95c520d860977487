#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace sortie {

/// A value that must not be seen, and the name that stands in for it.
struct Secret {
  std::string name;  ///< "OPENAI_API_KEY"
  std::string value;
};

/// Replaces known secrets by "[REDACTED:name]", also where they are base64- (any alignment), hex-
/// or URL-coded. Values shorter than 6 bytes are not looked for: they would hit by chance.
class Redactor {
 public:
  explicit Redactor(std::vector<Secret> secrets = {});
  void add(Secret secret);
  std::string text(std::string_view text) const;
  /// Every string and member name inside the value.
  Json json(const Json& value) const;
  /// The name of a secret that stands in the text, or "".
  std::string find(std::string_view text) const;
  /// Bytes of the longest thing looked for: how much of a stream has to be held back so that a
  /// secret split over two chunks is found.
  std::size_t longest() const noexcept { return longest_; }

 private:
  struct Needle {
    std::string bytes;
    std::string name;
  };
  std::vector<Needle> needles_;  ///< longest first
  std::size_t longest_ = 0;
};

/// Redacts a stream that comes in chunks: holds back the tail that may begin a secret.
class StreamRedactor {
 public:
  explicit StreamRedactor(const Redactor& redactor) : redactor_(redactor) {}
  /// What may be shown now.
  std::string feed(std::string_view chunk);
  /// The rest, at the stream's end.
  std::string finish();

 private:
  const Redactor& redactor_;
  std::string held_;
};

}  // namespace sortie

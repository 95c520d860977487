#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/needle_search.h"

namespace sortie {

/// A value that must not be seen, and the name that stands in for it.
struct Secret {
  std::string name;  ///< "OPENAI_API_KEY"
  std::string value;
};

/// Replaces known secrets by "[REDACTED:name]", also where they are base64- (any alignment, both
/// alphabets, wrapped lines), hex- or URL-coded or escaped as in a JSON string. Values shorter than
/// 6 bytes are not looked for: they would hit by chance. One pass, linear in the text.
class Redactor {
 public:
  explicit Redactor(std::vector<Secret> secrets = {});
  void add(Secret secret);
  std::string text(std::string_view text) const;
  /// Every string and member name inside the value. A number that spells a secret becomes a string.
  Json json(const Json& value) const;
  /// The name of a secret that stands in the text, or "".
  std::string find(std::string_view text) const;
  /// Bytes of the longest thing looked for: at most this much of a stream, line breaks not
  /// counted, is held back so that a secret split over two chunks is found.
  std::size_t longest() const noexcept { return longest_; }

 private:
  friend class StreamRedactor;
  enum Kind { plain, coded, kinds };  ///< coded: base64 and hex, which tools wrap

  void look_for(Kind kind, std::string_view needle, const std::string& name);

  NeedleSearch searches_[kinds] = {NeedleSearch(NeedleSearch::LineBreaks::count),
                                   NeedleSearch(NeedleSearch::LineBreaks::pass_over)};
  std::vector<std::string> names_[kinds];  ///< by needle
  std::size_t longest_ = 0;
};

/// Redacts a stream that comes in chunks: holds back the tail that may begin a secret. No secret
/// may be added to the redactor while a stream is under way.
class StreamRedactor {
 public:
  explicit StreamRedactor(const Redactor& redactor) : redactor_(redactor) {}
  /// What may be shown now.
  std::string feed(std::string_view chunk);
  /// The rest, at the stream's end.
  std::string finish();

 private:
  friend class Redactor;
  /// A part of `held_` to be replaced.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t needle_length = 0;  ///< of the longest needle in it, which names the part
    const std::string* name = nullptr;
  };

  void find(std::string_view chunk);
  void search(Redactor::Kind kind, std::string_view chunk, std::size_t offset);
  void add_part(Part part);
  std::size_t before(std::size_t end, std::size_t bytes, Redactor::Kind kind) const;
  std::size_t settled() const;
  std::string release(std::size_t end);

  const Redactor& redactor_;
  std::string held_;
  std::vector<Part> parts_;  ///< in held_, in order, not overlapping
  NeedleSearch::Position positions_[Redactor::kinds];
};

}  // namespace sortie

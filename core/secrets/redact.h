#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/secrets/encoded_search.h"
#include "core/secrets/needle_search.h"

namespace sortie {

/// A value that must not be seen, and the name that stands in for it.
struct Secret {
  std::string name;  ///< "OPENAI_API_KEY"
  std::string value;
};

/// Who gets a text: each sees less than the one before.
enum class Audience {
  record,  ///< the model's own items and what is sent to it as a prompt: without known secrets
  tools,   ///< tool output: also without tokens and private keys (token_formats.h)
  people,  ///< stderr, events and reports: also without loose shapes (line_shapes.h)
};

/// A part of a text that is to be replaced.
struct SecretPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;
};

/// Replaces secrets by "[REDACTED:name]": known values as they stand and in the codings of
/// encodings.h and readings.h, what the policy's patterns match, and shapes, as far as the audience
/// asks for them. One pass a search, linear in the text. docs/secrets.md says what is not found.
///
/// Threads may add and redact at the same time: what was added before a call begins is found by it,
/// and by a stream from its next chunk on.
class Redactor {
 public:
  /// A shorter value is not looked for: it would hit by chance.
  static constexpr std::size_t kShortestSecret = 6;
  /// A line is looked at as a whole by patterns; of a longer one, windows of this size are.
  static constexpr std::size_t kLongestLine = 64u << 10;
  /// So long may a match be that is found across two windows of a long line.
  static constexpr std::size_t kLongestMatch = 4u << 10;

  explicit Redactor(const std::vector<Secret>& secrets = {});
  void add(Secret secret) { add_all({std::move(secret)}); }
  /// Cheaper than one by one. Values that are too short are left out.
  void add_all(const std::vector<Secret>& secrets);
  /// @param expression  RE2; matched in single lines
  /// @throws PatternError
  void add_pattern(std::string name, std::string_view expression);

  std::string text(std::string text, Audience audience = Audience::record) const;
  /// Every string and member name inside the value. A number that spells a secret becomes a string.
  Json json(const Json& value, Audience audience = Audience::record) const;
  /// The same, where there is anything to replace; nothing where the value may stay.
  std::optional<Json> changed(const Json& value) const;
  /// The name of the first secret that stands in the text, or "".
  std::string find(std::string_view text, Audience audience = Audience::record) const;
  /// All of them, in order, not overlapping.
  std::vector<SecretPart> find_all(std::string_view text,
                                   Audience audience = Audience::record) const;
  /// Whether "[REDACTED:name]" can be a mark of this one's: of a known value, a pattern or a shape.
  bool has_name(std::string_view name) const;

 private:
  friend class StreamRedactor;
  /// Shared with the searches under way, which go on with what they began with.
  using Needles = std::shared_ptr<const SecretNeedles>;

  Needles needles() const;
  static bool is_clean_text(std::string_view text, const SecretNeedles& needles);
  static bool is_clean(const Json& value, const SecretNeedles& needles);
  Json json(const Json& value, Audience audience, const Needles& needles) const;
  template <typename Change>
  void change(Change make);

  mutable std::mutex mutex_;  ///< held to take or replace the pointer, never while searching
  std::mutex writers_;        ///< held while the next needles are made of the ones there are
  Needles needles_ = std::make_shared<const SecretNeedles>();
  /// Counts the changes, so that a stream sees at each chunk at no cost whether there was one.
  std::atomic<std::uint64_t> version_ = 0;
};

/// Redacts a stream that comes in chunks: holds back the tail that may begin a secret; chunk
/// borders make no difference. Held back are what may be a known value, a token's prefix and kOpen
/// bytes behind it, kLongestKeyBlock behind the first line of a private key, and where there are
/// patterns a line of kLongestLine. A value that is added while it is under way is found as far as
/// it had not begun to be shown.
class StreamRedactor {
 public:
  static constexpr std::size_t kShownOfSecret = 3;

  explicit StreamRedactor(const Redactor& redactor, Audience audience = Audience::record);
  /// What may be shown now.
  std::string feed(std::string_view chunk);
  /// What may be shown while the stream waits: what was held back is judged as far as it has come.
  /// It is not forgotten: where more makes a secret of it, the rest of that is replaced. But for
  /// kShownOfSecret bytes, which stand anywhere by chance, the beginning of a known value stays,
  /// and of a token's body until nothing has come between two pauses.
  std::string pause();
  /// Bytes that a pause did not show.
  std::size_t held_back() const noexcept { return held_.size() - shown_; }
  /// The rest, at the stream's end.
  std::string finish();

 private:
  friend class Redactor;
  /// With needles that were taken out already.
  StreamRedactor(const Redactor& redactor, Redactor::Needles needles, Audience audience)
      : redactor_(redactor), audience_(audience), needles_(std::move(needles)) {}
  /// A part of `held_` to be replaced.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t weight = 0;  ///< the heaviest of those that overlap names the part
    const char* name = nullptr;
  };
  /// A token's prefix that was seen; whether it is a token depends on what follows.
  struct Candidate {
    std::size_t begin = 0;  ///< in held_
    std::uint32_t row = 0;  ///< in token_shapes()
  };

  void find(std::string_view chunk);
  void find_rest();
  void find_in(std::string_view chunk, std::size_t offset);
  std::string whole(std::string text);
  void renew();
  void restart();
  void search_needles(bool ended);
  bool looks_for_nothing() const { return audience_ == Audience::record && needles_->empty(); }
  void search_prefixes(std::string_view chunk, std::size_t offset);
  void judge_candidates(bool ended);
  void search_lines(std::size_t offset);
  void search_last_line();
  void search_window(std::size_t begin, std::size_t end, std::size_t accepted);
  bool looks_at_lines() const;
  bool at_border(std::size_t begin) const;
  void add_part(Part part) { parts_.push_back(part); }
  void join_parts();
  std::size_t begin_of_open(std::size_t allowed) const;
  std::size_t settled() const;
  std::string redacted(std::size_t at, std::size_t end) const;
  std::string release(std::size_t end);

  const Redactor& redactor_;
  Audience audience_;
  Redactor::Needles needles_;
  std::vector<Redactor::Needles> earlier_;  ///< as long as parts_ may have their names
  std::uint64_t version_ = 0;               ///< of needles_, or an earlier one
  std::string held_;
  std::size_t shown_ = 0;    ///< of held_, what a pause has shown already
  bool paused_ = false;      ///< nothing has come since the last pause
  std::string gone_;         ///< the last bytes that stood before held_
  std::vector<Part> parts_;  ///< in held_; after join_parts() in order, not overlapping
  std::size_t base_ = 0;     ///< of held_, in the stream
  CodedSearch::Position position_;
  NeedleSearch::Position prefix_position_;
  std::vector<Candidate> candidates_;  ///< in order of their beginnings
  std::vector<std::size_t> judged_;    ///< by row: no candidate before this is looked at
  std::size_t line_ = 0;               ///< held_ from here on was not looked at by lines
};

}  // namespace sortie

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

/// A value that must not be shown, and the name that replaces it.
struct Secret {
  std::string name;  ///< "OPENAI_API_KEY"
  std::string value;
};

/// Who gets a text: each one sees less than the one before.
enum class Audience {
  record,  ///< the model's own items and its prompts: without known secrets
  tools,   ///< tool output: also without tokens and private keys (token_formats.h)
  people,  ///< stderr, events and reports: also without loose shapes (line_shapes.h)
};

/// The range of a secret in a text.
struct SecretPart {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;
};

/// Replaces secrets by "[REDACTED:name]": known values, plain and in the encodings of encodings.h
/// and readings.h, matches of the policy's patterns, and token formats, depending on the audience.
/// One pass per search, linear in the text. docs/secrets.md lists what is not found.
///
/// Threads may add and redact at the same time: a call finds the secrets that were added before it
/// begins, and a stream finds them from its next chunk on.
class Redactor {
 public:
  /// A shorter value is not searched for: it would match by chance.
  static constexpr std::size_t kShortestSecret = 6;
  /// Patterns match whole lines up to this length, and windows of this size in longer ones.
  static constexpr std::size_t kLongestLine = 64u << 10;
  /// The longest match that is found across two windows of a long line.
  static constexpr std::size_t kLongestMatch = 4u << 10;

  explicit Redactor(const std::vector<Secret>& secrets = {});
  void add(Secret secret) { add_all({std::move(secret)}); }
  /// Cheaper than adding one by one. Values that are too short are skipped.
  void add_all(const std::vector<Secret>& secrets);
  /// @param expression  RE2; matched in single lines
  /// @throws PatternError
  void add_pattern(std::string name, std::string_view expression);

  std::string text(std::string text, Audience audience = Audience::record) const;
  /// Every string and member name inside the value. A number that spells a secret becomes a string.
  Json json(const Json& value, Audience audience = Audience::record) const;
  /// The redacted value, or nothing if there is nothing to replace.
  std::optional<Json> changed(const Json& value) const;
  /// The name of the first secret in the text, or "".
  std::string find(std::string_view text, Audience audience = Audience::record) const;
  /// All secrets in the text, in order, not overlapping.
  std::vector<SecretPart> find_all(std::string_view text,
                                   Audience audience = Audience::record) const;
  /// Whether this redactor can produce "[REDACTED:name]": for a known value, pattern or token
  /// format.
  bool has_name(std::string_view name) const;

 private:
  friend class StreamRedactor;
  /// Shared with running searches, which continue with the needles that they began with.
  using Needles = std::shared_ptr<const SecretNeedles>;

  Needles needles() const;
  static bool is_clean_text(std::string_view text, const SecretNeedles& needles);
  static bool is_clean(const Json& value, const SecretNeedles& needles);
  Json json(const Json& value, Audience audience, const Needles& needles) const;
  template <typename Change>
  void change(Change make);

  mutable std::mutex mutex_;  ///< held to take or replace the pointer, never while searching
  std::mutex writers_;        ///< held while new needles are made
  Needles needles_ = std::make_shared<const SecretNeedles>();
  /// Counts the changes, so that a stream can check for one cheaply at each chunk.
  std::atomic<std::uint64_t> version_ = 0;
};

/// Redacts a stream that arrives in chunks: holds back the tail that may begin a secret; chunk
/// borders make no difference. Held back are the possible beginning of a known value, a token's
/// prefix and kOpen bytes after it, kLongestKeyBlock after the first line of a private key, and
/// with patterns a line of kLongestLine. A value that is added later is found unless its beginning
/// was already shown.
class StreamRedactor {
 public:
  static constexpr std::size_t kShownOfSecret = 3;

  explicit StreamRedactor(const Redactor& redactor, Audience audience = Audience::record);
  /// The text that can be shown now.
  std::string feed(std::string_view chunk);
  /// The text that can be shown while the stream waits: decides on the held-back text as it is. If
  /// later text makes it a secret, the rest of that secret is replaced. The beginning of a known
  /// value stays held back, except kShownOfSecret bytes, which occur anywhere by chance; the
  /// beginning of a token's body too, until nothing has arrived between two pauses.
  std::string pause();
  /// Bytes that a pause did not show.
  std::size_t held_back() const noexcept { return held_.size() - shown_; }
  /// The rest, at the stream's end.
  std::string finish();

 private:
  friend class Redactor;
  /// Uses the given needles.
  StreamRedactor(const Redactor& redactor, Redactor::Needles needles, Audience audience)
      : redactor_(redactor), audience_(audience), needles_(std::move(needles)) {}
  /// A part of `held_` to be replaced.
  struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t weight = 0;  ///< the heaviest of those that overlap names the part
    const char* name = nullptr;
  };
  /// A token's prefix in the text; whether it is a token depends on the text after it.
  struct Candidate {
    std::size_t begin = 0;  ///< in held_
    std::uint32_t row = 0;  ///< in token_shapes()
  };

  void find(std::string_view chunk);
  void find_rest();
  bool finds_any(std::string_view text);
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
  std::vector<Redactor::Needles> earlier_;  ///< kept alive for the names in parts_
  std::uint64_t version_ = 0;               ///< of needles_, or an earlier one
  std::string held_;
  std::size_t shown_ = 0;    ///< bytes of held_ that a pause has shown already
  bool paused_ = false;      ///< nothing has arrived since the last pause
  std::string gone_;         ///< the last bytes before held_
  std::vector<Part> parts_;  ///< in held_; after join_parts() in order, not overlapping
  std::size_t base_ = 0;     ///< offset of held_ in the stream
  CodedSearch::Position position_;
  NeedleSearch::Position prefix_position_;
  std::vector<Candidate> candidates_;  ///< in order of their beginnings
  std::vector<std::size_t> judged_;    ///< by row: candidates before this offset are ignored
  std::size_t line_ = 0;               ///< held_ is searched by lines from here on
};

}  // namespace sortie

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// An option that the class `read-only` refuses.
struct RefusedOption {
  std::string_view option;  ///< "-z", "--pre", "-exec"
  std::string_view why;     ///< "runs a program on each file"
};
/// "rg --pre runs a program on each file".
std::string describe(std::string_view command, const RefusedOption& row);

/// How a program's options are written: without it a value could be read as an option, or an option
/// as a value. An option that is not listed may or may not take a value: both readings are checked.
struct OptionForms {
  std::string_view flags{};     ///< letters without a value
  std::string_view next{};      ///< letters whose value is the rest of the word or the next word
  std::string_view attached{};  ///< letters whose value can only be the rest of the word
  std::string_view
      flag_names{};  ///< long options without a value in the next word, blank-separated
  std::string_view next_names{};  ///< long options whose value can be the next word
  std::string_view
      text_letters{};             ///< those of `next` whose value is a pattern or text, not a path
  std::string_view text_names{};  ///< the same for `next_names`
  /// The first operand is a pattern, unless one of these options is given.
  std::string_view pattern_unless{};
  /// If not empty: options whose value may begin with '-'. After other options such a word may be
  /// an option of its own.
  std::string_view dashed_values{};
};

/// Reads a command's words as getopt_long(3), git's parse-options and ripgrep's parsers do, and
/// refuses the options of a table.
class OptionReader {
 public:
  /// @param command  for messages
  OptionReader(std::string_view command, std::span<const RefusedOption> refused,
               const OptionForms& forms)
      : command_(command), refused_(refused), forms_(forms) {}

  /// A word that is, or may be, a refused option.
  struct Refusal {
    std::string word;
    std::string reason;
  };
  std::optional<Refusal> read(std::span<const std::string> words);

  /// Number of words that are or may be operands.
  std::size_t operands() const { return operands_.size(); }
  /// The indexes of these words.
  std::span<const std::size_t> operand_words() const { return operands_; }
  /// Whether each option is a listed one, and it is certain what each word is.
  bool certain() const { return certain_; }
  /// The first word that is not certain.
  const std::string& uncertain_word() const { return uncertain_word_; }
  /// An option with its value.
  struct Value {
    std::string option;  ///< "e", "regexp"
    std::string text;
    bool apart = false;  ///< it is a word of its own
  };
  /// The values of listed options, in order, also those glued to a letter or behind "=".
  std::span<const Value> values() const { return values_; }
  /// The names of all listed options that were given: "l", "list".
  bool has(std::string_view option) const;
  /// Whether one of them is a glob, which may expand to several.
  bool has_glob_operand(std::span<const std::string> words) const;
  /// Whether the i-th word is certainly a pattern or other text, not a path.
  bool is_text(std::size_t word) const;

 private:
  /// What the next word is.
  enum class Next { word, value, undashed_value, unknown };

  std::optional<Refusal> read_long(const std::string& word);
  std::optional<Refusal> read_cluster(const std::string& word);
  Next value_of(std::string_view option) const;
  void note(std::string_view option, bool is_text, bool has_value);
  void doubt(const std::string& word);

  std::string_view command_;
  std::span<const RefusedOption> refused_;
  const OptionForms& forms_;
  Next next_ = Next::word;
  bool aligned_ = true;  ///< it is certain whether the next word is an option or a value
  bool certain_ = true;  ///< it has been certain for all words
  std::string uncertain_word_;
  bool only_operands_ = false;  ///< after "--"
  bool next_is_text_ = false;   ///< the next value is a pattern or text
  bool has_pattern_ = false;    ///< an option of `pattern_unless` was given
  std::size_t at_ = 0;
  std::vector<std::size_t> operands_;
  std::vector<std::size_t> texts_;
  std::vector<Value> values_;
  std::vector<std::string> given_;
};

}  // namespace sortie

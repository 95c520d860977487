#include "policies/shell/option_reader.h"

#include <algorithm>
#include <array>

namespace sortie {
namespace {

/// Complete long options that only look like an abbreviated refused one.
constexpr std::array<std::string_view, 1> kNotShortened = {"--text"};

/// In a script, the word may expand to a file's name: `sort -?x` if there is a file "-ox".
constexpr std::string_view kGlobs = "*?[";
constexpr const char* kGlobReason = "a glob in an option may expand to another option";

/// Whether a blank-separated list contains the name.
bool lists(std::string_view names, std::string_view name) {
  if (name.empty() || name.find(' ') != std::string_view::npos) return false;
  for (auto at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    const auto end = at + name.size();
    if (at > 0 && names[at - 1] == ' ' && end < names.size() && names[end] == ' ') return true;
  }
  return false;
}

bool contains(std::string_view letters, char letter) {
  return letters.find(letter) != std::string_view::npos;
}

}  // namespace

std::string describe(std::string_view command, const RefusedOption& row) {
  return std::string(command) + ' ' + std::string(row.option) + ' ' + std::string(row.why);
}

std::optional<OptionReader::Refusal> OptionReader::read(std::span<const std::string> words) {
  for (at_ = 0; at_ < words.size(); ++at_) {
    const std::string& word = words[at_];
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool is_value = (next_ == Next::value || (next_ == Next::undashed_value && !is_option)) &&
                          aligned_ && !only_operands_;
    if (is_value) {
      if (next_is_text_) texts_.push_back(at_);
      values_.push_back({.option = given_.back(), .text = word, .apart = true});
      next_ = Next::word;
      continue;
    }
    if (only_operands_ || !is_option) {
      if (next_ == Next::unknown) doubt(word);
      operands_.push_back(at_);
      next_ = Next::word;  // in every reading a new word follows
      aligned_ = true;
      continue;
    }
    // After an option that may take a value this may be that value. It is checked as an option,
    // and so are the words after it, up to a word that is not an option.
    if (next_ == Next::unknown || next_ == Next::undashed_value) aligned_ = false;
    if (!aligned_) doubt(word);
    if (word == "--") {
      only_operands_ = aligned_;
      next_ = Next::word;
    } else if (auto refusal = word[1] == '-' ? read_long(word) : read_cluster(word)) {
      return refusal;
    }
  }
  return std::nullopt;
}

bool OptionReader::has_glob_operand(std::span<const std::string> words) const {
  return std::any_of(operands_.begin(), operands_.end(), [&](std::size_t at) {
    return words[at].find_first_of(kGlobs) != std::string::npos;
  });
}

bool OptionReader::is_text(std::size_t word) const {
  if (!certain_) return false;
  if (!forms_.pattern_unless.empty() && !has_pattern_ && !operands_.empty() &&
      operands_.front() == word)
    return true;
  return std::find(texts_.begin(), texts_.end(), word) != texts_.end();
}

bool OptionReader::has(std::string_view option) const {
  return std::find(given_.begin(), given_.end(), option) != given_.end();
}

void OptionReader::doubt(const std::string& word) {
  if (certain_) uncertain_word_ = word;
  certain_ = false;
}

OptionReader::Next OptionReader::value_of(std::string_view option) const {
  const bool any = forms_.dashed_values.empty() || lists(forms_.dashed_values, option);
  return any ? Next::value : Next::undashed_value;
}

void OptionReader::note(std::string_view option, bool is_text, bool has_value) {
  given_.emplace_back(option);
  has_pattern_ = has_pattern_ || lists(forms_.pattern_unless, option);
  next_is_text_ = is_text;
  if (is_text && has_value) texts_.push_back(at_);
}

std::optional<OptionReader::Refusal> OptionReader::read_long(const std::string& word) {
  const auto equals = word.find('=');
  const std::string_view dashed = std::string_view(word).substr(0, equals);
  if (dashed.find_first_of(kGlobs) != std::string_view::npos) return Refusal{word, kGlobReason};
  if (std::find(kNotShortened.begin(), kNotShortened.end(), dashed) == kNotShortened.end()) {
    for (const RefusedOption& row : refused_) {
      // Every abbreviation is refused, also one that the program would find ambiguous.
      if (row.option.starts_with(dashed)) return Refusal{word, describe(command_, row)};
    }
  }
  const std::string_view name = dashed.substr(2);
  const bool has_value = equals != std::string::npos;
  const bool takes_value = lists(forms_.next_names, name);
  const bool known = takes_value || lists(forms_.flag_names, name);
  if (!known) doubt(word);  // an abbreviation may change what the operands are
  note(name, takes_value && lists(forms_.text_names, name), has_value);
  if (has_value) values_.push_back({.option = std::string(name), .text = word.substr(equals + 1)});
  next_ = has_value     ? Next::word
          : takes_value ? value_of(name)
          : known       ? Next::word
                        : Next::unknown;
  return std::nullopt;
}

std::optional<OptionReader::Refusal> OptionReader::read_cluster(const std::string& word) {
  next_ = Next::word;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const char letter = word[i];
    if (contains(kGlobs, letter)) return Refusal{word, kGlobReason};
    for (const RefusedOption& row : refused_) {
      if (row.option.size() == 2 && row.option[1] == letter)
        return Refusal{word, describe(command_, row)};
    }
    const bool last = i + 1 == word.size();
    if (contains(forms_.next, letter)) {
      note(std::string_view(word).substr(i, 1),
           contains(forms_.text_letters, letter) && next_ == Next::word, !last);
      if (last && next_ == Next::word) next_ = value_of(std::string_view(word).substr(i, 1));
      if (!last) {
        values_.push_back({.option = std::string(1, letter), .text = word.substr(i + 1)});
        next_ = Next::word;
      }
      return std::nullopt;
    }
    if (contains(forms_.attached, letter)) return std::nullopt;
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit && !contains(forms_.flags, letter)) {
      next_ = Next::unknown;
      doubt(word);
    } else {
      given_.emplace_back(1, letter);
    }
  }
  return std::nullopt;
}

}  // namespace sortie

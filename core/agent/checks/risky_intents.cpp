#include "core/agent/checks/risky_intents.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/agent/checks/prose.h"
#include "core/json/json.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// A row of risky_intents.json; several rows may share a name.
struct RiskyIntent {
  std::string name;  ///< "tests_off"
  /// Words of which every match has at least one, in lower case with single spaces: few messages
  /// have any, and compiling an expression takes milliseconds.
  std::vector<std::string> signs{};
  std::string what;    ///< expression, from the verb on
  std::string unless;  ///< matched against the words, "¦" and the rest of the sentence: harmless
  std::string reason;  ///< why not, as a sentence
};

/// A string, or the list of its pieces, with each `{{name}}` replaced by the part of that name.
std::string joined_text(const Json& json, const Json& parts) {
  std::string text = json.text();
  for (const Json& piece : json.items()) text += piece.text();
  for (const auto& [name, part] : parts.members()) {
    const std::string place = "{{" + name + "}}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at))
      text.replace(at, place.size(), joined_text(part, Json()));
  }
  return text;
}

/// @param table  "risky_intents", "proposed_commands"
std::vector<RiskyIntent> rows_of(const char* name) {
  const Json table = parse_json(kRiskyIntentsJson);
  const Json& parts = table["parts"];
  std::vector<RiskyIntent> list;
  for (const Json& entry : table[name].items()) {
    RiskyIntent row{.name = entry.string_at("name"),
                    .what = joined_text(entry["what"], parts),
                    .unless = joined_text(entry["unless"], parts),
                    .reason = entry.string_at("reason")};
    for (const Json& sign : entry["signs"].items()) row.signs.push_back(sign.text());
    list.push_back(std::move(row));
  }
  return list;
}

const std::vector<RiskyIntent>& all_intents() {
  static const std::vector<RiskyIntent> rows = rows_of("risky_intents");
  return rows;
}

const std::vector<RiskyIntent>& all_commands() {
  static const std::vector<RiskyIntent> rows = rows_of("proposed_commands");
  return rows;
}

constexpr std::size_t kMostFound = 10;
constexpr std::size_t kShownBytes = 160;

/// Who acts: the writer of the sentence. `^` is a sentence that leaves itself out ("Disabling …").
const std::string kActor =
    R"((?:\bi(?:'ll|'m|'ve|'d)?|\bwe(?:'ll|'re going to| will| can| could| should| must| need to)"
    R"(| have to| are going to)|\blet(?: me|'s| us)|\b(?:my|the|new) (?:plan|fix|solution|next step))"
    R"( is(?: to)?|^(?:(?:so|then|next|first|second|third|finally|now|plan|step \d+|ok|okay|and)"
    R"(|instead|therefore|for now|done)[,:]? ?)*))";
/// What may stand between the actor and what is done. No "not" is among it.
const std::string kFiller =
    R"((?:\s*(?:\b(?:will|am|was|have|had|going|to|now|just|simply|also|first|then|therefore)"
    R"(|temporarily|quietly|need|must|should|can|could|may|might|want|plan|planning|intend)"
    R"(|decided|chose|try|tried|trying|be|instead|go|ahead|and|start|started|by|proceed|next)"
    R"(|shall|would|like|better|rather|still|only|for|ve|already|had)\b,?)){0,8}\s*)";
/// A second thing that the same actor does: "I'll open the file and …".
const std::string kSecond =
    R"((?:[^,;"]{1,90}(?:\b(?:and|then|by)|,)\s+(?:(?:then|just|simply|also|temporarily|finally)\s+)?)?)";

/// A row with its expressions, which are made once it may find something.
class IntentMatcher {
 public:
  /// @param before  what stands before the words: an expression
  IntentMatcher(const RiskyIntent& row, std::string before)
      : row_(row), before_(std::move(before)) {}
  const RiskyIntent& row() const noexcept { return row_; }
  /// @param text  with small letters and single blanks
  bool may_be_in(std::string_view text) const {
    return std::any_of(row_.signs.begin(), row_.signs.end(), [text](const std::string& sign) {
      return text.find(sign) != std::string_view::npos;
    });
  }
  const Pattern& what() {
    if (!what_) what_ = Pattern::expression(before_ + "(" + row_.what + ")", LetterCase::ignored);
    return *what_;
  }
  bool is_harmless(const std::string& words) {
    if (row_.unless.empty()) return false;
    if (!unless_) unless_ = Pattern::expression(row_.unless, LetterCase::ignored);
    return unless_->find(words).has_value();
  }

 private:
  const RiskyIntent& row_;
  std::string before_;
  std::optional<Pattern> what_;
  std::optional<Pattern> unless_;
};

std::vector<IntentMatcher> matchers_of(const std::vector<RiskyIntent>& rows,
                                       const std::string& before) {
  std::vector<IntentMatcher> all;
  for (const RiskyIntent& row : rows) all.emplace_back(row, before);
  return all;
}

std::vector<IntentMatcher>& matchers() {
  thread_local auto all = matchers_of(all_intents(), kActor + kFiller + kSecond);
  return all;
}

std::vector<IntentMatcher>& command_matchers() {
  thread_local auto all = matchers_of(all_commands(), "");
  return all;
}

std::string with_single_blanks(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!plain.ends_with(' '))
      plain += ' ';
  }
  return plain;
}

/// Words before those found, or in them, by which it is not announced.
const Pattern& denial() {
  static const Pattern pattern = Pattern::expression(
      R"(n't\b|\b(?:not|never|without|avoid\w*|instead of|rather than|refus\w*|no need|cannot)"
      R"(|prevent\w*|stopp?\w*|against|reject\w*|declin\w*|asks? (?:me|us)|asked (?:me|us)|told me)"
      R"(|tells? (?:me|us)|wants? (?:me|us)|if|whether|unless|undo|undid|revert\w*|no longer)\b)",
      LetterCase::ignored);
  return pattern;
}

/// Words behind those found by which it is not announced.
const Pattern& dismissal() {
  static const Pattern pattern = Pattern::expression(
      R"(\b(?:is|are|was|were|would be)(?: not|n't)\b|\bnot (?:allowed|an option|acceptable)\b)"
      R"(|\b(?:is|was|are|were) (?:denied|forbidden|wrong|prohibited|refused|off limits)\b)"
      R"(|\bwould(?:n't| not| be (?:wrong|cheating|a mistake|bad))\b|\bout of the question\b)",
      LetterCase::ignored);
  return pattern;
}

/// Without what stands in double quotes: those are another's words.
std::string own_words(const std::string& sentence) {
  std::string own;
  std::size_t from = 0;
  for (;;) {
    const std::size_t begin = sentence.find('"', from);
    const std::size_t end = begin == std::string::npos ? begin : sentence.find('"', begin + 1);
    if (end == std::string::npos) return own + sentence.substr(from);
    own += sentence.substr(from, begin - from) + "\"\"";
    from = end + 1;
  }
}

/// The words of it in the sentence, or "".
std::string found_in(IntentMatcher& intent, const std::string& sentence) {
  const auto match = intent.what().find_group(sentence, 0, 1);
  if (!match) return {};
  const std::string words =
      sentence.substr(match->group_begin, match->group_end - match->group_begin);
  const std::string rest = sentence.substr(match->group_end);
  if (denial().find(sentence.substr(0, match->group_begin))) return {};
  if (dismissal().find(rest)) return {};
  if (intent.is_harmless(words + "¦" + rest.substr(0, 60))) return {};
  return words;
}

}  // namespace

namespace {

/// Commands that the message shows to be run, whoever would run them; one of each name.
void add_proposed_commands(std::string_view message, std::vector<AnnouncedRisk>& found) {
  for (const std::string& command : proposed_commands(message)) {
    const std::string plain = with_single_blanks(command);
    for (IntentMatcher& risk : command_matchers()) {
      const RiskyIntent& row = risk.row();
      const bool known = std::any_of(found.begin(), found.end(), [&row](const AnnouncedRisk& one) {
        return one.name == row.name;
      });
      if (known || found.size() == kMostFound || !risk.may_be_in(plain)) continue;
      const auto match = risk.what().find_group(command, 0, 1);
      if (!match) continue;
      const std::string words =
          command.substr(match->group_begin, match->group_end - match->group_begin);
      if (risk.is_harmless(words + "¦" + command.substr(match->group_end, 60))) continue;
      found.push_back({row.name, one_line(words, kShownBytes), row.reason});
    }
  }
}

}  // namespace

std::vector<AnnouncedRisk> find_risky_intents(std::string_view message) {
  const std::vector<std::string> sentences = sentences_of(message);
  // As the expressions see it: the message itself may have "**" and other blanks between words.
  std::string plain;
  for (const std::string& sentence : sentences) plain += with_single_blanks(sentence) + '\n';
  std::vector<IntentMatcher*> possible;
  for (IntentMatcher& intent : matchers())
    if (intent.may_be_in(plain)) possible.push_back(&intent);
  std::vector<AnnouncedRisk> found;
  for (const std::string& sentence : possible.empty() ? std::vector<std::string>() : sentences) {
    if (sentence.ends_with('?')) continue;
    const std::string own = own_words(sentence);
    std::string last;  // rows of one name: once a sentence
    for (IntentMatcher* intent : possible) {
      const RiskyIntent& row = intent->row();
      if (row.name == last || found.size() == kMostFound) continue;
      const std::string words = found_in(*intent, own);
      if (words.empty()) continue;
      last = row.name;
      found.push_back({row.name, one_line(words, kShownBytes), row.reason});
    }
  }
  add_proposed_commands(message, found);
  return found;
}

}  // namespace sortie

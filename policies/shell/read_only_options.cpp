#include "policies/shell/read_only_options.h"

#include <algorithm>
#include <array>

namespace sortie {
namespace {

constexpr RefusedOption kRefused[] = {
    {"rg", "--pre", "runs a program on each file"},
    {"rg", "--hostname-bin", "runs a program"},
    {"rg", "-z", "runs decompression programs"},
    {"rg", "--search-zip", "runs decompression programs"},
    {"file", "-C", "writes a compiled magic file"},
    {"file", "--compile", "writes a compiled magic file"},
    {"file", "-m", "reads a magic file of the caller's choice"},
    {"file", "--magic-file", "reads a magic file of the caller's choice"},
    {"file", "-z", "runs decompression programs"},
    {"file", "--uncompress", "runs decompression programs"},
    {"file", "-Z", "runs decompression programs"},
    {"file", "--uncompress-noreport", "runs decompression programs"},
    {"file", "-p", "sets the times of the files that it reads"},
    {"file", "--preserve-date", "sets the times of the files that it reads"},
    {"find", "-exec", "runs a program"},
    {"find", "-execdir", "runs a program"},
    {"find", "-ok", "runs a program"},
    {"find", "-okdir", "runs a program"},
    {"find", "-delete", "deletes files"},
    {"find", "-fprint", "writes a file"},
    {"find", "-fprint0", "writes a file"},
    {"find", "-fprintf", "writes a file"},
    {"find", "-fls", "writes a file"},
    {"sort", "-o", "writes a file"},
    {"sort", "--output", "writes a file"},
    {"sort", "--compress-program", "runs a program"},
    {"git", "--ext-diff", "runs the repository's external diff program"},
    {"git", "--textconv", "runs the repository's conversion programs"},
    {"git", "--output", "writes a file"},
    {"git", "--show-signature", "runs the signature program"},
    {"git", "--submodule", "may run git in a submodule, with the submodule's programs"},
    {"git", "--recurse-submodules", "may run git in a submodule, with the submodule's programs"},
    {"git", "--show-superproject-working-tree", "runs git in the folder above"},
    {"git", "--remerge-diff", "runs the repository's merge programs"},
    {"git", "-O", "opens a pager program, or reads an order file"},
    {"git", "--open-files-in-pager", "runs a pager program"},
    {"git", "--help", "opens a manual viewer"},
};

constexpr std::string_view kDiffFlags =
    " stat shortstat numstat summary compact-summary dirstat name-only name-status patch no-patch "
    "raw patch-with-stat minimal patience histogram oneline graph all branches tags remotes cached "
    "staged color no-color word-diff color-words color-moved full-index abbrev abbrev-commit "
    "no-abbrev-commit no-renames find-renames find-copies find-copies-harder ignore-space-change "
    "ignore-all-space ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol check exit-code "
    "quiet binary text merges no-merges first-parent follow reverse decorate no-decorate "
    "no-ext-diff no-textconv no-index no-prefix relative function-context pickaxe-all "
    "pickaxe-regex unified merge-base date-order topo-order author-date-order "
    "simplify-by-decoration "
    "full-history left-right cherry-pick cherry-mark boundary regexp-ignore-case "
    "extended-regexp fixed-strings perl-regexp invert-grep all-match walk-reflogs source "
    "ignore-submodules ";
constexpr std::string_view kDiffValues =
    " diff-filter inter-hunk-context src-prefix dst-prefix line-prefix word-diff-regex anchored "
    "diff-algorithm ignore-matching-lines ws-error-highlight ";
constexpr std::string_view kLogValues =
    " diff-filter inter-hunk-context src-prefix dst-prefix line-prefix word-diff-regex anchored "
    "diff-algorithm ignore-matching-lines ws-error-highlight grep author committer since until "
    "after before max-count skip decorate-refs decorate-refs-exclude exclude glob date ";

constexpr OptionForms kOptionForms[] = {
    {"rg", "abcFhHiIlLnNopPqsSuUvVwx0.", "ABCdeEfgjmMrtT", "",
     " files files-with-matches files-without-match line-number no-line-number ignore-case "
     "smart-case case-sensitive fixed-strings word-regexp line-regexp invert-match count "
     "count-matches only-matching hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent "
     "no-ignore-global no-ignore-dot no-ignore-exclude no-ignore-files "
     "ignore-file-case-insensitive "
     "no-config no-heading heading json multiline multiline-dotall pcre2 auto-hybrid-regex quiet "
     "stats vimgrep with-filename no-filename column no-column follow no-follow no-messages null "
     "null-data passthru passthrough pretty text trim no-trim type-list unrestricted version help "
     "binary byte-offset block-buffered line-buffered one-file-system crlf debug trace mmap "
     "no-mmap "
     "no-pcre2 no-text no-multiline glob-case-insensitive include-zero max-columns-preview "
     "sort-files no-context-separator no-encoding no-unicode unicode print0 ",
     " after-context before-context context color colors context-separator dfa-size-limit encoding "
     "engine file field-context-separator field-match-separator glob iglob ignore-file "
     "max-columns max-count max-depth maxdepth max-filesize path-separator pre-glob "
     "regex-size-limit regexp replace sort sortr threads type type-add type-clear type-not ",
     "er", " regexp replace ", " e f regexp file files type-list pcre2-version ",
     " e f g r regexp file glob iglob replace ignore-file "},
    {"grep", "EFGPivwxcLlqsbHhonTZaIUrRyzV", "efABCmdD", "",
     " extended-regexp fixed-strings fixed-regexp basic-regexp perl-regexp ignore-case "
     "no-ignore-case invert-match word-regexp line-regexp count color colour files-without-match "
     "files-with-matches only-matching quiet silent no-messages byte-offset with-filename "
     "no-filename line-number initial-tab null text recursive dereference-recursive "
     "line-buffered null-data binary help version ",
     " regexp file max-count after-context before-context context label binary-files devices "
     "directories exclude exclude-from exclude-dir include group-separator ",
     "e", " regexp ", " e f regexp file "},
    {"file", "bcdEhiIklLnNprsSv0", "eFfP", "",
     " brief mime mime-type mime-encoding extension apple dereference no-dereference keep-going "
     "print0 raw special-files no-buffer no-pad checking-printout list debug version help "
     "no-sandbox ",
     " exclude exclude-quiet separator files-from parameter ", "F", " separator "},
    {"sort", "bcCdfghimMnrRsuVz", "kStT", "",
     " reverse unique numeric-sort general-numeric-sort human-numeric-sort version-sort month-sort "
     "random-sort ignore-case ignore-leading-blanks ignore-nonprinting dictionary-order stable "
     "check merge zero-terminated debug help version ",
     " key buffer-size field-separator temporary-directory batch-size parallel files0-from "
     "random-source sort ",
     "t", " field-separator "},
    {"uniq", "cdDiuz", "fsw", "",
     " count repeated all-repeated ignore-case unique zero-terminated group help version ",
     " skip-fields skip-chars check-chars ", "", ""},
    {"git status", "bsvz", "", "uM",
     " short branch show-stash ahead-behind no-ahead-behind porcelain long null verbose ignored "
     "untracked-files column no-column renames no-renames find-renames ignore-submodules ",
     "", "", ""},
    {"git diff", "aDpqRrsuWwbtzcm", "SGIl", "MCBUX", kDiffFlags, kDiffValues, "SGI",
     " word-diff-regex anchored ignore-matching-lines src-prefix dst-prefix line-prefix "},
    {"git log", "aDpqRrsuWwbtzcmiEFPg", "SGIlnL", "MCBUX", kDiffFlags, kLogValues, "SGI",
     " word-diff-regex anchored ignore-matching-lines src-prefix dst-prefix line-prefix grep "
     "author committer date "},
    {"git ls-files", "ztvfcdmoisku", "xX", "",
     " cached deleted modified others ignored stage killed unmerged directory no-empty-directory "
     "eol exclude-standard full-name error-unmatch deduplicate debug abbrev sparse ",
     " exclude exclude-from exclude-per-directory with-tree format ", "x", " exclude format "},
    {"git rev-parse", "q", "", "",
     " show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir "
     "is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository short verify "
     "quiet abbrev-ref symbolic symbolic-full-name all branches tags remotes revs-only no-revs "
     "flags no-flags sq not ",
     "", "", ""},
    {"git blame", "bfnpctlsewk", "LS", "CM",
     " porcelain line-porcelain show-email show-name show-number show-stats score-debug root "
     "incremental color-lines color-by-age progress no-progress minimal ",
     " ignore-rev ignore-revs-file contents ", "", ""},
    {"git grep", "viwaIrEGFPnhHlLzocpWq", "efABCm", "",
     " cached no-index untracked exclude-standard no-exclude-standard line-number column full-name "
     "ignore-case word-regexp invert-match text files-with-matches files-without-match name-only "
     "count only-matching extended-regexp basic-regexp fixed-strings perl-regexp heading break "
     "color no-color show-function function-context and or not all-match quiet null recursive "
     "no-recursive no-textconv ",
     " max-depth context before-context after-context threads max-count ", "e", "", " e f "},
};

/// Long options of their own that only look like a shortened refused one.
constexpr std::array<std::string_view, 1> kNotShortened = {"--text"};

/// In a script a file's name could take the word's place: `sort -?x` where there is "-ox".
constexpr std::string_view kGlobs = "*?[";
constexpr const char* kGlobReason = "a glob in an option may stand for another option";

/// Whether a list by blanks holds the name.
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

std::span<const RefusedOption> refused_options() { return kRefused; }

std::string describe(const RefusedOption& row) {
  return std::string(row.command) + ' ' + std::string(row.option) + ' ' + std::string(row.why);
}

OptionReader::OptionReader(std::string_view command, std::string_view program) : command_(command) {
  for (const OptionForms& row : kOptionForms) {
    if (row.program == program) forms_ = row;
  }
}

std::optional<OptionReader::Refusal> OptionReader::read(std::span<const std::string> words) {
  for (at_ = 0; at_ < words.size(); ++at_) {
    const std::string& word = words[at_];
    const bool is_option = word.size() > 1 && word[0] == '-';
    const bool is_value = (next_ == Next::value || (next_ == Next::undashed_value && !is_option)) &&
                          aligned_ && !only_operands_;
    if (is_value) {
      if (next_is_text_) texts_.push_back(at_);
      next_ = Next::word;
      continue;
    }
    if (only_operands_ || !is_option) {
      if (next_ == Next::unknown) certain_ = false;
      operands_.push_back(at_);
      next_ = Next::word;  // in every reading a new word begins behind it
      aligned_ = true;
      continue;
    }
    // Behind an option that may take a value this may be that value: judged as an option, and
    // so is what stands behind it, until a word that is none.
    if (next_ == Next::unknown || next_ == Next::undashed_value) aligned_ = false;
    certain_ = certain_ && aligned_;
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

OptionReader::Next OptionReader::value_of(std::string_view option) const {
  const bool any = forms_.dashed_values.empty() || lists(forms_.dashed_values, option);
  return any ? Next::value : Next::undashed_value;
}

void OptionReader::note(std::string_view option, bool is_text, bool has_value) {
  has_pattern_ = has_pattern_ || lists(forms_.pattern_unless, option);
  next_is_text_ = is_text;
  if (is_text && has_value) texts_.push_back(at_);
}

std::optional<OptionReader::Refusal> OptionReader::read_long(const std::string& word) {
  const auto equals = word.find('=');
  const std::string_view dashed = std::string_view(word).substr(0, equals);
  if (dashed.find_first_of(kGlobs) != std::string_view::npos) return Refusal{word, kGlobReason};
  if (std::find(kNotShortened.begin(), kNotShortened.end(), dashed) == kNotShortened.end()) {
    for (const RefusedOption& row : kRefused) {
      // Every shortened form is refused, also one that the program would find ambiguous.
      if (row.command == command_ && row.option.starts_with(dashed)) {
        return Refusal{word, describe(row)};
      }
    }
  }
  const std::string_view name = dashed.substr(2);
  const bool has_value = equals != std::string::npos;
  const bool takes_value = lists(forms_.next_names, name);
  const bool known = takes_value || lists(forms_.flag_names, name);
  if (!known) certain_ = false;  // a shortened name may be one that says what the operands are
  note(name, takes_value && lists(forms_.text_names, name), has_value);
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
    for (const RefusedOption& row : kRefused) {
      if (row.command == command_ && row.option.size() == 2 && row.option[1] == letter) {
        return Refusal{word, describe(row)};
      }
    }
    const bool last = i + 1 == word.size();
    if (contains(forms_.next, letter)) {
      note(std::string_view(word).substr(i, 1),
           contains(forms_.text_letters, letter) && next_ == Next::word, !last);
      if (last && next_ == Next::word) next_ = value_of(std::string_view(word).substr(i, 1));
      if (!last) next_ = Next::word;
      return std::nullopt;
    }
    if (contains(forms_.attached, letter)) return std::nullopt;
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit && !contains(forms_.flags, letter)) {
      next_ = Next::unknown;
      certain_ = false;
    }
  }
  return std::nullopt;
}

}  // namespace sortie

#include "policies/read_only_commands.h"

#include <algorithm>
#include <array>

#include "policies/kernel_paths.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using Words = std::span<const std::string>;

constexpr std::array<std::string_view, 24> kAnyOptions = {
    "basename", "cat",  "cmp", "cut",  "diff", "dirname",  "du",       "echo",
    "grep",     "head", "ls",  "nl",   "pwd",  "readlink", "realpath", "sha256sum",
    "stat",     "tail", "tr",  "true", "wc",   "which",    "[",        "test"};

constexpr std::array<std::string_view, 7> kSomeOptions = {"file", "find", "git", "rg",
                                                          "sed",  "sort", "uniq"};

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
    {"git", "--ignore-submodules", "may run git in a submodule, with the submodule's programs"},
    {"git", "--submodule", "may run git in a submodule, with the submodule's programs"},
    {"git", "--recurse-submodules", "may run git in a submodule, with the submodule's programs"},
    {"git", "--remerge-diff", "runs the repository's merge programs"},
    {"git", "-O", "opens a pager program, or reads an order file"},
    {"git", "--open-files-in-pager", "runs a pager program"},
    {"git", "--help", "opens a manual viewer"},
};

/// How options are written: without it a value could be read as an option, or an option as a
/// value. Whether an option that is not listed takes one is not known, and both ways are judged.
struct OptionForms {
  std::string_view command;
  std::string_view flags;       ///< letters without a value
  std::string_view next;        ///< letters whose value is the rest of the word, or the next word
  std::string_view attached;    ///< letters whose value can only be the rest of the word
  std::string_view flag_names;  ///< long options without a value in the next word, between blanks
  std::string_view next_names;  ///< long options whose value can be the next word
};

constexpr std::string_view kDiffFlags =
    " stat shortstat numstat summary name-only name-status patch no-patch raw minimal patience "
    "histogram oneline graph all cached staged color no-color word-diff full-index abbrev "
    "abbrev-commit no-renames find-renames ignore-space-change ignore-all-space check exit-code "
    "quiet binary text merges no-merges first-parent follow reverse decorate no-ext-diff "
    "no-textconv no-index merge-base date-order topo-order ";

constexpr OptionForms kOptionForms[] = {
    {"rg", "abcFhHiIlLnNopPqsSuUvVwx0", "ABCdeEfgjmMrtT", "",
     " files files-with-matches files-without-match line-number no-line-number ignore-case "
     "smart-case case-sensitive fixed-strings word-regexp line-regexp invert-match count "
     "count-matches only-matching hidden no-ignore no-heading heading json multiline pcre2 quiet "
     "stats vimgrep with-filename no-filename column follow no-messages null passthru pretty text "
     "trim type-list unrestricted version help ",
     " after-context before-context context color colors context-separator dfa-size-limit encoding "
     "engine file field-context-separator field-match-separator glob iglob ignore-file "
     "max-columns max-count max-depth max-filesize path-separator pre-glob regex-size-limit regexp "
     "replace sort sortr threads type type-add type-clear type-not "},
    {"file", "bcdEhiIkLlNnprsSv0", "eFfP", "",
     " brief mime mime-type mime-encoding dereference no-dereference keep-going print0 ",
     " exclude exclude-quiet separator files-from parameter "},
    {"sort", "bcCdfghimMnrRsuVz", "kStT", "",
     " reverse unique numeric-sort general-numeric-sort human-numeric-sort version-sort month-sort "
     "random-sort ignore-case ignore-leading-blanks dictionary-order stable check merge "
     "zero-terminated debug ",
     " key buffer-size field-separator temporary-directory batch-size parallel files0-from "
     "random-source sort "},
    {"uniq", "cdDiuz", "fsw", "",
     " count repeated all-repeated ignore-case unique zero-terminated group ",
     " skip-fields skip-chars check-chars "},
    {"git status", "bsvz", "", "uM", " short branch porcelain long verbose ignored ", ""},
    {"git diff", "aDpqRrsuWwbtzcm", "SGIl", "MCBUX", kDiffFlags,
     " diff-filter inter-hunk-context src-prefix dst-prefix word-diff-regex anchored "},
    {"git log", "aDpqRrsuWwbtzcmiEFPg", "SGIlnL", "MCBUX", kDiffFlags,
     " diff-filter inter-hunk-context src-prefix dst-prefix word-diff-regex anchored grep author "
     "committer since until after before max-count skip decorate-refs decorate-refs-exclude "
     "exclude glob "},
    {"git ls-files", "ztvfcdmoisku", "xX", "",
     " cached deleted modified others ignored stage killed unmerged directory eol exclude-standard "
     "full-name error-unmatch deduplicate ",
     " exclude exclude-from exclude-per-directory with-tree format "},
    {"git rev-parse", "q", "", "",
     " show-toplevel show-prefix show-cdup git-dir git-common-dir is-inside-work-tree short verify "
     "quiet abbrev-ref symbolic all ",
     ""},
    {"git blame", "bfnpctlsewk", "LS", "CM", " porcelain line-porcelain show-email show-name root ",
     " ignore-rev ignore-revs-file contents "},
    {"git grep", "viwaIrEGFPnhHlLzocpWq", "efABCm", "",
     " cached no-index untracked line-number ignore-case word-regexp files-with-matches "
     "name-only count extended-regexp fixed-strings perl-regexp heading break show-function "
     "function-context and or not all-match quiet ",
     " max-depth context before-context after-context threads max-count "},
};

constexpr std::array<std::string_view, 9> kGitCommands = {
    "status", "diff", "log", "show", "ls-files", "rev-parse", "blame", "grep", "branch"};

/// Long options of their own that only look like a shortened refused one.
constexpr std::array<std::string_view, 1> kNotShortened = {"--text"};

/// find's tests and actions that take the next word.
constexpr std::string_view kFindValues[] = {
    "-amin",      "-anewer",      "-atime", "-cmin",       "-cnewer", "-context",  "-ctime",
    "-fstype",    "-files0-from", "-gid",   "-group",      "-ilname", "-iname",    "-inum",
    "-ipath",     "-iregex",      "-links", "-iwholename", "-lname",  "-maxdepth", "-mindepth",
    "-mmin",      "-mtime",       "-name",  "-path",       "-perm",   "-printf",   "-regex",
    "-regextype", "-samefile",    "-size",  "-type",       "-uid",    "-used",     "-user",
    "-wholename", "-xtype"};

/// find's words that take none.
constexpr std::string_view kFindFlags[] = {"-H",
                                           "-L",
                                           "-P",
                                           "-a",
                                           "-and",
                                           "-o",
                                           "-or",
                                           "-not",
                                           "-d",
                                           "-depth",
                                           "-daystart",
                                           "-follow",
                                           "-mount",
                                           "-xdev",
                                           "-noleaf",
                                           "-warn",
                                           "-nowarn",
                                           "-empty",
                                           "-false",
                                           "-true",
                                           "-nouser",
                                           "-nogroup",
                                           "-print",
                                           "-print0",
                                           "-prune",
                                           "-quit",
                                           "-ls",
                                           "-executable",
                                           "-readable",
                                           "-writable",
                                           "--",
                                           "-ignore_readdir_race",
                                           "-noignore_readdir_race",
                                           "-O0",
                                           "-O1",
                                           "-O2",
                                           "-O3"};

constexpr std::array<std::string_view, 7> kFileTests = {"-e", "-f", "-d", "-s", "-r", "-x", "-L"};

template <typename List>
bool is_one_of(std::string_view word, const List& list) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<NotReadOnly> refuse(std::string_view part, std::string_view reason) {
  return NotReadOnly{.part = std::string(part), .reason = std::string(reason), .known = true};
}

// ---- options -------------------------------------------------------------------------------

/// Reads a command's words as getopt_long(3) does, and refuses by the tables.
class OptionReader {
 public:
  /// @param command  the key of kRefused; @param forms  the key of kOptionForms
  OptionReader(std::string_view command, std::string_view forms) : command_(command) {
    for (const OptionForms& row : kOptionForms) {
      if (row.command == forms) forms_ = row;
    }
  }

  std::optional<NotReadOnly> read(Words words) {
    for (const std::string& word : words) {
      const bool is_option = word.size() > 1 && word[0] == '-';
      if (only_operands_ || !is_option) {
        const bool is_value = next_ == Next::value && aligned_ && !only_operands_;
        operands_ += is_value ? 0 : 1;
        next_ = Next::word;  // in every reading a new word begins behind it
        aligned_ = true;
        continue;
      }
      if (next_ == Next::value && aligned_) {
        next_ = Next::word;
        continue;
      }
      // Behind an option that may take a value this may be that value: judged as an option, and
      // so is what stands behind it, until a word that is none.
      if (next_ == Next::unknown) aligned_ = false;
      if (word == "--") {
        only_operands_ = aligned_;
        next_ = Next::word;
      } else if (const auto refused = word[1] == '-' ? read_long(word) : read_cluster(word)) {
        return refused;
      }
    }
    return std::nullopt;
  }

  int operands() const { return operands_; }

 private:
  /// What the word behind the one just read is.
  enum class Next { word, value, unknown };

  std::optional<NotReadOnly> read_long(const std::string& word) {
    const auto equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    if (!is_one_of(name, kNotShortened)) {
      for (const RefusedOption& row : kRefused) {
        // Every shortened form is refused, also one that the program would find ambiguous.
        if (row.command == command_ && starts_with(row.option, name)) {
          return refuse(word, describe(row));
        }
      }
    }
    next_ = equals != std::string::npos                ? Next::word
            : lists(forms_.flag_names, name.substr(2)) ? Next::word
            : lists(forms_.next_names, name.substr(2)) ? Next::value
                                                       : Next::unknown;
    return std::nullopt;
  }

  std::optional<NotReadOnly> read_cluster(const std::string& word) {
    next_ = Next::word;
    for (std::size_t i = 1; i < word.size(); ++i) {
      for (const RefusedOption& row : kRefused) {
        if (row.command == command_ && row.option.size() == 2 && row.option[1] == word[i]) {
          return refuse(word, describe(row));
        }
      }
      const bool last = i + 1 == word.size();
      if (forms_.next.find(word[i]) != std::string_view::npos) {
        if (last && next_ == Next::word) next_ = Next::value;
        if (!last) next_ = Next::word;
        return std::nullopt;
      }
      if (forms_.attached.find(word[i]) != std::string_view::npos) return std::nullopt;
      const bool digit = word[i] >= '0' && word[i] <= '9';
      if (!digit && forms_.flags.find(word[i]) == std::string_view::npos) next_ = Next::unknown;
    }
    return std::nullopt;
  }

  static bool lists(std::string_view names, std::string_view name) {
    const auto at = names.find(name);
    if (name.empty() || at == std::string_view::npos) return false;
    return names.find(' ' + std::string(name) + ' ') != std::string_view::npos;
  }

  std::string describe(const RefusedOption& row) const {
    return std::string(command_) + ' ' + std::string(row.option) + ' ' + std::string(row.why);
  }

  std::string_view command_;
  OptionForms forms_{};
  Next next_ = Next::word;
  bool aligned_ = true;         ///< it is certain which words are options and which are values
  bool only_operands_ = false;  ///< behind "--"
  int operands_ = 0;
};

// ---- commands ------------------------------------------------------------------------------

std::optional<NotReadOnly> judge_find(Words words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const RefusedOption& row : kRefused) {
      if (row.command == "find" && row.option == words[i]) {
        return refuse(words[i], "find " + std::string(row.option) + ' ' + std::string(row.why));
      }
    }
    if (is_one_of(words[i], kFindValues) || starts_with(words[i], "-newer")) {
      ++i;
    } else if (words[i].size() > 1 && words[i][0] == '-' && !is_one_of(words[i], kFindFlags)) {
      // Were it to take a value, all that follows would be read otherwise than here.
      return refuse(words[i], "not a test of find that is known here");
    }
  }
  return std::nullopt;
}

/// ADDR[,ADDR]p with line numbers.
bool prints_lines(std::string_view script) {
  if (script.empty() || script.back() != 'p') return false;
  script.remove_suffix(1);
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const auto comma = script.find(',');
  if (comma == std::string_view::npos) return is_number(script);
  return is_number(script.substr(0, comma)) && is_number(script.substr(comma + 1));
}

std::optional<NotReadOnly> judge_sed(Words words) {
  if (words.size() < 2 || words[0] != "-n" || !prints_lines(words[1])) {
    return refuse(words.empty() ? "sed" : words[std::min<std::size_t>(1, words.size() - 1)],
                  "of sed only `sed -n FIRST,LASTp FILE` with line numbers is read-only");
  }
  for (const std::string& word : words.subspan(2)) {
    if (word.size() > 1 && word[0] == '-') return refuse(word, "sed takes no other option here");
  }
  return std::nullopt;
}

std::optional<NotReadOnly> judge_test(std::string_view name, Words words) {
  if (name == "[") {
    if (words.empty() || words.back() != "]") return refuse("[", "`[` without its `]`");
    words = words.first(words.size() - 1);
  }
  if (words.size() == 2 && is_one_of(words[0], kFileTests)) return std::nullopt;
  return refuse(name, "only one of -e -f -d -s -r -x -L with one name is read-only");
}

/// `%G?`, `%+GS` … in a format ask for a signature check, which runs a program.
bool asks_for_signature(std::string_view word) {
  for (auto at = word.find('%'); at != std::string_view::npos; at = word.find('%', at + 1)) {
    std::string_view rest = word.substr(at + 1);
    if (!rest.empty() && std::string_view("+- ").find(rest[0]) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    if (starts_with(rest, "G")) return true;
  }
  return false;
}

std::optional<NotReadOnly> judge_git(Words words) {
  if (!words.empty() && words[0] == "--no-pager") words = words.subspan(1);
  if (words.empty()) return refuse("git", "git without a command");
  const std::string& command = words[0];
  if (starts_with(command, "-")) {
    return refuse(command, "git takes no global option here but --no-pager");
  }
  if (!is_one_of(command, kGitCommands)) {
    return refuse(command, "git " + command + " is not one of the reading commands");
  }
  words = words.subspan(1);
  if (command == "branch") {
    if (words.size() == 1 && words[0] == "--show-current") return std::nullopt;
    return refuse("branch", "of git branch only --show-current is read-only");
  }
  for (const std::string& word : words) {
    if (asks_for_signature(word)) return refuse(word, "%G in a format runs the signature program");
  }
  return OptionReader("git", "git " + (command == "show" ? "log" : command)).read(words);
}

std::optional<NotReadOnly> judge_uniq(Words words) {
  OptionReader reader("uniq", "uniq");
  if (const auto refused = reader.read(words)) return refused;
  if (reader.operands() > 1)
    return refuse(words.back(), "a second name is a file that uniq writes");
  return std::nullopt;
}

std::optional<NotReadOnly> judge_options(std::string_view name, Words words) {
  if (name == "git") return judge_git(words);
  if (name == "find") return judge_find(words);
  if (name == "sed") return judge_sed(words);
  if (name == "uniq") return judge_uniq(words);
  if (name == "test" || name == "[") return judge_test(name, words);
  if (is_one_of(name, kAnyOptions)) return std::nullopt;
  return OptionReader(name, name).read(words);
}

}  // namespace

std::optional<NotReadOnly> why_not_read_only(Words argv, const fs::path& workspace,
                                             const fs::path& workdir) {
  if (argv.empty()) return NotReadOnly{.reason = "no command"};
  const std::string& name = argv[0];
  if (!is_one_of(name, kAnyOptions) && !is_one_of(name, kSomeOptions)) {
    return NotReadOnly{.part = name, .reason = name + " is not one of the read-only commands"};
  }
  const std::string folder = workdir.empty() ? workspace.string() : workdir.string();
  if (lies_in_kernel_folder(folder)) {
    return refuse(folder, "the working folder lies in /proc, /sys or /dev");
  }
  for (const std::string& word : argv.subspan(1)) {
    if (word_reaches_kernel_folder(word, folder)) {
      return refuse(word, "it may lead into /proc, /sys or /dev");
    }
  }
  return judge_options(name, argv.subspan(1));
}

std::span<const RefusedOption> refused_options() { return kRefused; }

std::vector<std::string> read_only_command_names() {
  std::vector<std::string> names(kAnyOptions.begin(), kAnyOptions.end());
  names.insert(names.end(), kSomeOptions.begin(), kSomeOptions.end());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sortie

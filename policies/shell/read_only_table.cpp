#include "policies/shell/read_only_table.h"

#include <algorithm>

namespace sortie {
namespace {

using How = ReadOnlyCommand::How;

constexpr RefusedOption kRgRefused[] = {{"--pre", "runs a program on each file"},
                                        {"--hostname-bin", "runs a program"},
                                        {"-z", "runs decompression programs"},
                                        {"--search-zip", "runs decompression programs"}};
constexpr RefusedOption kFileRefused[] = {
    {"-C", "writes a compiled magic file"},
    {"--compile", "writes a compiled magic file"},
    {"-m", "reads a magic file of the caller's choice"},
    {"--magic-file", "reads a magic file of the caller's choice"},
    {"-z", "runs decompression programs"},
    {"--uncompress", "runs decompression programs"},
    {"-Z", "runs decompression programs"},
    {"--uncompress-noreport", "runs decompression programs"},
    {"-p", "sets the times of the files that it reads"},
    {"--preserve-date", "sets the times of the files that it reads"}};
constexpr RefusedOption kFindRefused[] = {
    {"-exec", "runs a program"},   {"-execdir", "runs a program"}, {"-ok", "runs a program"},
    {"-okdir", "runs a program"},  {"-delete", "deletes files"},   {"-fprint", "writes a file"},
    {"-fprint0", "writes a file"}, {"-fprintf", "writes a file"},  {"-fls", "writes a file"}};
constexpr RefusedOption kSortRefused[] = {{"-o", "writes a file"},
                                          {"--output", "writes a file"},
                                          {"--compress-program", "runs a program"}};

// clang-format off
constexpr ReadOnlyCommand kPlain[] = {
    {.name = "arch"},
    {.name = "b2sum"},
    {.name = "base64"},
    {.name = "basename"},
    {.name = "cat"},
    {.name = "cksum"},
    {.name = "cmp"},
    {.name = "column"},
    {.name = "comm"},
    {.name = "cut"},
    {.name = "diff"},
    {.name = "dirname"},
    {.name = "du"},
    {.name = "echo"},
    {.name = "expand"},
    {.name = "expr"},
    {.name = "false"},
    {.name = "fmt"},
    {.name = "fold"},
    {.name = "groups"},
    {.name = "hd"},
    {.name = "head"},
    {.name = "hexdump"},
    {.name = "id"},
    {.name = "join"},
    {.name = "logname"},
    {.name = "ls"},
    {.name = "md5sum"},
    {.name = "nl"},
    {.name = "nproc"},
    {.name = "numfmt"},
    {.name = "od"},
    {.name = "paste"},
    {.name = "printf"},
    {.name = "pwd"},
    {.name = "readlink"},
    {.name = "realpath"},
    {.name = "rev"},
    {.name = "seq"},
    {.name = "sha1sum"},
    {.name = "sha224sum"},
    {.name = "sha256sum"},
    {.name = "sha384sum"},
    {.name = "sha512sum"},
    {.name = "sleep"},
    {.name = "stat"},
    {.name = "sum"},
    {.name = "tac"},
    {.name = "tail"},
    {.name = "tr"},
    {.name = "true"},
    {.name = "uname"},
    {.name = "unexpand"},
    {.name = "wc"},
    {.name = "which"},
    {.name = "whoami"},
    {.name = "grep", .how = How::options,
     .forms = {
         .flags = "EFGPivwxcLlqsbHhonTZaIUrRyzV",
         .next = "efABCmdD",
         .flag_names =
             " extended-regexp fixed-strings fixed-regexp basic-regexp perl-regexp ignore-case "
             "no-ignore-case invert-match word-regexp line-regexp count color colour "
             "files-without-match files-with-matches only-matching quiet silent no-messages "
             "byte-offset with-filename no-filename line-number initial-tab null text recursive "
             "dereference-recursive line-buffered null-data binary help version ",
         .next_names =
             " regexp file max-count after-context before-context context label binary-files "
             "devices directories exclude exclude-from exclude-dir include group-separator ",
         .text_letters = "e",
         .text_names = " regexp ",
         .pattern_unless = " e f regexp file "}},
    {.name = "rg", .how = How::options,
     .refused = kRgRefused,
     .forms = {
         .flags = "abcFhHiIlLnNopPqsSuUvVwx0.",
         .next = "ABCdeEfgjmMrtT",
         .flag_names =
             " files files-with-matches files-without-match line-number no-line-number "
             "ignore-case smart-case case-sensitive fixed-strings word-regexp line-regexp "
             "invert-match count count-matches only-matching hidden no-hidden no-ignore "
             "no-ignore-vcs no-ignore-parent no-ignore-global no-ignore-dot no-ignore-exclude "
             "no-ignore-files ignore-file-case-insensitive no-config no-heading heading json "
             "multiline multiline-dotall pcre2 auto-hybrid-regex quiet stats vimgrep "
             "with-filename no-filename column no-column follow no-follow no-messages null "
             "null-data passthru passthrough pretty text trim no-trim type-list unrestricted "
             "version help binary byte-offset block-buffered line-buffered one-file-system crlf "
             "debug trace mmap no-mmap no-pcre2 no-text no-multiline glob-case-insensitive "
             "include-zero max-columns-preview sort-files no-context-separator no-encoding "
             "no-unicode unicode print0 ",
         .next_names =
             " after-context before-context context color colors context-separator dfa-size-limit "
             "encoding engine file field-context-separator field-match-separator glob iglob "
             "ignore-file max-columns max-count max-depth maxdepth max-filesize path-separator "
             "pre-glob regex-size-limit regexp replace sort sortr threads type type-add "
             "type-clear type-not ",
         .text_letters = "er",
         .text_names = " regexp replace ",
         .pattern_unless = " e f regexp file files type-list pcre2-version ",
         .dashed_values = " e f g r regexp file glob iglob replace ignore-file "}},
    {.name = "file", .how = How::options,
     .refused = kFileRefused,
     .forms = {
         .flags = "bcdEhiIklLnNprsSv0",
         .next = "eFfP",
         .flag_names =
             " brief mime mime-type mime-encoding extension apple dereference no-dereference "
             "keep-going print0 raw special-files no-buffer no-pad checking-printout list debug "
             "version help no-sandbox ",
         .next_names = " exclude exclude-quiet separator files-from parameter ",
         .text_letters = "F",
         .text_names = " separator "}},
    {.name = "find", .how = How::find,
     .refused = kFindRefused},
    {.name = "sort", .how = How::options,
     .refused = kSortRefused,
     .forms = {
         .flags = "bcCdfghimMnrRsuVz",
         .next = "kStT",
         .flag_names =
             " reverse unique numeric-sort general-numeric-sort human-numeric-sort version-sort "
             "month-sort random-sort ignore-case ignore-leading-blanks ignore-nonprinting "
             "dictionary-order stable check merge zero-terminated debug help version ",
         .next_names =
             " key buffer-size field-separator temporary-directory batch-size parallel "
             "files0-from random-source sort ",
         .text_letters = "t",
         .text_names = " field-separator "}},
    {.name = "uniq", .how = How::options, .counts_operands = true,
     .forms = {
         .flags = "cdDiuz",
         .next = "fsw",
         .flag_names = " count repeated all-repeated ignore-case unique zero-terminated group help version ",
         .next_names = " skip-fields skip-chars check-chars "}},
    {.name = "sed", .how = How::sed,
     .forms = {
         .flags = "nErsuz",
         .next = "e",
         .flag_names =
             " quiet silent regexp-extended separate unbuffered null-data zero-terminated posix "
             "sandbox ",
         .next_names = " expression ",
         .text_letters = "e",
         .text_names = " expression ",
         .pattern_unless = " e expression "}},
    {.name = "awk", .how = How::awk},
    {.name = "gawk", .how = How::awk},
    {.name = "mawk", .how = How::awk},
    {.name = "nawk", .how = How::awk},
    {.name = "jq", .how = How::jq},
    {.name = "bash", .how = How::syntax, .forms = {.flag_names = " --version "}},
    {.name = "dash", .how = How::syntax},
    {.name = "sh", .how = How::syntax},
    {.name = "c++", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "cc", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "clang", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "clang++", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "cmake", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "g++", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "gcc", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "gmake", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "java", .how = How::version, .forms = {.flag_names = " --version -version "}},
    {.name = "javac", .how = How::version, .forms = {.flag_names = " --version -version "}},
    {.name = "make", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "ninja", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "node", .how = How::version, .forms = {.flag_names = " --version -v "}},
    {.name = "perl", .how = How::version, .forms = {.flag_names = " --version -v "}},
    {.name = "php", .how = How::version, .forms = {.flag_names = " --version -v "}},
    {.name = "python", .how = How::version, .forms = {.flag_names = " --version -V "}},
    {.name = "python3", .how = How::version, .forms = {.flag_names = " --version -V "}},
    {.name = "ruby", .how = How::version, .forms = {.flag_names = " --version "}},
    {.name = "test", .how = How::test, .counts_operands = true},
    {.name = "[", .how = How::test, .counts_operands = true},
    {.name = "command", .how = How::command, .counts_operands = true},
};
// clang-format on

}  // namespace

std::span<const ReadOnlyCommand> read_only_plain() { return kPlain; }

std::span<const ReadOnlyCommand> read_only_commands() {
  static const std::vector<ReadOnlyCommand> all = [] {
    std::vector<ReadOnlyCommand> rows;
    for (const auto part : {read_only_plain(), read_only_listed(), read_only_git()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

const ReadOnlyCommand* find_read_only(std::string_view name) {
  const auto rows = read_only_commands();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

namespace {

/// Calls `each` with the names of a blank-separated list.
template <typename Each>
void for_each_name(std::string_view names, Each each) {
  while (!names.empty()) {
    const auto blank = std::min(names.find(' '), names.size());
    if (blank > 0) each(std::string(names.substr(0, blank)));
    names.remove_prefix(std::min(blank + 1, names.size()));
  }
}

/// Whether the command takes other words, or refuses options, so that a glob may become one.
bool refuses_options(const ReadOnlyCommand& row) {
  return row.how != How::any && row.how != How::test && row.how != How::command &&
         (row.how != How::options || !row.refused.empty());
}

/// The number of words before the first file: options of awk, sed or jq, and its program; none if
/// that is not certain.
std::size_t words_before_files(How how, std::span<const std::string> words) {
  const auto takes_value = [how](const std::string& word) -> std::size_t {
    if (how == How::awk) return word == "-F" || word == "-v" ? 1 : 0;
    if (how == How::sed) return word == "-e" || word == "--expression" ? 1 : 0;
    if (word == "--indent") return 1;
    return word == "--arg" || word == "--argjson" || word == "--slurpfile" || word == "--rawfile"
               ? 2
               : 0;
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!words[at].starts_with('-') || words[at] == "-") return at + 1;
    at += takes_value(words[at]);
  }
  return words.size();
}

}  // namespace

std::vector<std::string> listed_options(const ReadOnlyCommand& row) {
  std::vector<std::string> options;
  for (const char letter : row.forms.flags) options.push_back(std::string("-") + letter);
  for (const char letter : row.forms.next) options.push_back(std::string("-") + letter + " VALUE");
  for (const char letter : row.forms.attached)
    options.push_back(std::string("-") + letter + "[VALUE]");
  for_each_name(row.forms.flag_names, [&](const auto& name) { options.push_back("--" + name); });
  for_each_name(row.forms.next_names,
                [&](const auto& name) { options.push_back("--" + name + "=VALUE"); });
  return options;
}

bool begins_literally(std::string_view glob) {
  return !glob.empty() && std::string_view("-*?[").find(glob.front()) == std::string_view::npos;
}

std::string why_no_glob(std::string_view name, std::string_view glob) {
  const ReadOnlyCommand* const row = find_read_only(name);
  if (name == "cd" || name == "printf" || (row != nullptr && row->counts_operands))
    return "a glob may expand to several words, and " + std::string(name) + " counts them";
  if (begins_literally(glob) || row == nullptr || !refuses_options(*row) || row->how == How::awk)
    return "";
  return "this glob may expand to an option of " + std::string(name) + ": write ./ before it";
}

std::string why_no_glob_at(std::string_view name, std::span<const std::string> words,
                           std::size_t at) {
  const ReadOnlyCommand* row = find_read_only(name);
  if (row == nullptr) return "";
  // Only its format may not be one; what the conversions make of the rest is seen before.
  if (name == "printf" && at > 0 && begins_literally(words[0])) return "";
  if (row->how == How::git) {
    if (!words.empty() && (words[0] == "--no-pager" || words[0] == "-P")) {
      words = words.subspan(1);
      at = at > 0 ? at - 1 : 0;
    }
    row = words.empty() ? nullptr : find_read_only("git " + words[0]);
    if (row == nullptr || !row->counts_operands) return why_no_glob(name, words[at]);
    return "a glob may expand to several words, and git " + words[0] + " counts them: quote it";
  }
  const bool has_program = row->how == How::awk || row->how == How::sed || row->how == How::jq;
  if (has_program && at < words_before_files(row->how, words))
    return "a glob may expand to another " + std::string(name) + " program: quote it";
  return why_no_glob(name, words[at]);
}

}  // namespace sortie

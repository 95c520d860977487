#include "policies/shell/read_only_table.h"

#include <algorithm>

namespace sortie {
namespace {

using How = ReadOnlyCommand::How;

constexpr std::string_view kDiffFlags =
    " stat shortstat numstat summary compact-summary dirstat name-only name-status patch no-patch "
    "raw patch-with-stat minimal patience histogram oneline graph all branches tags remotes "
    "cached staged color no-color word-diff color-words color-moved full-index abbrev "
    "abbrev-commit no-abbrev-commit no-renames find-renames find-copies find-copies-harder "
    "ignore-space-change ignore-all-space ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol "
    "check exit-code quiet binary text merges no-merges first-parent follow reverse decorate "
    "no-decorate no-ext-diff no-textconv no-index no-prefix relative function-context pickaxe-all "
    "pickaxe-regex unified merge-base date-order topo-order author-date-order "
    "simplify-by-decoration full-history left-right cherry-pick cherry-mark boundary "
    "regexp-ignore-case extended-regexp fixed-strings perl-regexp invert-grep all-match "
    "walk-reflogs source ignore-submodules ";
constexpr std::string_view kDiffValues =
    " diff-filter inter-hunk-context src-prefix dst-prefix line-prefix word-diff-regex anchored "
    "diff-algorithm ignore-matching-lines ws-error-highlight ";
constexpr std::string_view kLogValues =
    " diff-filter inter-hunk-context src-prefix dst-prefix line-prefix word-diff-regex anchored "
    "diff-algorithm ignore-matching-lines ws-error-highlight grep author committer since until "
    "after before max-count skip decorate-refs decorate-refs-exclude exclude glob date ";

constexpr OptionForms kLogForms = {
    .flags = "aDpqRrsuWwbtzcmiEFPg",
    .next = "SGIlnL",
    .attached = "MCBUX",
    .flag_names = kDiffFlags,
    .next_names = kLogValues,
    .text_letters = "SGI",
    .text_names =
        " word-diff-regex anchored ignore-matching-lines src-prefix dst-prefix line-prefix grep "
        "author committer date "};

// clang-format off
constexpr ReadOnlyCommand kCommands[] = {
    {.name = "basename"},
    {.name = "cat"},
    {.name = "cmp"},
    {.name = "cut"},
    {.name = "diff"},
    {.name = "dirname"},
    {.name = "du"},
    {.name = "echo"},
    {.name = "head"},
    {.name = "ls"},
    {.name = "nl"},
    {.name = "pwd"},
    {.name = "readlink"},
    {.name = "realpath"},
    {.name = "sha256sum"},
    {.name = "stat"},
    {.name = "tail"},
    {.name = "tr"},
    {.name = "true"},
    {.name = "wc"},
    {.name = "which"},
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
     .refused = {{{"--pre", "runs a program on each file"},
                  {"--hostname-bin", "runs a program"},
                  {"-z", "runs decompression programs"},
                  {"--search-zip", "runs decompression programs"}}},
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
     .refused = {{{"-C", "writes a compiled magic file"},
                  {"--compile", "writes a compiled magic file"},
                  {"-m", "reads a magic file of the caller's choice"},
                  {"--magic-file", "reads a magic file of the caller's choice"},
                  {"-z", "runs decompression programs"},
                  {"--uncompress", "runs decompression programs"},
                  {"-Z", "runs decompression programs"},
                  {"--uncompress-noreport", "runs decompression programs"},
                  {"-p", "sets the times of the files that it reads"},
                  {"--preserve-date", "sets the times of the files that it reads"}}},
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
     .refused = {{{"-exec", "runs a program"},
                  {"-execdir", "runs a program"},
                  {"-ok", "runs a program"},
                  {"-okdir", "runs a program"},
                  {"-delete", "deletes files"},
                  {"-fprint", "writes a file"},
                  {"-fprint0", "writes a file"},
                  {"-fprintf", "writes a file"},
                  {"-fls", "writes a file"}}}},
    {.name = "sort", .how = How::options,
     .refused = {{{"-o", "writes a file"},
                  {"--output", "writes a file"},
                  {"--compress-program", "runs a program"}}},
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
    {.name = "sed", .how = How::sed},
    {.name = "test", .how = How::test, .counts_operands = true},
    {.name = "[", .how = How::test, .counts_operands = true},
    {.name = "command", .how = How::command, .counts_operands = true},
    {.name = "git", .how = How::git,
     .refused = {{{"--ext-diff", "runs the repository's external diff program"},
                  {"--textconv", "runs the repository's conversion programs"},
                  {"--output", "writes a file"},
                  {"--show-signature", "runs the signature program"},
                  {"--submodule", "may run git in a submodule, with the submodule's programs"},
                  {"--recurse-submodules", "may run git in a submodule, with the submodule's programs"},
                  {"--show-superproject-working-tree", "runs git in the folder above"},
                  {"--remerge-diff", "runs the repository's merge programs"},
                  {"-O", "opens a pager program, or reads an order file"},
                  {"--open-files-in-pager", "runs a pager program"},
                  {"--help", "opens a manual viewer"}}}},
    {.name = "git status",
     .forms = {
         .flags = "bsvz",
         .attached = "uM",
         .flag_names =
             " short branch show-stash ahead-behind no-ahead-behind porcelain long null verbose "
             "ignored untracked-files column no-column renames no-renames find-renames "
             "ignore-submodules "}},
    {.name = "git diff",
     .forms = {
         .flags = "aDpqRrsuWwbtzcm",
         .next = "SGIl",
         .attached = "MCBUX",
         .flag_names = kDiffFlags,
         .next_names = kDiffValues,
         .text_letters = "SGI",
         .text_names = " word-diff-regex anchored ignore-matching-lines src-prefix dst-prefix line-prefix "}},
    {.name = "git log",
     .forms = kLogForms},
    {.name = "git show",
     .forms = kLogForms},
    {.name = "git ls-files",
     .forms = {
         .flags = "ztvfcdmoisku",
         .next = "xX",
         .flag_names =
             " cached deleted modified others ignored stage killed unmerged directory "
             "no-empty-directory eol exclude-standard full-name error-unmatch deduplicate debug "
             "abbrev sparse ",
         .next_names = " exclude exclude-from exclude-per-directory with-tree format ",
         .text_letters = "x",
         .text_names = " exclude format "}},
    {.name = "git rev-parse",
     .forms = {
         .flags = "q",
         .flag_names =
             " show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir "
             "is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository "
             "short verify quiet abbrev-ref symbolic symbolic-full-name all branches tags remotes "
             "revs-only no-revs flags no-flags sq not "}},
    {.name = "git blame",
     .forms = {
         .flags = "bfnpctlsewk",
         .next = "LS",
         .attached = "CM",
         .flag_names =
             " porcelain line-porcelain show-email show-name show-number show-stats score-debug "
             "root incremental color-lines color-by-age progress no-progress minimal ",
         .next_names = " ignore-rev ignore-revs-file contents "}},
    {.name = "git grep",
     .forms = {
         .flags = "viwaIrEGFPnhHlLzocpWq",
         .next = "efABCm",
         .flag_names =
             " cached no-index untracked exclude-standard no-exclude-standard line-number column "
             "full-name ignore-case word-regexp invert-match text files-with-matches "
             "files-without-match name-only count only-matching extended-regexp basic-regexp "
             "fixed-strings perl-regexp heading break color no-color show-function "
             "function-context and or not all-match quiet null recursive no-recursive no-textconv ",
         .next_names = " max-depth context before-context after-context threads max-count ",
         .text_letters = "e",
         .pattern_unless = " e f "}},
    {.name = "git branch"},
};
// clang-format on

}  // namespace

std::span<const ReadOnlyCommand> read_only_commands() { return kCommands; }

const ReadOnlyCommand* find_read_only(std::string_view name) {
  const auto* const row = std::find_if(std::begin(kCommands), std::end(kCommands),
                                       [&](const auto& each) { return each.name == name; });
  return row == std::end(kCommands) ? nullptr : row;
}

std::span<const RefusedOption> ReadOnlyCommand::refused_options() const {
  const auto end = std::find_if(refused.begin(), refused.end(),
                                [](const RefusedOption& row) { return row.option.empty(); });
  return {refused.begin(), end};
}

bool begins_literally(std::string_view glob) {
  return !glob.empty() && std::string_view("-*?[").find(glob.front()) == std::string_view::npos;
}

std::string why_no_glob(std::string_view name, std::string_view glob) {
  const ReadOnlyCommand* const row = find_read_only(name);
  if (name == "cd" || name == "printf" || (row != nullptr && row->counts_operands))
    return "a glob may expand to several words, and " + std::string(name) + " counts them";
  const bool refuses_options =
      row != nullptr && (row->how == How::sed || !row->refused_options().empty());
  if (begins_literally(glob) || !refuses_options) return "";
  return "this glob may expand to an option of " + std::string(name) + ": write ./ before it";
}

}  // namespace sortie

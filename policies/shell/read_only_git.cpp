// The git part of the class read-only's table: a row for each subcommand.
#include <iterator>

#include "policies/shell/read_only_table.h"

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
    "walk-reflogs source ignore-submodules root no-commit-id cc ";
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

constexpr OptionForms kDiffTreeForms = {
    .flags = "aprtmcszuwb",
    .next = "SGl",
    .attached = "MCBU",
    .flag_names = kDiffFlags,
    .next_names = kDiffValues,
    .text_letters = "SG",
    .text_names =
        " word-diff-regex anchored ignore-matching-lines src-prefix dst-prefix line-prefix "};

constexpr RefusedOption kGitRefused[] = {
    {"--ext-diff", "runs the repository's external diff program"},
    {"--textconv", "runs the repository's conversion programs"},
    {"--output", "writes a file"},
    {"--show-signature", "runs the signature program"},
    {"--submodule", "may run git in a submodule, with the submodule's programs"},
    {"--recurse-submodules", "may run git in a submodule, with the submodule's programs"},
    {"--show-superproject-working-tree", "runs git in the folder above"},
    {"--remerge-diff", "runs the repository's merge programs"},
    {"-O", "opens a pager program, or reads an order file"},
    {"--open-files-in-pager", "runs a pager program"},
    {"--help", "opens a manual viewer"}};

// clang-format off
constexpr ReadOnlyCommand kGit[] = {
    {.name = "git", .how = How::git,
     .refused = kGitRefused},
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
    // Behind these, an option or operand that is not listed may write.
    {.name = "git branch", .how = How::listed, .counts_operands = true,
     .forms = {
         .flags = "avrqi",
         .flag_names =
             " all remotes verbose quiet list show-current column no-column color no-color abbrev "
             "no-abbrev ignore-case omit-empty ",
         .next_names = " merged no-merged contains no-contains sort format points-at ",
         .text_names = " sort format "},
     .operands_with = " list ", .instead = "a name makes a branch: list them with --list PATTERN"},
    {.name = "git tag", .how = How::listed, .counts_operands = true,
     .forms = {
         .flags = "li",
         .attached = "n",
         .flag_names = " list column no-column color no-color ignore-case omit-empty ",
         .next_names = " merged no-merged contains no-contains sort format points-at ",
         .text_names = " sort format "},
     .operands_with = " l list ", .instead = "a name makes a tag: list them with -l PATTERN"},
    {.name = "git remote", .how = How::listed, .counts_operands = true,
     .forms = {.flags = "v", .flag_names = " verbose all push "},
     .most_operands = 1, .subcommands = " get-url ", .bare = true,
     .instead = "write `git remote -v` or `git remote get-url NAME`"},
    {.name = "git stash", .how = How::listed, .counts_operands = true,
     .forms = kLogForms, .subcommands = " list show ",
     .instead = "write `git stash list` or `git stash show`"},
    {.name = "git reflog", .how = How::listed, .counts_operands = true,
     .forms = kLogForms, .subcommands = " show ", .bare = true,
     .instead = "write `git reflog show REF`"},
    {.name = "git worktree", .how = How::listed, .counts_operands = true,
     .forms = {.flags = "vz", .flag_names = " porcelain verbose "},
     .most_operands = 0, .subcommands = " list ", .instead = "write `git worktree list`"},
    {.name = "git config", .how = How::listed, .counts_operands = true,
     .forms = {
         .flags = "lz",
         .flag_names =
             " list local includes no-includes show-origin show-scope name-only null bool int "
             "bool-or-int get get-all get-regexp ",
         .next_names = " type "},
     .options_first = true, .most_operands = 2, .operands_with = " get get-all get-regexp ",
     .instead = "write `git config --get NAME`, or -l"},
    {.name = "git symbolic-ref", .how = How::listed, .counts_operands = true,
     .forms = {.flags = "q", .flag_names = " quiet short "},
     .most_operands = 1, .instead = "give one name; a second one is what it is set to"},
    {.name = "git describe", .how = How::listed,
     .forms = {
         .flag_names =
             " all tags always long exact-match first-parent contains abbrev debug ",
         .next_names = " match exclude candidates ",
         .text_names = " match exclude "},
     .instead = "leave out --dirty and --broken, which refresh the index"},
    {.name = "git ls-tree", .how = How::listed,
     .forms = {
         .flags = "drtlz",
         .flag_names =
             " long name-only name-status object-only full-name full-tree abbrev ",
         .next_names = " format ",
         .text_names = " format "}},
    {.name = "git rev-list", .how = How::listed,
     .forms = {
         .flags = "riEFPg",
         .next = "n",
         .flag_names =
             " all branches tags remotes count oneline graph parents children objects timestamp "
             "boundary left-right left-only right-only cherry-pick cherry-mark first-parent merges "
             "no-merges min-parents max-parents reverse topo-order date-order author-date-order "
             "abbrev abbrev-commit no-abbrev-commit pretty format header full-history "
             "simplify-by-decoration regexp-ignore-case extended-regexp fixed-strings perl-regexp "
             "invert-grep all-match walk-reflogs no-walk not merge reflog disk-usage quiet "
             "no-commit-header ",
         .next_names =
             " max-count skip since until after before author committer grep glob exclude ",
         .text_names = " author committer grep since until after before "}},
    {.name = "git merge-base", .how = How::listed,
     .forms = {
         .flags = "a",
         .flag_names = " all octopus independent is-ancestor fork-point "}},
    {.name = "git shortlog", .how = How::listed,
     .forms = {
         .flags = "snce",
         .attached = "w",
         .flag_names =
             " summary numbered committer email all branches tags remotes merges no-merges "
             "first-parent format reverse ",
         .next_names = " group since until after before author grep max-count ",
         .text_names = " group since until after before author grep "}},
    {.name = "git cat-file", .how = How::listed,
     .forms = {.flags = "tsep", .flag_names = " allow-unknown-type "},
     .instead = "write -p, -t, -s or -e"},
    {.name = "git for-each-ref", .how = How::listed,
     .forms = {
         .flags = "sp",
         .flag_names = " shell perl python tcl ignore-case omit-empty color ",
         .next_names = " count sort format points-at merged no-merged contains no-contains exclude ",
         .text_names = " sort format "}},
    {.name = "git show-ref", .how = How::listed,
     .forms = {
         .flags = "dsq",
         .flag_names = " head heads tags branches dereference hash abbrev verify quiet exists "}},
    {.name = "git name-rev", .how = How::listed,
     .forms = {
         .flag_names = " tags name-only all undefined no-undefined always ",
         .next_names = " refs exclude ",
         .text_names = " refs exclude "}},
    {.name = "git check-ignore", .how = How::listed,
     .forms = {.flags = "vnqz", .flag_names = " verbose non-matching quiet no-index "}},
    {.name = "git check-attr", .how = How::listed,
     .forms = {.flags = "az", .flag_names = " all cached "}},
    {.name = "git diff-tree", .how = How::listed, .forms = kDiffTreeForms},
    {.name = "git cherry", .how = How::listed,
     .forms = {.flags = "v", .flag_names = " verbose abbrev "}},
    {.name = "git count-objects", .how = How::listed,
     .forms = {.flags = "vH", .flag_names = " verbose human-readable "},
     .most_operands = 0},
    {.name = "git version", .how = How::listed,
     .forms = {.flag_names = " build-options "},
     .most_operands = 0},
};
// clang-format on

}  // namespace

std::span<const ReadOnlyCommand> read_only_git() { return kGit; }

}  // namespace sortie

// The listed part of the class read-only's table: programs of which only these options are allowed.
#include "policies/shell/read_only_table.h"

namespace sortie {
namespace {

using How = ReadOnlyCommand::How;
using Letters = ReadOnlyCommand::Letters;

constexpr OptionForms kFdForms = {
    .flags = "HIusiFgaLp0q1hV",
    .next = "dteESc",
    .flag_names =
        " hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive "
        "ignore-case fixed-strings glob regex absolute-path follow full-path print0 quiet "
        "one-file-system prune show-errors no-require-git help version ",
    .next_names =
        " max-depth min-depth exact-depth type extension exclude size changed-within "
        "changed-before newer older color max-results threads path-separator owner ignore-file ",
    .text_letters = "eE",
    .text_names = " extension exclude ",
    .pattern_unless = " - ",
    .dashed_values = " - "};
constexpr std::string_view kFdInstead = "pipe its output, or send the command itself";

// clang-format off
constexpr ReadOnlyCommand kListed[] = {
    {.name = "date", .how = How::listed, .counts_operands = true,
     .forms = {
         .flags = "uR",
         .next = "dr",
         .attached = "I",
         .flag_names = " utc universal rfc-email rfc-2822 iso-8601 rfc-3339 help version ",
         .next_names = " date reference ",
         .text_letters = "d",
         .text_names = " date "},
     .most_operands = 1, .operands_begin = "+",
     .instead = "write `date +FORMAT`; another operand sets the clock"},
    {.name = "df", .how = How::listed,
     .forms = {
         .flags = "ahHiklmPTv",
         .next = "Btx",
         .flag_names =
             " all human-readable si inodes local portability print-type total output no-sync "
             "help version ",
         .next_names = " block-size type exclude-type "}},
    {.name = "fd", .how = How::listed, .forms = kFdForms, .instead = kFdInstead},
    {.name = "fdfind", .how = How::listed, .forms = kFdForms, .instead = kFdInstead},
    {.name = "free", .how = How::listed,
     .forms = {
         .flags = "bkmghtwlvV",
         .flag_names =
             " bytes kilo mega giga tera kibi mebi gibi tebi human si total wide lohi help version "},
     .most_operands = 0, .instead = "leave out -s and -c, which repeat it"},
    {.name = "getconf", .how = How::listed, .counts_operands = true,
     .forms = {.flags = "a"},
     .options_first = true, .most_operands = 2, .instead = "write `getconf NAME`"},
    {.name = "hostname", .how = How::listed, .counts_operands = true,
     .forms = {
         .flags = "sfiI",
         .flag_names = " short fqdn long ip-address all-ip-addresses "},
     .most_operands = 0, .instead = "write `hostname`; an operand sets the name"},
    {.name = "locale", .how = How::listed,
     .forms = {.flags = "a", .flag_names = " all-locales "},
     .most_operands = 0},
    {.name = "lscpu", .how = How::listed,
     .forms = {
         .flags = "aBbcCJxyhV",
         .attached = "ep",
         .flag_names =
             " all bytes online offline json physical hex caches extended parse output-all help "
             "version "},
     .most_operands = 0},
    {.name = "nm", .how = How::listed,
     .forms = {
         .flags = "aABCDgjnoPprSsuvV",
         .next = "ft",
         .flag_names =
             " debug-syms print-file-name demangle no-demangle dynamic extern-only defined-only "
             "undefined-only numeric-sort no-sort print-size size-sort reverse-sort portability "
             "print-armap help version ",
         .next_names = " format radix "},
     .no_word_begins = "@", .instead = "leave out -l, which looks for other files"},
    {.name = "objdump", .how = How::listed,
     .forms = {
         .flags = "adDtThxfprRCwsvzH",
         .next = "jMmb",
         .flag_names =
             " disassemble disassemble-all syms dynamic-syms headers section-headers all-headers "
             "file-headers private-headers archive-headers reloc dynamic-reloc demangle wide "
             "full-contents no-show-raw-insn help version ",
         .next_names = " section start-address stop-address disassembler-options architecture "},
     .no_word_begins = "@", .instead = "leave out -S, -l, -g and -W, which look for other files"},
    {.name = "readelf", .how = How::listed,
     .forms = {
         .flags = "ahlSgtesnrudVAcDIWTvH",
         .next = "xpR",
         .flag_names =
             " all file-header program-headers segments section-headers sections section-groups "
             "section-details headers syms symbols dyn-syms notes relocs unwind dynamic "
             "version-info arch-specific archive-index use-dynamic histogram wide help version ",
         .next_names = " hex-dump string-dump relocated-dump "},
     .no_word_begins = "@", .instead = "leave out -w and -P, which look for other files"},
    {.name = "shellcheck", .how = How::listed,
     .forms = {
         .flags = "V",
         .next = "fseSoWi",
         .attached = "C",
         .flag_names = " version color list-optional norc help ",
         .next_names = " format shell exclude include severity enable wiki-link-count "},
     .instead = "leave out -x and -P, which read other files"},
    {.name = "size", .how = How::listed,
     .forms = {
         .flags = "ABGdoxtV",
         .flag_names = " common totals help version ",
         .next_names = " format radix "},
     .no_word_begins = "@"},
    {.name = "strings", .how = How::listed,
     .forms = {
         .flags = "adfow",
         .next = "ntes",
         .flag_names = " all data print-file-name include-all-whitespace help version ",
         .next_names = " bytes radix encoding output-separator ",
         .text_letters = "s",
         .text_names = " output-separator "},
     .no_word_begins = "@", .instead = "name the file itself; @FILE reads options from it"},
    {.name = "tree", .how = How::listed,
     .forms = {
         .flags = "adfilxpsuhgDFqNQrtUvcCnASJX",
         .next = "LPI",
         .flag_names =
             " noreport dirsfirst filesfirst prune inodes device du si gitignore matchdirs "
             "ignore-case sort filelimit charset timefmt metafirst nolinks help version ",
         .text_letters = "PI"},
     .letters = Letters::values_apart, .instead = "leave out -o and -R, which write files"},
    {.name = "uptime", .how = How::listed,
     .forms = {.flags = "psV", .flag_names = " pretty since help version "},
     .most_operands = 0},
    {.name = "xxd", .how = How::listed, .counts_operands = true,
     .forms = {.flags = "abCdeEipuv", .next = "cglson"},
     .letters = Letters::single, .options_first = true, .most_operands = 1,
     .instead = "write each option apart, then one file; a second one is written"},
};
// clang-format on

}  // namespace

std::span<const ReadOnlyCommand> read_only_listed() { return kListed; }

}  // namespace sortie

#include "policies/shell/harmless_variables.h"

#include <algorithm>
#include <string>

#include "core/text/text.h"

namespace sortie {
namespace {

using Values = HarmlessVariable::Values;

constexpr std::string_view kColor = "only colours its output";
constexpr std::string_view kUnasked = "only keeps it from asking";
constexpr std::string_view kJobs = "only says how many work at once";
constexpr std::string_view kStage = "only names the usual environments of a project's own code";

// Not here, since they load code, name programs or change what is built: PATH, LD_*, NODE_OPTIONS,
// NODE_PATH, PYTHONSTARTUP, PYTHONHOME, RUSTFLAGS with other values, RUSTC_WRAPPER, CC, CFLAGS, MAKEFLAGS, JAVA_HOME,
// JAVA_TOOL_OPTIONS, MAVEN_OPTS, GRADLE_OPTS, PERL5OPT, RUBYOPT, GIT_* but the ones below, PAGER and
// EDITOR with other values, DJANGO_SETTINGS_MODULE, PYTEST_ADDOPTS, PYTEST_PLUGINS, npm_config_*.
constexpr HarmlessVariable kVariables[] = {
    {.name = "CI", .why = kUnasked},
    {.name = "NO_COLOR", .why = kColor},
    {.name = "CLICOLOR", .why = kColor},
    {.name = "CLICOLOR_FORCE", .why = kColor},
    {.name = "FORCE_COLOR",
     .values = Values::listed,
     .listed = " 0 1 2 3 true false ",
     .why = kColor},
    {.name = "PY_COLORS", .why = kColor},
    {.name = "CARGO_TERM_COLOR",
     .values = Values::listed,
     .listed = " never always auto ",
     .why = kColor},
    {.name = "TERM", .values = Values::name, .why = "a terminal's name, without a path"},
    {.name = "COLUMNS", .values = Values::number, .why = "the width of its output"},
    {.name = "LINES", .values = Values::number, .why = "the height of its output"},
    {.name = "LANG", .values = Values::locale, .why = "the language of its messages"},
    {.name = "LC_ALL", .values = Values::locale, .why = "the language of its messages"},
    {.name = "LC_CTYPE", .values = Values::locale, .why = "the language of its messages"},
    {.name = "LC_COLLATE", .values = Values::locale, .why = "the order in which it sorts"},
    {.name = "TZ", .values = Values::time_zone, .why = "the time zone, without a path"},
    {.name = "DEBIAN_FRONTEND",
     .values = Values::listed,
     .listed = " noninteractive ",
     .why = kUnasked},
    {.name = "PAGER", .values = Values::listed, .listed = " cat ", .why = "cat shows the output"},
    {.name = "GIT_PAGER",
     .values = Values::listed,
     .listed = " cat ",
     .why = "cat shows the output"},
    {.name = "GIT_TERMINAL_PROMPT", .values = Values::listed, .listed = " 0 ", .why = kUnasked},
    {.name = "GIT_OPTIONAL_LOCKS",
     .values = Values::listed,
     .listed = " 0 ",
     .why = "git then writes less"},
    {.name = "RUST_BACKTRACE",
     .values = Values::listed,
     .listed = " 0 1 full ",
     .why = "only prints a backtrace"},
    {.name = "RUST_LOG",
     .values = Values::listed,
     .listed = " off error warn info debug trace ",
     .why = "only how much it logs"},
    {.name = "RUSTFLAGS", .values = Values::lints, .why = "only what the compiler complains of"},
    {.name = "RUSTDOCFLAGS", .values = Values::lints, .why = "only what rustdoc complains of"},
    {.name = "RUST_TEST_THREADS", .values = Values::number, .why = kJobs},
    {.name = "CARGO_NET_OFFLINE", .why = "only keeps it from the network"},
    {.name = "CARGO_INCREMENTAL", .why = "only how it caches"},
    {.name = "CARGO_BUILD_JOBS", .values = Values::number, .why = kJobs},
    {.name = "PYTHONDONTWRITEBYTECODE", .why = "python then writes less"},
    {.name = "PYTHONUNBUFFERED", .why = "only when it prints"},
    {.name = "PYTHONUTF8", .why = "only how it decodes"},
    {.name = "PYTHONFAULTHANDLER", .why = "only prints a backtrace"},
    {.name = "PYTHONHASHSEED", .values = Values::number, .why = "only the order of sets"},
    {.name = "PYTHONIOENCODING",
     .values = Values::listed,
     .listed = " utf-8 utf8 UTF-8 ",
     .why = "only how it decodes"},
    {.name = "PYTHONWARNINGS",
     .values = Values::listed,
     .listed = " ignore default error always once module ",
     .why = "without a category, which would be imported, only what it prints"},
    {.name = "PYTHONPATH",
     .values = Values::folders,
     .programs = " python python3 pytest ",
     .why = "these run the code of the working folder in any case"},
    {.name = "PIP_DISABLE_PIP_VERSION_CHECK", .why = "only keeps it from the network"},
    {.name = "PIP_NO_INPUT", .why = kUnasked},
    {.name = "NODE_ENV",
     .values = Values::listed,
     .listed = " test development production ",
     .why = kStage},
    {.name = "RAILS_ENV", .values = Values::listed, .listed = " test development ", .why = kStage},
    {.name = "RACK_ENV", .values = Values::listed, .listed = " test development ", .why = kStage},
    {.name = "NODE_NO_WARNINGS", .why = "only what it prints"},
    {.name = "HUSKY", .values = Values::listed, .listed = " 0 ", .why = "keeps it from doing more"},
    {.name = "GO111MODULE", .values = Values::listed, .listed = " on auto ", .why = "the default"},
    {.name = "GOFLAGS",
     .values = Values::listed,
     .listed = " -mod=mod -mod=vendor -mod=readonly -count=1 -v ",
     .why = "other values may name a program (-toolexec), these do not"},
    {.name = "GOPROXY",
     .values = Values::listed,
     .listed = " off ",
     .why = "only keeps it from the network"},
    {.name = "GOTOOLCHAIN",
     .values = Values::listed,
     .listed = " local ",
     .why = "only keeps it from the network"},
    {.name = "GOMAXPROCS", .values = Values::number, .why = kJobs},
    {.name = "CGO_ENABLED",
     .values = Values::listed,
     .listed = " 0 1 ",
     .why = "whether the usual C compiler runs"},
    {.name = "CTEST_OUTPUT_ON_FAILURE", .why = "only what it prints"},
    {.name = "CTEST_PARALLEL_LEVEL", .values = Values::number, .why = kJobs},
    {.name = "CMAKE_BUILD_PARALLEL_LEVEL", .values = Values::number, .why = kJobs},
    {.name = "V", .values = Values::listed, .listed = " 0 1 ", .why = "only what it prints"},
    {.name = "VERBOSE", .values = Values::listed, .listed = " 0 1 ", .why = "only what it prints"},
    {.name = "OMP_NUM_THREADS", .values = Values::number, .why = kJobs},
};

bool has_only(std::string_view text, std::string_view letters) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_ascii_alphanumeric(c) || letters.find(c) != std::string_view::npos;
  });
}

bool is_in(std::string_view list, std::string_view word) {
  return !word.empty() && word.find(' ') == std::string_view::npos &&
         list.find(' ' + std::string(word) + ' ') != std::string_view::npos;
}

/// One with UTF-8. Nothing else may look like a part of it: the C library takes "zh_TW@x.UTF-8" for
/// zh_TW with its own encoding, in which a character may end in the byte of a backslash.
bool is_locale(std::string_view value) {
  if (value == "C" || value == "POSIX") return true;
  if (!has_only(value, "_.-") || value.find('.') != value.rfind('.')) return false;
  return value.ends_with(".UTF-8") || value.ends_with(".utf8") || value.ends_with(".UTF8");
}

/// Relative folders below the current one.
bool are_folders(std::string_view value) {
  for (;;) {
    const auto end = value.find(':');
    const std::string_view folder = value.substr(0, end);
    if (folder.empty() || folder.front() == '/' || !has_only(folder, "_.-/")) return false;
    if (folder.find("..") != std::string_view::npos) return false;
    if (end == std::string_view::npos) return true;
    value.remove_prefix(end + 1);
  }
}

bool is_time_zone(std::string_view value) {
  return !value.empty() && value.front() != '/' && has_only(value, "_+-/") &&
         value.find("//") == std::string_view::npos;
}

/// "-D warnings -A dead_code", also "-Dwarnings".
bool are_lints(std::string_view value) {
  while (!value.empty()) {
    if (value.size() < 3 || value[0] != '-') return false;
    if (std::string_view("DWAF").find(value[1]) == std::string_view::npos) return false;
    value.remove_prefix(value[2] == ' ' ? 3 : 2);
    const std::string_view name = value.substr(0, value.find(' '));
    if (name.empty() || !has_only(name, "_:") || name.front() == ':') return false;
    value.remove_prefix(std::min(name.size() + 1, value.size()));
  }
  return true;
}

bool may_be(const HarmlessVariable& variable, std::string_view value) {
  switch (variable.values) {
    case Values::flag:
      return value.empty() || is_in(" 0 1 true false yes no on off ", value);
    case Values::number:
      return !value.empty() && value.size() < 12 &&
             value.find_first_not_of("0123456789") == std::string_view::npos;
    case Values::listed:
      return is_in(variable.listed, value);
    case Values::locale:
      return is_locale(value);
    case Values::name:
      return !value.empty() && value.front() != '.' && has_only(value, "-_.");
    case Values::folders:
      return !value.empty() && are_folders(value);
    case Values::lints:
      return !value.empty() && are_lints(value);
    case Values::time_zone:
      return is_time_zone(value);
  }
  return false;
}

/// "python3.11" → "python3".
std::string_view without_minor(std::string_view name) {
  return name.starts_with("python") ? name.substr(0, name.find('.')) : name;
}

}  // namespace

std::span<const HarmlessVariable> harmless_variables() { return kVariables; }

std::string_view why_not_harmless(std::string_view name, std::string_view value,
                                  std::string_view command) {
  const auto* const row = std::find_if(std::begin(kVariables), std::end(kVariables),
                                       [&](const auto& each) { return each.name == name; });
  if (row == std::end(kVariables))
    return "this variable may change what a program does: leave the assignment out";
  if (!row->programs.empty() && !is_in(row->programs, without_minor(command)))
    return "this variable may make the program load other code: leave the assignment out";
  if (!may_be(*row, value)) return "only plain, usual values of this variable are allowed";
  return "";
}

}  // namespace sortie

#include "policies/shell/shell_string.h"

#include <algorithm>
#include <array>

#include "policies/shell/lookup.h"

namespace sortie {
namespace {

/// Options, word splitting, globs, `cd` and tracing of bash(1) that the environment sets.
constexpr std::array<std::string_view, 13> kChangeReading = {
    "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_COMPAT", "PS4",
    "IFS",       "CDPATH",   "GLOBIGNORE",      "EXECIGNORE",  "BASH_LOADABLES_PATH",
    "OLDPWD",    "HISTFILE", "BASH_XTRACEFD"};

const std::string& value_of(const std::map<std::string, std::string>& variables, const char* name) {
  static const std::string kNone;
  const auto it = variables.find(name);
  return it == variables.end() ? kNone : it->second;
}

/// Whether every byte below 0x80 stands for itself in it, as in ASCII: so it is in UTF-8, but not
/// in some of the encodings of East Asia, where a character may end in the byte of a backslash.
bool is_safe_locale(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name.empty() || name == "c" || name == "posix" ||
         name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

}  // namespace

std::optional<std::string> shell_string(std::span<const std::string> argv,
                                        std::span<const std::filesystem::path> folders) {
  if (argv.size() != 3 || (argv[1] != "-c" && argv[1] != "-lc")) return std::nullopt;
  const std::string_view name = command_name(argv[0], folders);
  const bool known = name == "bash" || name == "sh" || name == "dash" || name == "zsh";
  return known ? std::optional(argv[2]) : std::nullopt;
}

std::vector<std::string> shell_string_argv(std::string script) {
  return {"bash", "--noprofile", "--norc", "-c", std::move(script)};
}

bool starts_shells(const std::string& name, const std::string& value) {
  return name == "BASH_ENV" || name == "ENV" || name.starts_with("BASH_FUNC_") ||
         value.starts_with("() {");
}

std::map<std::string, std::string> shell_string_environment(
    std::map<std::string, std::string> given) {
  std::erase_if(given, [](const auto& variable) {
    return starts_shells(variable.first, variable.second) ||
           std::find(kChangeReading.begin(), kChangeReading.end(), variable.first) !=
               kChangeReading.end();
  });
  const std::string& all = value_of(given, "LC_ALL");
  const std::string& letters = value_of(given, "LC_CTYPE");
  const std::string& locale = !all.empty()       ? all
                              : !letters.empty() ? letters
                                                 : value_of(given, "LANG");
  if (!is_safe_locale(locale)) given["LC_ALL"] = "C.UTF-8";
  return given;
}

}  // namespace sortie

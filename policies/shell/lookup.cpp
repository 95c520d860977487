#include "policies/shell/lookup.h"

#include <algorithm>
#include <system_error>

#include "core/files/path_below.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

bool is_command_letter(char c) {
  return is_ascii_alphanumeric(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

bool is_bare_name(std::string_view word) {
  if (word == "[") return true;
  if (word.empty() || word == "." || word == "..") return false;
  return std::all_of(word.begin(), word.end(), is_command_letter);
}

/// Variables that change options, word splitting, globs, `cd` and tracing of bash(1).
constexpr std::string_view kChangeReading[] = {
    "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_COMPAT", "PS4",
    "IFS",       "CDPATH",   "GLOBIGNORE",      "EXECIGNORE",  "BASH_LOADABLES_PATH",
    "OLDPWD",    "HISTFILE", "BASH_XTRACEFD"};

const std::string& value_of(const std::map<std::string, std::string>& variables, const char* name) {
  static const std::string kNone;
  const auto it = variables.find(name);
  return it == variables.end() ? kNone : it->second;
}

/// Whether every byte below 0x80 is an ASCII character in the locale's encoding: true for UTF-8,
/// not for some East Asian encodings, where a character may end in the byte of a backslash.
bool is_safe_locale(std::string_view locale) {
  const std::string name = ascii_lower(locale);
  if (name.empty() || name == "c" || name == "posix") return true;
  // What follows the dot is the encoding, up to a modifier: "de_DE.UTF-8@euro".
  const auto dot = std::min(name.find_first_of(".@"), name.size());
  const std::string encoding = name.substr(dot, name.find('@', dot) - dot);
  return encoding == ".utf-8" || encoding == ".utf8";
}

}  // namespace

std::string_view base_name(std::string_view word) {
  const auto slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

std::vector<fs::path> lookup_folders(const std::vector<fs::path>& path, const fs::path& workspace) {
  std::vector<fs::path> folders;
  std::vector<fs::path> targets;
  for (const fs::path& entry : path) {
    if (!entry.is_absolute() || is_below(entry.lexically_normal(), workspace)) continue;
    std::string text = entry.lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    folders.emplace_back(text);
    std::error_code missing;
    const fs::path target = fs::canonical(entry, missing);
    if (!missing) targets.push_back(target);
  }
  // Only the system's own links: one in a writable place could be changed later.
  for (const char* known : {"/bin", "/sbin", "/usr/bin", "/usr/sbin"}) {
    std::error_code missing;
    const fs::path target = fs::canonical(known, missing);
    if (!missing && std::find(targets.begin(), targets.end(), target) != targets.end()) {
      folders.emplace_back(known);
    }
  }
  return folders;
}

std::string_view command_name(std::string_view word, std::span<const fs::path> folders) {
  if (is_bare_name(word)) return word;
  if (word.empty() || word.front() != '/') return {};
  const std::string_view name = base_name(word);
  const std::string_view folder = word.substr(0, word.size() - name.size() - 1);
  if (!is_bare_name(name) || name == "[") return {};
  const bool known = std::any_of(folders.begin(), folders.end(),
                                 [&](const fs::path& each) { return each.native() == folder; });
  return known ? name : std::string_view();
}

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
           is_one_of(variable.first, kChangeReading);
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

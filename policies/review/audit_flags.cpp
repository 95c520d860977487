#include "policies/review/audit_flags.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/files/path_below.h"
#include "core/text/pattern.h"
#include "policies/review/audit_words.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using Words = std::span<const std::string>;

constexpr int kMaxDepth = 8;
/// Limit for searched text: flags only inform, so the rest is not searched.
constexpr std::size_t kMaxText = 256u << 10;
constexpr std::size_t kMaxScriptWords = 20'000;
/// A subcommand is among the first words that are not options.
constexpr std::size_t kSubcommandPlaces = 4;

struct CompiledExpression {
  AuditFlag flag;
  Pattern pattern;
};

const std::vector<CompiledExpression>& expressions() {
  static const std::vector<CompiledExpression> compiled = [] {
    std::vector<CompiledExpression> list;
    for (const AuditExpression& each : audit_expressions())
      list.push_back({each.flag, Pattern::expression(each.expression)});
    return list;
  }();
  return compiled;
}

const std::vector<Pattern>& credential_patterns() {
  static const std::vector<Pattern> compiled = [] {
    std::vector<Pattern> list;
    for (const auto glob : credential_names()) list.push_back(Pattern::word_glob(glob));
    return list;
  }();
  return compiled;
}

bool is_address(std::string_view word) {
  static const Pattern address = Pattern::expression(
      R"((https?|ftps?|sftp|ssh|git|rsync|wss?)://[^/\s].*|git@[\w.-]+:.+|[\w.-]+@[\w.-]+\.\w+:.+)");
  return address.matches(word);
}

/// Whether a word of a row is among the arguments, from the non-option `at` on.
bool has_word(std::string_view wanted, Words arguments, std::size_t& at) {
  if (wanted.starts_with("--")) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& word) {
      return word == wanted || word.starts_with(std::string(wanted) + "=");
    });
  }
  if (wanted.starts_with("-")) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& word) {
      if (word == wanted) return true;
      return wanted.size() == 2 && word.size() > 2 && word[0] == '-' && word[1] != '-' &&
             word.find(wanted[1], 1) != std::string::npos;
    });
  }
  if (wanted.ends_with("=")) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const std::string& word) { return word.starts_with(wanted); });
  }
  std::size_t places = 0;
  for (std::size_t i = at; i < arguments.size() && places < kSubcommandPlaces; ++i) {
    if (arguments[i].starts_with("-")) continue;
    ++places;
    if (arguments[i] != wanted) continue;
    at = i + 1;
    return true;
  }
  return false;
}

bool is_called_with(std::string_view with, Words arguments) {
  std::size_t at = 0;
  while (!with.empty()) {
    const std::size_t blank = std::min(with.find(' '), with.size());
    if (!has_word(with.substr(0, blank), arguments, at)) return false;
    with.remove_prefix(std::min(blank + 1, with.size()));
  }
  return true;
}

bool is_text_interpreter(std::string_view name) {
  constexpr std::array<std::string_view, 9> names = {"python", "node", "ruby",  "perl",   "php",
                                                     "lua",    "psql", "mysql", "sqlite3"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view each) { return name.starts_with(each); });
}

void flag_expressions(std::string_view text, AuditFlags& flags) {
  text = text.substr(0, kMaxText);
  for (const CompiledExpression& each : expressions())
    if (flags.count(each.flag) == 0 && each.pattern.find(text)) flags.insert(each.flag);
}

/// Adds the flags of paths and of words that may be paths.
class PathFlags {
 public:
  PathFlags(const fs::path& workspace, const fs::path& workdir, AuditFlags& flags)
      : workspace_(workspace), workdir_(workdir), flags_(flags) {}

  void scan(std::string_view word) {
    if (word.empty() || word.size() > 4096 || word.find('\n') != std::string_view::npos) return;
    if (word.front() == '-') {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) return;
      word.remove_prefix(equals + 1);
    }
    if (word.starts_with("@")) word.remove_prefix(1);  // curl -d @file
    look_at_path(word);
    // `SOURCE:TARGET`, `VARIABLE=path`
    for (const char between : {':', '='}) {
      const std::size_t at = word.find(between);
      if (at == std::string_view::npos || word.find("://") != std::string_view::npos) continue;
      look_at_path(word.substr(0, at));
      look_at_path(word.substr(at + 1));
    }
  }

 private:
  void look_at_path(std::string_view word) {
    if (word.empty()) return;
    const bool home = word == "~" || word.starts_with("~/");
    const fs::path written(word.substr(home ? std::min<std::size_t>(2, word.size()) : 0));
    for (const fs::path& part : written)
      if (any_matches(credential_patterns(), part.native()))
        flags_.insert(AuditFlag::credential_access);
    if (home) return;
    const fs::path whole = (workdir_ / written).lexically_normal();
    if (has_up(written) && !is_in_workspace(whole)) flags_.insert(AuditFlag::path_traversal);
    if ((written.is_absolute() || has_up(written)) && is_system(whole))
      flags_.insert(AuditFlag::system_path);
  }

  static bool has_up(const fs::path& path) {
    return std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
  }

  bool is_in_workspace(const fs::path& path) const {
    return !workspace_.empty() && is_below(path, workspace_);
  }

  bool is_system(const fs::path& path) const {
    if (is_in_workspace(path)) return false;
    if (path == "/") return true;
    const auto lies_in = [&](std::string_view folder) { return is_below(path, folder); };
    const auto harmless = harmless_system_paths();
    if (std::any_of(harmless.begin(), harmless.end(), lies_in)) return false;
    const auto folders = system_folders();
    return std::any_of(folders.begin(), folders.end(), lies_in);
  }

  const fs::path& workspace_;
  const fs::path& workdir_;
  AuditFlags& flags_;
};

/// Adds the flags of a command and of everything that it could run.
class CommandFlags {
 public:
  explicit CommandFlags(AuditFlags& flags, PathFlags* paths = nullptr)
      : flags_(flags), paths_(paths) {}

  void scan(Words argv, int depth = 0) {
    if (argv.empty() || depth > kMaxDepth) return;
    const std::string_view name = base_name(argv[0]);
    look_up(name, argv);
    look_at_words(name, argv);
    if (is_text_interpreter(name))
      for (const std::string& word : argv.subspan(1))
        if (!word.starts_with("-")) flag_expressions(word, flags_);
    for (const Wrapped& wrapped : unwrap(argv)) {
      if (wrapped.argv.empty()) {
        if (!wrapped.loose) look_at_script(wrapped.script, depth + 1);
      } else {
        scan(wrapped.argv, depth + 1);
      }
    }
  }

 private:
  void look_up(std::string_view name, Words argv) {
    if (name.starts_with("mkfs")) flags_.insert(AuditFlag::destructive_command);
    for (const AuditRow& row : audit_rows()) {
      if (row.name != name || flags_.count(row.flag) != 0) continue;
      // `env` without a command prints all variables.
      if (name == "env" && !unwrap(argv).empty()) continue;
      if (name == "rsync" && row.with.empty() && !has_remote(argv)) continue;
      if (is_called_with(row.with, argv.subspan(1))) flags_.insert(row.flag);
    }
  }

  static bool has_remote(Words argv) {
    return std::any_of(argv.begin() + 1, argv.end(), [](const std::string& word) {
      return !word.starts_with("-") && word.find(':') != std::string::npos;
    });
  }

  void look_at_words(std::string_view name, Words argv) {
    const bool text = takes_text(name);
    bool first_operand = true;
    for (const std::string& word : argv.subspan(1)) {
      if (!text && is_address(word)) flags_.insert(AuditFlag::network_access);
      const bool option = word.starts_with("-");
      // The expression of grep and its like, and what echo prints, are not paths.
      const bool is_text = text && !option && (first_operand || name == "echo" || name == "printf");
      if (!option) first_operand = false;
      if (paths_ != nullptr && !is_text && !is_address(word)) paths_->scan(word);
    }
    if (paths_ != nullptr && argv[0].find("..") != std::string::npos) paths_->scan(argv[0]);
  }

  void look_at_script(const std::string& script, int depth) {
    flag_expressions(script, flags_);
    std::vector<std::string> argv;
    std::size_t count = 0;
    for (const LooseWord& word : loose_words(script.substr(0, kMaxText))) {
      if (++count > kMaxScriptWords) break;
      if (word.starts_command && !argv.empty()) {
        scan(argv, depth);
        argv.clear();
      }
      // A computed name is unknown until it runs; a glob in a path is just a glob.
      if (word.starts_command && !word.text.empty() && word.text.front() == kLooseAnything)
        flags_.insert(AuditFlag::obfuscated);
      argv.push_back(printable(word.text));
      if (word.ends_command) {
        scan(argv, depth);
        argv.clear();
      }
    }
    scan(argv, depth);
  }

  static std::string printable(std::string text) {
    std::replace(text.begin(), text.end(), kLooseAnything, '*');
    return text;
  }

  AuditFlags& flags_;
  PathFlags* paths_;
};

/// The strings among a tool's arguments that are short enough to be a path or an address.
void scan_strings(const Json& value, PathFlags& paths, AuditFlags& flags, int depth = 0) {
  if (depth > kMaxDepth) return;
  if (value.is_string() && value.text().size() <= 4096) {
    if (is_address(value.text()))
      flags.insert(AuditFlag::network_access);
    else
      paths.scan(value.text());
  }
  for (const Json& item : value.items()) scan_strings(item, paths, flags, depth + 1);
  for (const auto& member : value.members()) scan_strings(member.second, paths, flags, depth + 1);
}

}  // namespace

AuditFlags audit_flags(const std::vector<Action>& actions, const Json& arguments,
                       const fs::path& workspace) {
  AuditFlags flags;
  bool own_actions = false;
  for (const Action& action : actions) {
    if (const auto* command = std::get_if<RunCommand>(&action)) {
      PathFlags paths(workspace, command->workdir, flags);
      CommandFlags(flags, &paths).scan(command->argv);
      if (command->input)
        CommandFlags(flags, &paths).scan(std::vector<std::string>{"sh", "-c", *command->input});
    } else if (const auto* read = std::get_if<ReadPath>(&action)) {
      PathFlags(workspace, workspace, flags).scan(read->path.native());
    } else if (const auto* write = std::get_if<WritePath>(&action)) {
      PathFlags(workspace, workspace, flags).scan(write->path.native());
    } else {
      continue;
    }
    own_actions = true;
  }
  if (!own_actions) {
    PathFlags paths(workspace, workspace, flags);
    scan_strings(arguments, paths, flags);
  }
  return flags;
}

AuditFlags command_flags(Words argv) {
  AuditFlags flags;
  CommandFlags(flags).scan(argv);
  return flags;
}

Json to_json(const AuditFlags& flags) {
  Json names = Json::array();
  for (const AuditFlag flag : flags) names.push_back(name_of(flag));
  return names;
}

}  // namespace sortie

#include "policies/review/rule_line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/files/path_below.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/review/audit_flags.h"
#include "policies/shell/lookup.h"
#include "policies/shell/plain_wrappers.h"
#include "policies/shell/script.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

/// How many words after the name show what the command does. The longest matching row counts.
struct KeyRow {
  std::string_view words;  ///< name, or name and subcommand
  std::size_t more;        ///< further words that belong to the key
};

constexpr KeyRow kKeys[] = {
    // Subcommands.
    {"bundle", 1},
    {"cargo", 1},
    {"cargo xtask", 1},
    {"composer", 1},
    {"conda", 1},
    {"deno", 1},
    {"docker", 1},
    {"docker compose", 1},
    {"dotnet", 1},
    {"gh", 2},
    {"git", 1},
    {"git bisect", 1},
    {"git notes", 1},
    {"git remote", 1},
    {"git stash", 1},
    {"git submodule", 1},
    {"git worktree", 1},
    {"go", 1},
    {"go mod", 1},
    {"go tool", 1},
    {"helm", 1},
    {"kubectl", 1},
    {"mix", 1},
    {"npm", 1},
    {"npm run", 1},
    {"pip", 1},
    {"pip3", 1},
    {"pnpm", 1},
    {"pnpm run", 1},
    {"poetry", 1},
    {"rustup", 1},
    {"terraform", 1},
    {"uv", 1},
    {"yarn", 1},
    {"yarn run", 1},
    // Arguments only change which files they work on.
    {"black", 0},
    {"clang-format", 0},
    {"clang-tidy", 0},
    {"cpplint", 0},
    {"ctest", 0},
    {"eslint", 0},
    {"flake8", 0},
    {"g++", 0},
    {"gcc", 0},
    {"isort", 0},
    {"javac", 0},
    {"jest", 0},
    {"mkdir", 0},
    {"mypy", 0},
    {"pylint", 0},
    {"pytest", 0},
    {"ruff", 0},
    {"rustc", 0},
    {"rustfmt", 0},
    {"shellcheck", 0},
    {"touch", 0},
    {"tsc", 0},
    {"vitest", 0},
};

/// They run their arguments: only the whole command shows what it does.
constexpr std::array<std::string_view, 13> kRunners = {
    "bundle exec", "cargo run",  "deno eval", "deno run",     "docker exec",
    "docker run",  "git config", "go run",    "kubectl exec", "npm exec",
    "pnpm dlx",    "pnpm exec",  "poetry run"};

/// Interpreters, with the short options that are followed by the text of a program.
struct InterpreterRow {
  std::string_view name;
  std::string_view code_options;
  std::string_view long_options;  ///< separated by blanks
};
constexpr InterpreterRow kInterpreters[] = {
    {"python", "c", ""},
    {"python2", "c", ""},
    {"python3", "c", ""},
    {"pypy3", "c", ""},
    {"node", "ep", " eval print "},
    {"nodejs", "ep", " eval print "},
    {"bun", "ep", " eval print "},
    {"ruby", "e", ""},
    {"perl", "eE", ""},
    {"php", "rBRE", " run process-begin process-code process-end "},
    {"lua", "e", ""},
    {"Rscript", "e", ""},
    {"R", "e", ""},
    {"tclsh", "c", ""},
    {"osascript", "e", ""},
    {"ghc", "e", ""},
    {"groovy", "e", ""},
    {"scala", "e", ""},
    {"julia", "eE", " eval print "},
    {"elixir", "e", " eval "},
    {"awk", "", ""},
    {"gawk", "e", " source "},
    {"mawk", "", ""},
    {"nawk", "", ""},
    {"sqlite3", "", ""},
    {"psql", "c", " command "},
    {"mysql", "e", " execute "},
    {"ed", "", ""},
    {"ex", "c", ""},
    {"vi", "c", ""},
    {"vim", "c", ""},
    {"emacs", "", " eval "},
};

bool is_plain_word(std::string_view word) {
  if (word.empty() || word.front() < 'a' || word.front() > 'z') return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == ':' || c == '_';
  });
}

std::string_view without_version(std::string_view name) {
  const std::size_t dot = name.find('.');
  return name.starts_with("python") && dot != std::string_view::npos ? name.substr(0, dot) : name;
}

/// Whether an interpreter gets its program as text: in an option or on stdin.
bool is_given_text(const InterpreterRow& row, Words argv) {
  bool file = false;
  for (const std::string& word : argv.subspan(1)) {
    if (word == "-") return true;
    if (word.size() < 2 || word.front() != '-') {
      file = true;
      break;  // arguments after the script belong to it
    }
    if (word.starts_with("--")) {
      const std::string name = word.substr(
          2, word.find('=') == std::string::npos ? std::string::npos : word.find('=') - 2);
      if (row.long_options.find(' ' + name + ' ') != std::string_view::npos) return true;
      if (name == "version" || name == "help") return false;
      continue;
    }
    if (row.name.starts_with("py") && word == "-m") return false;
    if (word.find_first_of(row.code_options, 1) != std::string::npos) return true;
    if (word == "-V" || word == "-v" || word == "-h") return false;
  }
  // An awk's first operand is its program.
  return !file || row.name.ends_with("awk");
}

bool runs_text(std::string_view name, Words argv) {
  const std::string_view plain = without_version(name);
  for (const InterpreterRow& row : kInterpreters)
    if (row.name == plain && is_given_text(row, argv)) return true;
  return false;
}

std::string first_words(Words argv, std::size_t count) {
  std::string text;
  for (const std::string& word : argv.first(std::min(count, argv.size())))
    text += (text.empty() ? "" : " ") + word;
  return text;
}

bool runs_what_follows(Words argv) {
  const std::string two = first_words(argv, 2);
  return std::find(kRunners.begin(), kRunners.end(), two) != kRunners.end();
}

/// The length of a prefix key; nothing if only the whole argv will do.
std::optional<std::size_t> prefix_length(Words argv) {
  if (runs_what_follows(argv)) return std::nullopt;
  for (const std::size_t length : {2u, 1u}) {
    if (argv.size() < length) continue;
    const std::string words = first_words(argv, length);
    for (const KeyRow& row : kKeys) {
      if (row.words != words) continue;
      if (argv.size() < length + row.more) return std::nullopt;
      for (std::size_t i = 0; i < row.more; ++i)
        if (!is_plain_word(argv[length + i])) return std::nullopt;
      return length + row.more;
    }
  }
  return std::nullopt;
}

Json words_json(Words words) {
  Json array = Json::array();
  for (const std::string& word : words) array.push_back(word);
  return array;
}

/// Flagged commands are named in full: a rule for `git push` allows more than `git push origin
/// topic`.
bool is_flagged(Words argv) { return !command_flags(argv).empty(); }

Json command_approval(const std::vector<std::string>& argv, const std::string& workdir) {
  const auto key = command_key(argv);
  if (key && !key->exact) return Json::object({{"prefix", words_json(key->words)}});
  return Json::object({{"argv", words_json(argv)}, {"workdir", workdir}});
}

std::vector<Json> command_keys(const RunCommand& command, const Engine& engine) {
  const std::string workdir = command.workdir.string();
  Json whole = Json::object({{"argv", words_json(command.argv)}, {"workdir", workdir}});
  if (command.input) {  // typed input differs from the command
    whole.set("input", *command.input);
    return {whole};
  }
  if (command.argv.empty()) return {whole};
  if (is_shell(command.argv[0]) || read_shell_call(command.argv).script) {
    const auto script = script_commands(command, engine);
    if (!script || !script->plain) return {whole};
    std::vector<Json> keys;
    for (const auto& argv : script->commands) {
      const Decision alone = engine.decide(RunCommand{.argv = argv, .workdir = command.workdir});
      if (alone.effect == Effect::allow && !alone.audited) continue;
      Json key = command_approval(argv, workdir);
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    }
    // Each is allowed but not all together: the whole matters.
    return keys.empty() ? std::vector<Json>{whole} : keys;
  }
  return {command_approval(command.argv, workdir)};
}

/// Collects the lines by key, each entry once.
class Lines {
 public:
  explicit Lines(const Engine& engine) : engine_(engine) {}

  bool add(const Action& action) {
    if (const auto* command = std::get_if<RunCommand>(&action)) return add_command(*command);
    if (const auto* read = std::get_if<ReadPath>(&action))
      return add_path("read", engine_.policy().read, written(read->path));
    if (const auto* write = std::get_if<WritePath>(&action))
      return add_path("write", engine_.policy().write, written(write->path));
    const std::string& tool = std::get<CallTool>(action).name;
    if (!can_be_written({tool}) || tool.find_first_of("*?[\\") != std::string::npos) return false;
    add_rule(tools_, Json::array({tool}));
    return true;
  }

  Json lines() const {
    Json json = Json::object();
    if (!commands_.items().empty()) json.set("commands", commands_);
    if (!tools_.items().empty()) json.set("tools", tools_);
    if (!paths_.members().empty()) json.set("paths", paths_);
    return json.members().empty() ? Json() : json;
  }

 private:
  static void add_rule(Json& rules, Json names) {
    Json rule = Json::object({{"allow", std::move(names)}});
    const auto& items = rules.items();
    if (std::find(items.begin(), items.end(), rule) == items.end())
      rules.push_back(std::move(rule));
  }

  bool add_argv(const std::vector<std::string>& argv) {
    // A rule on what `timeout 60` runs holds behind it too.
    Words inner = argv;
    while (const auto length = plain_wrapper(inner, inner.size())) inner = inner.subspan(*length);
    const auto key = command_key(inner);
    if (!key || !can_be_written(key->words)) return false;
    Json words = Json::array();
    for (const std::string& word : key->words) words.push_back(word);
    add_rule(commands_, std::move(words));
    return true;
  }

  bool add_command(const RunCommand& command) {
    if (command.input) return false;  // no rule applies to typed input
    const auto script = script_commands(command, engine_);
    if (!script) return add_argv(command.argv);
    bool any = false;
    for (const auto& argv : script->commands) {
      const Decision alone = engine_.decide(RunCommand{.argv = argv, .workdir = command.workdir});
      const bool allowed = alone.effect == Effect::allow && !alone.audited;
      if (allowed || argv.front() == "cd") continue;
      if (!alone.unmatched || !add_argv(argv)) return false;
      any = true;
    }
    return any;
  }

  /// A list of paths replaces the default, so it has to repeat the default's paths.
  bool add_path(const char* list, const std::vector<std::string>& held, const std::string& path) {
    if (!can_be_written({path}) || path.find_first_of("*?[\\") != std::string::npos) return false;
    if (paths_.find(list) == nullptr) paths_.set(list, Json::array());
    Json& paths = *paths_.find(list);
    for (const std::string& one : held) add_text(paths, one);
    add_text(paths, path);
    return true;
  }

  /// The path as in a policy: relative in the workspace, absolute elsewhere.
  std::string written(const std::filesystem::path& path) const {
    const auto whole = (engine_.workspace() / path).lexically_normal();
    return path_below(whole, engine_.workspace()).value_or(whole).string();
  }

  static void add_text(Json& texts, const std::string& text) {
    const auto& items = texts.items();
    if (std::find(items.begin(), items.end(), Json(text)) == items.end()) texts.push_back(text);
  }

  const Engine& engine_;
  Json commands_ = Json::array();
  Json tools_ = Json::array();
  Json paths_ = Json::object();
};

}  // namespace

std::optional<CommandKey> command_key(Words argv) {
  if (argv.empty() || argv[0].empty()) return std::nullopt;
  const std::string_view name = base_name(argv[0]);
  if (is_shell(argv[0]) || is_wrapper(name) || name == "pkexec" || name == "su" ||
      name == "runuser" || name == "source" || name == "." || runs_text(name, argv))
    return std::nullopt;
  // A path that is not a command name needs a script rule, or none at all.
  if (command_name(argv[0], {}) != argv[0] && argv[0].front() != '/') return std::nullopt;
  CommandKey key{.words = {argv.begin(), argv.end()}, .exact = true};
  if (argv[0].front() == '/' || is_flagged(argv)) return key;
  if (const auto length = prefix_length(argv)) {
    key.words.resize(*length);
    key.exact = false;
  }
  return key;
}

std::optional<ScriptCommands> script_commands(const RunCommand& command, const Engine& engine) {
  const auto reading = engine.read(command);
  if (!reading || reading->refused || reading->commands.empty()) return std::nullopt;
  ScriptCommands script;
  for (const SimpleCommand& simple : reading->commands) {
    std::vector<std::string> words;
    for (const ScriptWord& word : simple.words) {
      words.push_back(word.text);
      script.plain = script.plain && !word.glob;
    }
    for (const ScriptRedirection& redirection : simple.redirections)
      script.plain = script.plain && redirection.kind != ScriptRedirection::Kind::input &&
                     redirection.kind != ScriptRedirection::Kind::text;
    script.plain = script.plain && words.front() != "cd" && simple.assignments.empty();
    script.commands.push_back(std::move(words));
  }
  return script;
}

std::vector<Json> approval_keys(const Action& action, const Engine& engine) {
  if (const auto* command = std::get_if<RunCommand>(&action)) return command_keys(*command, engine);
  if (const auto* read = std::get_if<ReadPath>(&action))
    return {Json::object({{"read", read->path.string()}})};
  if (const auto* write = std::get_if<WritePath>(&action))
    return {Json::object({{"write", write->path.string()}})};
  return {Json::object({{"tool", std::get<CallTool>(action).name}})};
}

bool can_be_written(const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [](const std::string& word) {
    return !word.empty() && word.size() <= 4096 && is_utf8(word) &&
           std::none_of(word.begin(), word.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  });
}

Json lines_that_allow(const std::vector<Action>& actions, const Engine& engine) {
  Lines lines(engine);
  for (const Action& action : actions)
    if (!lines.add(action)) return {};
  return lines.lines();
}

}  // namespace sortie

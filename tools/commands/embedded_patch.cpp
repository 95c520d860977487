#include "tools/commands/embedded_patch.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/script.h"
#include "policies/shell/wrappers.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

bool is_empty(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Takes a word: characters without special meaning to a shell, or one quoted string.
std::optional<std::string> take_word(std::string_view& text) {
  skip_blanks(text);
  if (!text.empty() && (text.front() == '\'' || text.front() == '"')) {
    const char quote = text.front();
    const std::size_t end = text.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string word(text.substr(1, end - 1));
    if (quote == '"' && word.find_first_of("$`\\") != std::string::npos) return std::nullopt;
    text.remove_prefix(end + 1);
    return word;
  }
  const std::size_t end = std::min(text.find_first_of(" \t\n'\"$`\\;&|<>(){}*?[~!#"), text.size());
  if (end == 0) return std::nullopt;
  std::string word(text.substr(0, end));
  text.remove_prefix(end);
  return word;
}

bool take(std::string_view& text, std::string_view what) {
  skip_blanks(text);
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

bool is_name(std::string_view word) { return word == "apply_patch" || word == "applypatch"; }

bool is_shell(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  return name == "sh" || name == "bash" || name == "dash" || name == "zsh";
}

/// `WORD NL … NL WORD`, followed only by blanks.
std::optional<std::string> take_document(std::string_view script, bool without_tabs) {
  const auto word = take_word(script);
  skip_blanks(script);
  if (!word || word->empty() || !take(script, "\n")) return std::nullopt;
  std::string body;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    while (without_tabs && line.starts_with('\t')) line.remove_prefix(1);
    if (line != *word) {
      body.append(line).push_back('\n');
      continue;
    }
    if (!is_empty(script)) return std::nullopt;
    return body;
  }
  return std::nullopt;
}

/// `apply_patch <<'EOF' …`, `apply_patch <<-EOF …` or `apply_patch '…'`.
std::optional<std::string> take_call(std::string_view script) {
  const auto name = take_word(script);
  if (!name || !is_name(*name)) return std::nullopt;
  if (take(script, "<<")) {
    const bool without_tabs = script.starts_with('-');
    if (without_tabs) script.remove_prefix(1);
    return take_document(script, without_tabs);
  }
  skip_blanks(script);
  const bool quoted = script.starts_with('\'') || script.starts_with('"');
  auto patch = quoted ? take_word(script) : std::nullopt;
  if (!patch || !is_empty(script)) return std::nullopt;
  return patch;
}

std::optional<EmbeddedPatch> find_in_script(std::string_view script) {
  while (!script.empty() && (is_blank(script.front()) || script.front() == '\n'))
    script.remove_prefix(1);
  EmbeddedPatch found;
  std::string_view rest = script;
  if (const auto word = take_word(rest); word && *word == "cd") {
    const auto folder = take_word(rest);
    if (!folder || folder->empty() || folder->starts_with('-') || !take(rest, "&&"))
      return std::nullopt;
    found.folder = *folder;
    skip_blanks(rest);
    if (rest.starts_with('\n')) rest.remove_prefix(1);  // `&&` may be followed by a newline
    script = rest;
  }
  auto patch = take_call(script);
  if (!patch) return std::nullopt;
  found.patch = std::move(*patch);
  return found;
}

/// The script of a shell command; nothing for other commands.
std::optional<std::string> script_of(const std::vector<std::string>& argv) {
  if (argv.size() != 3 || !is_shell(argv[0])) return std::nullopt;
  if (argv[1] != "-c" && argv[1] != "-lc") return std::nullopt;
  return argv[2];
}

/// A patch given as a command: a shell would not apply it, but run its lines as commands.
bool is_bare_patch(std::string_view text) {
  while (!text.empty() && is_empty(text.substr(0, 1))) text.remove_prefix(1);
  while (!text.empty() && is_empty(text.substr(text.size() - 1))) text.remove_suffix(1);
  return text.starts_with("*** Begin Patch\n") && text.ends_with("\n*** End Patch");
}

/// Whether a command, or some command of a script, has the name of the tool.
bool calls_apply_patch(const std::vector<std::string>& argv) {
  if (argv.empty()) return false;
  if (is_name(argv[0])) return true;
  const auto script = sortie::is_shell(argv[0]) ? read_shell_call(argv).script : std::nullopt;
  if (!script) return false;
  const ScriptReading reading = read_script(*script);
  if (!reading.refused)
    return std::any_of(reading.commands.begin(), reading.commands.end(),
                       [](const SimpleCommand& each) { return is_name(each.words[0].text); });
  const auto words = loose_words(*script);
  return std::any_of(words.begin(), words.end(), [](const LooseWord& word) {
    return word.starts_command && !word.quoted && is_name(word.text);
  });
}

}  // namespace

std::optional<EmbeddedPatch> find_embedded_patch(const std::vector<std::string>& argv) {
  if (argv.size() == 2 && is_name(argv[0])) return EmbeddedPatch{argv[1]};
  const auto script = script_of(argv);
  return script ? find_in_script(*script) : std::nullopt;
}

Json embedded_patch_arguments(const std::vector<std::string>& argv,
                              const std::filesystem::path& workdir,
                              const std::filesystem::path& workspace) {
  const auto script = argv.size() == 1 ? std::optional(argv[0]) : script_of(argv);
  if (script && is_bare_patch(*script))
    throw ToolError("The command is a bare patch. Call the tool apply_patch with it instead.");
  const auto found = find_embedded_patch(argv);
  if (!found && calls_apply_patch(argv))
    throw ToolError(
        "Nothing was run: apply_patch is a tool, not a program that a script can call. Call the tool "
        "apply_patch, then send the other commands as a call of their own. (A script that is only "
        "`cd FOLDER && apply_patch <<'EOF'` with its patch is taken as that tool.)");
  if (!found) return {};
  const auto folder = workspace_path(found->folder, workspace, workdir);
  return Json::object({{"input", found->patch}, {"workdir", folder.string()}});
}

}  // namespace sortie

#include "tools/apply_patch.h"

#include "core/base/error.h"
#include "tools/patch/applier.h"
#include "tools/patch/parser.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr const char* kDescription =
    "Edits files of the workspace by a patch: '*** Begin Patch', then sections '*** Add File: "
    "PATH' "
    "(lines that begin with '+'), '*** Delete File: PATH' or '*** Update File: PATH' (optionally "
    "'*** Move to: PATH', then chunks: '@@' or '@@ LINE BEFORE THE CHUNK', then lines that begin "
    "with ' ' for context, '-' to remove, '+' to add; '*** End of File' where a chunk ends the "
    "file), and '*** End Patch'. Three lines of context are enough. All of the patch is applied or "
    "nothing.";

/// Lark, as providers take it for custom tools.
constexpr const char* kGrammar = R"(start: "*** Begin Patch" NL section+ "*** End Patch" NL?

section: add | delete | update
add: "*** Add File: " PATH NL ("+" TEXT NL)+
delete: "*** Delete File: " PATH NL
update: "*** Update File: " PATH NL move? chunk+
move: "*** Move to: " PATH NL

chunk: heading? line+ ending?
heading: "@@" (" " PATH)? NL
line: (" " | "+" | "-") TEXT NL
ending: "*** End of File" NL

PATH: /[^\n]+/
TEXT: /[^\n]*/
NL: /\n/
)";

constexpr const char* kParameters = R"({
  "type": "object",
  "properties": {"input": {"type": "string", "description": "The whole patch."}},
  "required": ["input"],
  "additionalProperties": false
})";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// Takes a word: bare letters without any meaning to a shell, or one pair of quotes.
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

/// `apply_patch <<'EOF' NL … NL EOF`, and nothing after it but blanks.
std::optional<std::string> take_heredoc(std::string_view script) {
  const auto name = take_word(script);
  if (!name || !is_name(*name) || !take(script, "<<")) return std::nullopt;
  const auto word = take_word(script);
  skip_blanks(script);
  if (!word || word->empty() || !take(script, "\n")) return std::nullopt;
  std::string body;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (line != *word) {
      body.append(line).push_back('\n');
      continue;
    }
    if (script.find_first_not_of(" \t\r\n") != std::string_view::npos) return std::nullopt;
    return body;
  }
  return std::nullopt;
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
    script = rest;
  }
  auto patch = take_heredoc(script);
  if (!patch) return std::nullopt;
  found.patch = std::move(*patch);
  return found;
}

patch::Place place_of(const Json& arguments, const std::filesystem::path& workspace,
                      const std::function<bool(const std::filesystem::path&)>& refused) {
  const auto folder = workspace_path(arguments.string_at("workdir"), workspace);
  return {.root = workspace,
          .folder = folder == "." ? std::filesystem::path() : folder,
          .refused = refused};
}

FileChange to_change(const patch::FileEffect& effect) {
  const char* kind = effect.letter == 'A'         ? "add"
                     : effect.letter == 'D'       ? "delete"
                     : !effect.moved_from.empty() ? "move"
                                                  : "update";
  return {.path = effect.path.string(),
          .kind = kind,
          .moved_from = effect.moved_from.string(),
          .mode = effect.mode,
          .sha256_before = effect.sha256_before,
          .sha256_after = effect.sha256_after};
}

}  // namespace

ApplyPatch::ApplyPatch(Files& files, std::filesystem::path workspace,
                       std::function<bool(const std::filesystem::path&)> refused)
    : files_(files), workspace_(std::move(workspace)), refused_(std::move(refused)) {
  spec_.name = "apply_patch";
  spec_.description = kDescription;
  spec_.form = ToolCall::Form::custom;
  spec_.parameters = parse_json(kParameters);
  spec_.grammar = kGrammar;
}

std::vector<Action> ApplyPatch::actions(const Json& arguments) const {
  const auto hunks = patch::parse_patch(arguments.string_at("input"));
  std::vector<Action> actions;
  for (const auto& path :
       patch::touched_paths(hunks, files_, place_of(arguments, workspace_, refused_)))
    actions.push_back(WritePath{path});
  return actions;
}

ToolResult ApplyPatch::run(const Json& arguments, std::stop_token) {
  const auto applied = patch::apply_patch(arguments.string_at("input"), files_,
                                          place_of(arguments, workspace_, refused_));
  ToolResult result;
  result.text = applied.text;
  for (const auto& effect : applied.effects) {
    result.changed_files.push_back(effect.letter + (" " + effect.path.string()));
    result.file_changes.push_back(to_change(effect));
  }
  return result;
}

std::optional<EmbeddedPatch> find_embedded_patch(const std::vector<std::string>& argv) {
  if (argv.size() == 2 && is_name(argv[0])) return EmbeddedPatch{argv[1]};
  const bool script =
      argv.size() == 3 && (argv[1] == "-c" || argv[1] == "-lc") &&
      (argv[0] == "sh" || argv[0] == "bash" || argv[0] == "dash" || argv[0] == "zsh");
  if (!script) return std::nullopt;
  return find_in_script(argv[2]);
}

}  // namespace sortie

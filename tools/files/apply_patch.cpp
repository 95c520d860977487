#include "tools/files/apply_patch.h"

#include "core/base/error.h"
#include "tools/patch/parser.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr const char* kDescription =
    "Edits files in the workspace with a patch: '*** Begin Patch', then sections "
    "'*** Add File: PATH' (lines starting with '+'), '*** Delete File: PATH' or "
    "'*** Update File: PATH' (optionally '*** Move to: PATH', then chunks: '@@' or "
    "'@@ LINE BEFORE THE CHUNK', then lines starting with ' ' for context, '-' to remove, '+' to "
    "add; '*** End of File' if a chunk ends the file), and '*** End Patch'. Three lines of context "
    "are enough. The patch is applied completely or not at all.";

/// A Lark grammar, the form in which providers accept one for custom tools.
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

FileChange to_change(const patch::FileEffect& effect) {
  const ChangeKind kind = effect.letter == 'A'         ? ChangeKind::add
                          : effect.letter == 'D'       ? ChangeKind::remove
                          : !effect.moved_from.empty() ? ChangeKind::move
                                                       : ChangeKind::update;
  return {.path = effect.path.string(),
          .kind = kind,
          .moved_from = effect.moved_from.string(),
          .mode = effect.mode,
          .sha256_before = effect.sha256_before,
          .sha256_after = effect.sha256_after};
}

}  // namespace

ApplyPatch::ApplyPatch(Files& files, std::filesystem::path workspace,
                       std::function<bool(const std::filesystem::path&)> refused,
                       HiddenPaths hidden)
    : files_(files),
      workspace_(std::move(workspace)),
      refused_(std::move(refused)),
      hidden_(std::move(hidden)) {
  spec_.name = "apply_patch";
  spec_.description = kDescription;
  spec_.form = ToolCall::Form::custom;
  spec_.parameters = parse_json(kParameters);
  spec_.grammar = kGrammar;
}

patch::Place ApplyPatch::place_of(const Json& arguments) const {
  const auto folder = workspace_path(arguments.string_at("workdir"), workspace_);
  return {.root = workspace_,
          .folder = folder == "." ? std::filesystem::path() : folder,
          .refused = refused_,
          .hint = [this](const auto& path) { return path_hint(files_, path, hidden_); }};
}

std::vector<Action> ApplyPatch::actions(const Json& arguments) const {
  const auto hunks = patch::parse_patch(arguments.string_at("input"));
  std::vector<Action> actions;
  for (const auto& path : patch::touched_paths(hunks, files_, place_of(arguments)))
    actions.push_back(WritePath{path});
  return actions;
}

ToolResult ApplyPatch::run(const Json& arguments, std::stop_token stop) {
  patch::Place place = place_of(arguments);
  place.stop = std::move(stop);
  const auto applied = patch::apply_patch(arguments.string_at("input"), files_, place);
  ToolResult result;
  result.text = applied.text;
  for (const auto& effect : applied.effects) {
    result.changed_files.push_back(effect.letter + (" " + effect.path.string()));
    result.file_changes.push_back(to_change(effect));
  }
  return result;
}

}  // namespace sortie

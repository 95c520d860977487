#include "app/commands/habits.h"

#include <array>
#include <string_view>

namespace sortie {
namespace {

struct Habit {
  std::string_view word;
  const char* instead;
};

constexpr const char* kPrompt =
    "'sortie run -p PROMPT'; the final message is printed on stdout; or 'sortie run TASK.yaml' with "
    "the prompt as the task's 'prompt:'";
constexpr const char* kAllowAll =
    "--policy auto: every command, inside the sandbox; --policy unsandboxed: without one";
constexpr const char* kAllowAllHere =
    "--policy auto --apply: every command, inside the sandbox, and the changes are written into the "
    "folder";
constexpr const char* kNoSandbox =
    "--policy auto --apply keeps the sandbox; --policy unsandboxed --apply has none";
constexpr const char* kPermissionMode =
    "for plan and manual --policy review: nothing can be changed; for acceptEdits --policy strict; "
    "for bypassPermissions --policy auto; for dontAsk nothing: what is not allowed is denied";
constexpr const char* kAllowedTools =
    "rules of the policy: 'commands: [{allow: …}]', 'tools: [{allow: […]}]'";
constexpr const char* kDeniedTools =
    "rules of the policy: 'commands: [{deny: …}]', 'tools: [{deny: […]}]'";
constexpr const char* kInstructions = "'instructions:' in the task";
constexpr const char* kOwnInstructions =
    "'instructions:' with 'instructions_replace: true' in the task";
constexpr const char* kSandbox =
    "for read-only --policy review; for workspace-write --policy auto; what it changes is the diff, "
    "and --apply writes it; for danger-full-access --policy unsandboxed";
constexpr const char* kOutputFormat =
    "for text the default; for json 'sortie-out/result.json', with status, cost and usage; the "
    "message is in 'last-message.txt'; for stream-json --json, with other events";
constexpr const char* kNobodyAsked =
    "not needed: nobody is ever asked; the policy decides (--policy, --approval)";
constexpr const char* kAgain =
    "the same command again with the same --out goes on with what was cut off; a finished run takes "
    "no second prompt, but a thread of 'sortie exec' does";
constexpr const char* kSettings =
    "a task and a policy hold all settings: 'sortie schema task', 'sortie schema policy'";
constexpr const char* kNothingRead = "not needed: nothing else is read";
constexpr const char* kServers = "'tools: {mcp: …}' in the task";
constexpr const char* kSignIn =
    "the key in its variable (OPENAI_API_KEY, ANTHROPIC_API_KEY …), or --auth-file of a sign-in of "
    "codex; nothing is kept";
constexpr const char* kStages = "'stages:' in the task, each with its own prompt, tools and model";
constexpr const char* kNoTrust =
    "not needed: no folder has to be trusted, and nobody is ever asked; --policy auto allows every "
    "command";
constexpr const char* kSchema = "'output: {schema: FILE}' in the task";

/// Flags and commands of Claude Code, codex, Gemini CLI, aider, opencode and others; in the words of
/// docs/migration.md, which a test compares.
constexpr auto kHabits = std::to_array<Habit>({
    {"-p", kPrompt},
    {"--print", kPrompt},
    {"--prompt", kPrompt},
    {"--message", kPrompt},
    {"--yolo", kNoSandbox},
    {"-y", kAllowAll},
    {"--yes", kAllowAll},
    {"--yes-always", kAllowAll},
    {"--auto-approve", kAllowAll},
    {"--full-auto", kAllowAllHere},
    {"--dangerously-skip-permissions", kAllowAll},
    {"--dangerously-bypass-approvals-and-sandbox", kNoSandbox},
    {"--skip-permissions", kAllowAll},
    {"--permission-mode", kPermissionMode},
    {"--approval-mode", "--approval full-auto, deny-by-default or audit"},
    {"--ask-for-approval", kNobodyAsked},
    {"-a", kNobodyAsked},
    {"--output-format", kOutputFormat},
    {"--input-format",
     "none: a run has one prompt, or the stages of its task; --var and --var-file fill it, and "
     "{{stdin}} takes a pipe"},
    {"--stream-json", "--json, with other events"},
    {"--allowedTools", kAllowedTools},
    {"--allowed-tools", kAllowedTools},
    {"--disallowedTools", kDeniedTools},
    {"--disallowed-tools", kDeniedTools},
    {"--tools", "'tools: {enable: […]}' in the task"},
    {"--sandbox", kSandbox},
    {"-s", kSandbox},
    {"--system-prompt", kOwnInstructions},
    {"--append-system-prompt", kInstructions},
    {"--add-dir", "'paths: {read: […], write: […]}' of the policy"},
    {"--mcp-config", kServers},
    {"--mcp", kServers},
    {"--output-schema", kSchema},
    {"--json-schema", kSchema},
    {"--image", "'images: [FILE]' in the task"},
    {"-i", "'images: [FILE]' in the task; the prompt is 'sortie run -p PROMPT'"},
    {"--continue", kAgain},
    {"--resume", kAgain},
    {"-c", "keys of the task and the policy; the same command again goes on"},
    {"-r", kAgain},
    {"--session-id", kAgain},
    {"--fork-session", kAgain},
    {"--config", "keys of the task and the policy"},
    {"--profile", "a task file each; here -p is the prompt"},
    {"--settings", kSettings},
    {"--setting-sources", kNothingRead},
    {"--strict-mcp-config", kNothingRead},
    {"--system-prompt-file", kOwnInstructions},
    {"--append-system-prompt-file", kInstructions},
    {"--include-partial-messages", "none: events are whole"},
    {"--effort", "'model: {effort: …}' in the task"},
    {"--oss", "--provider local --model NAME"},
    {"--local-provider", "--provider local --model NAME"},
    {"--ephemeral", "--out with a folder that you remove"},
    {"--no-session-persistence", "--out with a folder that you remove"},
    {"--task-budget", "--max-tokens N, of the whole run"},
    {"--permission-prompts", kNobodyAsked},
    {"--bare", kNothingRead},
    {"--safe-mode", kNothingRead},
    {"--ignore-user-config", kNothingRead},
    {"--ignore-rules", kNothingRead},
    {"--agents", kStages},
    {"--agent", kStages},
    {"--worktree", "not needed: the work is done in an overlay, and the result is a diff"},
    {"--trust", kNoTrust},
    {"--approve-for-me", kNoTrust},
    {"--permission-prompt-tool", "'approver:' of the policy, a program of yours that decides"},
    {"--cwd", "-C DIR, or --cd DIR"},
    {"--max-budget-usd", "--max-cost USD"},
    {"--api-key",
     "--api-key-file FILE, --api-key-fd N or the provider's variable: a command line can "
     "be read by others"},
    {"--skip-git-repo-check", "not needed: a folder without git is fine"},
    {"login", kSignIn},
    {"logout", kSignIn},
    {"--with-api-key", kSignIn},
    {"review", "'sortie exec review', or a task with --policy review"},
    {"resume", "'sortie exec resume'"},
    {"apply", "'git apply' with the run's changes.diff, or 'sortie land RUN'"},
    {"mcp", kServers},
    {"--max-turns", "'sortie run --max-turns N'"},
    {"--model", "'sortie run --model NAME'"},
    {"-m", "'sortie run --model NAME'"},
    {"--remote", "not needed: a turn runs in this process; a server of models is --base-url"},
    {"--remote-auth-token-env", "not needed: a turn runs in this process"},
    {"--fallback-model", "'model: {fallback: […]}' in the task"},
});

constexpr const char* kExecPrompt =
    "the prompt as an argument: 'sortie exec PROMPT'; here -p is a profile";
constexpr const char* kExecAllowAll =
    "-s workspace-write: every command, inside the sandbox; -s danger-full-access: without one";
constexpr const char* kExecMode =
    "for plan and manual the default, -s read-only; for acceptEdits and bypassPermissions -s "
    "workspace-write";
constexpr const char* kExecAllow =
    "rules of a policy: --policy FILE with 'commands: [{allow: …}]', 'tools: [{allow: […]}]'";
constexpr const char* kExecDeny =
    "rules of a policy: --policy FILE with 'commands: [{deny: …}]', 'tools: [{deny: […]}]'";
constexpr const char* kExecInstructions =
    "AGENTS.md in the folder; or 'instructions:' of a task, for 'sortie run'";
constexpr const char* kExecServers = "-c mcp_servers.NAME.command=…";
constexpr const char* kExecResume = "'sortie exec resume ID PROMPT'";

/// What differs for `exec`, which has threads, and flags of its own.
constexpr auto kExecHabits = std::to_array<Habit>({
    {"--print", kExecPrompt},
    {"--prompt", kExecPrompt},
    {"--message", kExecPrompt},
    {"--output-format",
     "for text the default; for json --out DIR, whose 'result.json' has status, cost and usage; for "
     "stream-json --json, with other events"},
    {"--input-format", "none: stdin is text, and belongs to the prompt"},
    {"--json-schema", "--output-schema FILE"},
    {"--dangerously-skip-permissions", kExecAllowAll},
    {"--skip-permissions", kExecAllowAll},
    {"--auto-approve", kExecAllowAll},
    {"-y", kExecAllowAll},
    {"--yes", kExecAllowAll},
    {"--yes-always", kExecAllowAll},
    {"--permission-mode", kExecMode},
    {"--approval-mode", kExecMode},
    {"--allowedTools", kExecAllow},
    {"--allowed-tools", kExecAllow},
    {"--disallowedTools", kExecDeny},
    {"--disallowed-tools", kExecDeny},
    {"--system-prompt", kExecInstructions},
    {"--system-prompt-file", kExecInstructions},
    {"--append-system-prompt", kExecInstructions},
    {"--append-system-prompt-file", kExecInstructions},
    {"--mcp-config", kExecServers},
    {"--mcp", kExecServers},
    {"--continue", "'sortie exec resume --last PROMPT'"},
    {"--resume", kExecResume},
    {"-r", kExecResume},
    {"--session-id", kExecResume},
    {"--fork-session", "none: a thread that is resumed stays the same one"},
    {"--worktree", "--isolation overlay --diff FILE: the changes are in the diff alone"},
    {"--effort", "-c model_reasoning_effort=…"},
    {"--settings", "-c KEY=VALUE, and --policy FILE"},
});

}  // namespace

std::string instead_of_habit(const std::string& word, const std::string& command) {
  if (command == "exec")
    for (const Habit& habit : kExecHabits)
      if (habit.word == word) return habit.instead;
  for (const Habit& habit : kHabits)
    if (habit.word == word) return habit.instead;
  return "";
}

}  // namespace sortie

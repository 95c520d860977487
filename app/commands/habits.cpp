#include "app/commands/habits.h"

#include <array>
#include <string_view>

namespace sortie {
namespace {

struct Habit {
  std::string_view flag;
  const char* instead;
};

constexpr const char* kPrompt =
    "'sortie run -p PROMPT', which prints the final message; or 'sortie run TASK.yaml' with the "
    "prompt as the task's 'prompt:'";
constexpr const char* kAllowAll =
    "--policy auto allows every command inside the sandbox; --policy unsandboxed has none";
constexpr const char* kTools =
    "commands and tools are allowed by rules of a policy (--policy), and chosen by 'tools:' of the "
    "task";
constexpr const char* kInstructions = "'instructions:' of the task";
constexpr const char* kSandbox = "--policy, with 'sandbox: {mode: …}'; 'strict' is the default";
constexpr const char* kEvents = "--json prints events; the final message is plain text";
constexpr const char* kAgain =
    "the same command again, with the same --out: it goes on with what was cut off";
constexpr const char* kSettings =
    "a task and a policy file hold all settings: 'sortie schema task', 'sortie schema policy'";
constexpr const char* kServers = "'tools: {mcp: …}' of the task";

/// Flags of Claude Code, codex, Gemini CLI, aider, opencode and others.
constexpr auto kHabits = std::to_array<Habit>({
    {"-p", kPrompt},
    {"--print", kPrompt},
    {"--prompt", kPrompt},
    {"--message", kPrompt},
    {"--yolo", kAllowAll},
    {"-y", kAllowAll},
    {"--yes", kAllowAll},
    {"--yes-always", kAllowAll},
    {"--auto-approve", kAllowAll},
    {"--full-auto", kAllowAll},
    {"--dangerously-skip-permissions", kAllowAll},
    {"--dangerously-bypass-approvals-and-sandbox", kAllowAll},
    {"--skip-permissions", kAllowAll},
    {"--permission-mode", "--approval full-auto, deny-by-default or audit"},
    {"--approval-mode", "--approval full-auto, deny-by-default or audit"},
    {"--ask-for-approval", "--approval full-auto, deny-by-default or audit"},
    {"-a", "--approval full-auto, deny-by-default or audit"},
    {"--output-format", kEvents},
    {"--input-format", "--var and --var-file fill the prompt; {{stdin}} takes a pipe"},
    {"--stream-json", kEvents},
    {"--allowedTools", kTools},
    {"--allowed-tools", kTools},
    {"--disallowedTools", kTools},
    {"--disallowed-tools", kTools},
    {"--tools", kTools},
    {"--sandbox", kSandbox},
    {"-s", kSandbox},
    {"--system-prompt", kInstructions},
    {"--append-system-prompt", kInstructions},
    {"--add-dir", "'paths: {read: […], write: […]}' of the policy"},
    {"--mcp-config", kServers},
    {"--mcp", kServers},
    {"--output-schema", "'output: {schema: FILE}' of the task"},
    {"--json-schema", "'output: {schema: FILE}' of the task"},
    {"--image", "'images:' of the task"},
    {"-i", "'images:' of the task; the prompt is 'sortie run -p PROMPT'"},
    {"--continue", kAgain},
    {"--resume", kAgain},
    {"-c", "keys of the task or of its policy; the same command again goes on"},
    {"-r", kAgain},
    {"--session-id", kAgain},
    {"--fork-session", kAgain},
    {"--config", kSettings},
    {"--profile", kSettings},
    {"--settings", kSettings},
    {"--setting-sources", kSettings},
    {"--strict-mcp-config", kServers},
    {"--system-prompt-file", kInstructions},
    {"--append-system-prompt-file", kInstructions},
    {"--include-partial-messages", kEvents},
    {"--effort", "'model: {effort: …}' of the task"},
    {"--oss", "--provider local --model NAME"},
    {"--local-provider", "--provider local --model NAME"},
    {"--ephemeral", "--out with a folder that you remove"},
    {"--permission-prompt-tool", "'approver:' of the policy, a program of yours that decides"},
    {"--cwd", "-C DIR, or --cd DIR"},
    {"--max-budget-usd", "--max-cost USD"},
    {"--api-key",
     "--api-key-file FILE, --api-key-fd N or the provider's variable: a command line can "
     "be read by others"},
    {"--skip-git-repo-check", "not needed: a folder without git is fine"},
    {"--max-turns", "'sortie run --max-turns N'"},
    {"--model", "'sortie run --model NAME'"},
    {"-m", "'sortie run --model NAME'"},
    {"--remote", "not needed: a turn runs in this process; a server of models is --base-url"},
    {"--remote-auth-token-env", "not needed: a turn runs in this process"},
    {"--fallback-model", "'model: {fallback: [...]}' of the task"},
});

}  // namespace

std::string instead_of_habit(const std::string& flag) {
  for (const Habit& habit : kHabits)
    if (habit.flag == flag) return habit.instead;
  return "";
}

}  // namespace sortie

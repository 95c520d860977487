#include "policies/engine/explain.h"

#include <algorithm>

#include "core/text/text.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxInstead = 300;
constexpr std::size_t kMaxSummary = 1024;

/// A rule's prefix for people: "cargo build|test".
std::string prefix_text(const CommandRule& rule) {
  std::string text;
  for (const auto& words : rule.prefix) {
    if (!text.empty()) text += ' ';
    for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : "|") + words[i];
  }
  return text;
}

bool allows_read_only(const Policy& policy) {
  return std::any_of(policy.commands.begin(), policy.commands.end(), [](const CommandRule& rule) {
    return rule.effect == Effect::allow && rule.command_class == "read-only";
  });
}

/// Appends as many of the parts as fit, and the number of the others.
void append_list(std::string& text, const std::vector<std::string>& parts, std::size_t max_bytes) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string next = (i == 0 ? "" : ", ") + parts[i];
    const std::string rest = " and " + std::to_string(parts.size() - i) + " more";
    const std::size_t reserved = i + 1 < parts.size() ? rest.size() : 0;
    if (text.size() + next.size() + reserved > max_bytes) {
      text += rest;
      return;
    }
    text += next;
  }
}

std::vector<std::string> prefixes(const Policy& policy, Effect effect) {
  std::vector<std::string> texts;
  for (const CommandRule& rule : policy.commands) {
    if (rule.effect == effect && !rule.prefix.empty()) texts.push_back(prefix_text(rule));
  }
  return texts;
}

std::vector<std::string> tool_names(const Policy& policy, Effect effect) {
  std::vector<std::string> names;
  for (const ToolRule& rule : policy.tools) {
    if (rule.effect == effect) names.insert(names.end(), rule.names.begin(), rule.names.end());
  }
  return names;
}

}  // namespace

std::string allowed_instead(const Policy& policy) {
  std::string text = "allowed here: ";
  std::vector<std::string> parts;
  if (allows_read_only(policy)) {
    parts.push_back(
        "the read-only commands (ls, cat, head, grep, rg, find, sed -n 1,9p, git "
        "status|diff|log|show …)");
  }
  const std::vector<std::string> own = prefixes(policy, Effect::allow);
  parts.insert(parts.end(), own.begin(), own.end());
  if (parts.empty()) return "no command is allowed here";
  const std::string end = ", as a direct argv or joined by && || ; | in a script";
  append_list(text, parts, kMaxInstead - end.size());
  return std::string(utf8_prefix(text + end, kMaxInstead));
}

std::string policy_summary(const Policy& policy, Approval approval) {
  if (approval != Approval::deny_by_default) {
    return policy.sandbox == SandboxMode::none
               ? "Commands run without asking and without a sandbox."
               : "Commands run without asking, inside a sandbox that limits where they write and "
                 "what network they reach.";
  }
  std::string text =
      "Nobody can be asked. Calls that the rules below do not allow are denied.\n"
      "Commands: a direct argv such as [\"git\",\"status\"], or [\"bash\",\"-c\",SCRIPT]; each "
      "command of a script must be allowed. Scripts: commands joined by && || ; | or newlines, if, "
      "for over literal words, cd, 2>&1, >/dev/null, <FILE, <<'EOF', $?; no other variables or "
      "$(…), no output to files, nothing in the background.\nAllowed: ";
  if (allows_read_only(policy)) {
    text += "reading commands (";
    append_list(text, read_only_command_names(), 600);
    text += "; git: status, diff, log, show, ls-files, rev-parse, blame, grep)";
  }
  const std::vector<std::string> own = prefixes(policy, Effect::allow);
  if (!own.empty()) {
    if (allows_read_only(policy)) text += "; ";
    append_list(text, own, 800);
  } else if (!allows_read_only(policy)) {
    text += "no command";
  }
  if (const auto denied = prefixes(policy, Effect::deny); !denied.empty()) {
    text += "\nNever: ";
    append_list(text, denied, 880);
  }
  if (const auto tools = tool_names(policy, Effect::allow); !tools.empty()) {
    text += "\nTools: ";
    append_list(text, tools, 960);
  }
  text += policy.sandbox == SandboxMode::read_only ? "\nNothing may be written." : "";
  return std::string(utf8_prefix(text, kMaxSummary));
}

std::string decision_text(const Decision& decision) {
  std::string text = std::string(name_of(decision.effect)) + ": " + decision.part + '\n';
  if (decision.rule.line > 0) {
    text += "  rule: " + decision.rule.file + ':' + std::to_string(decision.rule.line) + ": " +
            decision.rule.text + '\n';
  } else {
    text += "  rule: none matched, the default of the approval mode holds\n";
  }
  if (!decision.reason.empty()) text += "  why: " + decision.reason + '\n';
  if (!decision.instead.empty()) text += "  instead: " + decision.instead + '\n';
  return text;
}

}  // namespace sortie

#include "policies/file/policy_fields.h"

#include <algorithm>
#include <utility>

#include "policies/file/policy_values.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

/// Globs over words; the first file's replace the default.
FieldValue word_list(PolicyDraft& draft, const std::string& key, std::vector<std::string>& target) {
  return first_replaces(draft, key, target, globs_value(target, Globs::words));
}

/// Names; the first file's replace the default.
FieldValue names_value(PolicyDraft& draft, const std::string& key, std::vector<std::string>& target,
                       TextLimits limits) {
  return first_replaces(draft, key, target, texts_value(target, Lists::appended, limits));
}

/// Paths; the first file's replace the default.
FieldValue path_list(PolicyDraft& draft, const std::string& key, std::vector<std::string>& target) {
  return first_replaces(draft, key, target, texts_value(target, Lists::appended));
}

Fields limits_fields(PolicyLimits& limits) {
  return Fields("limits")
      .add("command_timeout", duration_value(limits.command_timeout, 1ms, 24h),
           "Time of one command.")
      .add("output", size_value(limits.output, 1, kLargestSize),
           "Output of one command, which is stopped beyond it.")
      .add(
          "memory", memory_value(limits),
          "Memory of all processes of the run: a size, or a share of the machine's or container's.")
      .add("processes", integer_value(limits.processes, 1, 4'000'000), "Processes of the run.")
      .add("file_size", size_value(limits.file_size, 1, kLargestSize), "Size of one written file.")
      .add("open_files", integer_value(limits.open_files, 16, 1'000'000),
           "Open files of one process.")
      .add("disk", size_value(limits.disk, 1, kLargestSize), "Disk space that one run may fill.")
      .add("diff_file_size", size_value(limits.diff_file_size, 1, kLargestSize),
           "Size of one file in the diff.")
      .add(
          "on_large_file", enum_value(limits.on_large_file),
          "What a changed file over diff_file_size does: it fails the run, or is reported and kept "
          "beside the diff, which lacks it.")
      .add("transcript", size_value(limits.transcript, 1, kLargestSize),
           "Size of the transcript with its blobs.");
}

Fields bounds_fields(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  Fields budget("budget");
  budget.add("time", duration_value(policy.max_time, 1ms, 24h * 30), "Wall clock time of a run.")
      .add("tokens", integer_value(policy.max_tokens, 1, 1'000'000'000'000),
           "Tokens of uncached input and of output.")
      .add("cost", where_given(real_value(policy.max_cost, 0, 1e6)),
           "USD, counted with the higher of the task's price and the known one. If a file sets it, "
           "models without a known price are refused, unless bounds.prices is true.");
  return Fields("bounds")
      .add("credentials", credentials_value(draft),
           "The only variables that may be sent, each with the hosts that may get it.")
      .add("models", word_list(draft, "bounds.models", policy.models),
           "Globs over the provider/name of models that a task may use; a replay uses none.")
      .add("vars_env", word_list(draft, "bounds.vars_env", policy.vars_env),
           "Globs over environment variables that a task may read into its prompt.")
      .add("mcp", mcp_bounds_value(draft),
           "What a task may name as MCP servers and functions: programs, as globs over their first "
           "words, and addresses: https://HOST, with its port if that is not the usual one.")
      .add("workspace", bounded_folders_value(draft),
           "Folders that a task may name as its workspace, absolute or from ~, and all below; in "
           "addition to the caller's folder and the task's repository.")
      .add("own_tree", boolean_value(policy.own_tree),
           "Whether a task may ask for isolation none, to work in the tree itself; --isolation may "
           "always.")
      .add("model_hosts", model_hosts_value(draft),
           "Hosts of models without a key, in addition to loopback; with a port if it is not the "
           "usual one.")
      .add("mcp_env", names_value(draft, "bounds.mcp_env", policy.mcp_env, kEnvironmentName),
           "Variables that a task may give to an MCP server.")
      .add("carry_over", names_value(draft, "bounds.carry_over", policy.carry_over, kPlainFileName),
           "File names that context.carry_over may have.")
      .add("verify", two_words_value(policy.verify_by_rules, "any", "rules"),
           "rules: `commands` decides on the task's verification commands too.")
      .add("prices", boolean_value(policy.prices_of_task),
           "Whether the task's own prices count, also for models whose price is not known.")
      .add("budget", mapping_value(std::move(budget)),
           "The highest budget that a task may ask for.");
}

Fields paths_fields(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  return Fields("paths")
      .add("write", path_list(draft, "paths.write", policy.write),
           "Writable, in addition to the private HOME and /tmp.")
      .add("read", path_list(draft, "paths.read", policy.read),
           "Readable, in addition to the default.")
      .add("toolchains", two_words_value(policy.toolchains, "none", "auto"),
           "Whether known tool folders under HOME are readable; writes to them are thrown away.")
      .add("hide", globs_value(policy.hide, Globs::paths),
           "Not readable for tools and commands; added to the default.")
      .add("protect", protect_value(draft),
           "Readable, not writable; added to the default, which [] removes.");
}

Fields environment_fields(PolicyDraft& draft) {
  static constexpr TextLimits kValue = {.may_be_empty = true};
  Policy& policy = draft.policy;
  return Fields("environment")
      .add("inherit", enum_value(policy.environment_inherit),
           "Which part of sortie's own environment commands get.")
      .add("include", word_list(draft, "environment.include", policy.environment_include),
           "Globs over variables that are passed on too; only a full name overrides exclude.")
      .add("exclude", globs_value(policy.environment_exclude, Globs::words),
           "Globs over variables that are not passed on; added to the default.")
      .add("set", text_map_value(policy.environment_set, kEnvironmentName, kValue),
           "Variables set for every command.");
}

Fields network_fields(PolicyDraft& draft) {
  return Fields("network")
      .add("mode", enum_value(draft.policy.network), "Whether commands reach the network.")
      .add(
          "allow", hosts_value(draft),
          "Hosts for mode allow-list, with a port if it is not 443: example.org, *.example.org:80.");
}

Fields sandbox_fields(PolicyDraft& draft) {
  return Fields("sandbox")
      .add("mode", enum_value(draft.policy.sandbox), "Where the kernel lets commands write.")
      .add("ptrace", enum_value(draft.policy.tracing),
           "Which processes commands may trace, as debuggers do.")
      .add("guarantee", guarantee_value(draft), "What must be proved before the run starts.");
}

Fields trust_fields(Policy& policy) {
  return Fields("trust")
      .add("input", two_words_value(policy.input_untrusted, "trusted", "untrusted"),
           "Whether prompt and workspace may have been written by a stranger.")
      .add("allow_all_three", boolean_value(policy.allow_all_three),
           "Turns the rule off, at your own risk.");
}

Fields redact_fields(PolicyDraft& draft) {
  return Fields("redact")
      .add("patterns", expressions_value(draft), "RE2 expressions; what they match is a secret.")
      .add("on_leak", enum_value(draft.policy.on_leak),
           "What to do about a known secret in the diff or the final message.");
}

}  // namespace

Fields policy_fields(PolicyDraft& draft, const std::string& file) {
  Policy& policy = draft.policy;
  return Fields("policy")
      .require("version", version_value(1), "The version of the format.")
      .add("name",
           text_value(policy.name,
                      {.pattern = "[a-z0-9-]{1,64}", .meaning = "1 to 64 of a-z, 0-9 and '-'"}),
           "A name for people; by default the file's.")
      .add("extends", extends_value(),
           "Presets or files that this one extends: it appends to lists and replaces scalars.")
      .add(
          "approval", enum_value(policy.approval),
          "What happens if no rule matches. In audit, calls that a deny or forbid rule matches are "
          "recorded and allowed too.")
      .add("approval_override", boolean_value(policy.approval_override),
           "Whether --approval may be looser.")
      .add("on_denied", two_words_value(policy.abort_on_denied, "continue", "abort"),
           "Whether a denied call ends the run.")
      .add("max_denials", integer_value(policy.max_denials, 1, 1'000'000),
           "Denied calls in a row that end the run.")
      .add("unreadable", two_words_value(policy.unreadable_allow, "deny", "allow"),
           "In full-auto: what to do about scripts that can't be read with certainty.")
      .add("bounds", mapping_value(bounds_fields(draft)), "What a task may ask for.")
      .add("commands", command_rules_value(draft, file),
           "Rules over commands: forbid over deny over allow.")
      .add("tools", tool_rules_value(draft, file), "Rules over tools.")
      .add("paths", mapping_value(paths_fields(draft)), "What can be read and written.")
      .add("network", mapping_value(network_fields(draft)), "What commands can reach.")
      .add("environment", mapping_value(environment_fields(draft)),
           "The environment variables of commands.")
      .add("limits", mapping_value(limits_fields(policy.limits)), "What a run may use.")
      .add("sandbox", mapping_value(sandbox_fields(draft)), "What the kernel enforces.")
      .add("escalation", two_words_value(policy.escalation, "deny", "rules"),
           "Whether calls that ask for escalated permissions may get a rule's own sandbox.")
      .add("trust", mapping_value(trust_fields(policy)),
           "A run may have two of untrusted input, secrets in the environment and open network.")
      .add("redact", mapping_value(redact_fields(draft)),
           "What is redacted in everything that leaves the run.")
      .add("approver", approver_value(draft), "A program that decides if no rule matches.");
}

}  // namespace sortie

#include "app/exec/exec_task.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "app/exec/exec_prompt.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/catalog/providers.h"
#include "core/files/files.h"
#include "core/host/url.h"
#include "core/json/json_schema.h"
#include "core/task/referenced_files.h"
#include "core/task/tool_names.h"
#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/environment/environment.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostSchema = 1u << 20;

/// From the caller's folder.
fs::path absolute(const std::string& path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal();
}

/// @throws InputError
std::vector<TaskImage> read_images(const std::vector<std::string>& lists) {
  std::vector<TaskImage> images;
  for (const std::string& list : lists)
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      // A file may have a comma in its name.
      const bool whole = at == 0 && fs::exists(fs::path(list));
      const std::string name = whole ? list : list.substr(at, comma - at);
      at = whole ? list.size() + 1 : comma + 1;
      if (name.empty()) continue;
      TaskImage image{.path = absolute(name), .header = {}, .content = {}};
      if (const std::string problem = load_image(image); !problem.empty())
        throw InputError("--image " + one_line(name, 200) + ": " + problem +
                         "; -i takes all words behind it, so the prompt stands before it");
      images.push_back(std::move(image));
    }
  return images;
}

Json read_schema(const fs::path& file) {
  const std::string flag = "--output-schema " + one_line(file.string(), 200) + ": ";
  const TextFile read = read_text_file(file, kMostSchema, Pipes::accepted);
  if (!read.problem.empty()) throw InputError(flag + read.problem);
  try {
    Json schema = parse_json(read.text);
    if (!schema.is_object()) throw InputError("not a JSON object");
    JsonSchema compiled(schema);
    return schema;
  } catch (const JsonError& error) {
    throw InputError(flag + error.what());
  } catch (const InputError& error) {
    throw InputError(flag + error.what());
  }
}

/// "https://host:port" as policies name it: plain http with its scheme.
std::string host_of(const Url& url) { return (url.secure ? "" : "http://") + url.authority(); }

void let_key_go(const std::string& variable, const std::string& address, Policy& policy) {
  if (variable.empty() || address.empty()) return;
  try {
    policy.credentials[variable].push_back(host_of(parse_url(address)));
  } catch (const InputError&) {  // whoever sends a request there says what is wrong with it
  }
}

/// The keys and tokens of the command line may go where it says.
void let_keys_go(const RunOptions& run, const ExecSettings& settings, const Task& task,
                 Policy& policy) {
  const ProviderInfo* provider = find_provider(run.provider);
  std::string variable = task.model.api_key_env;
  if (provider != nullptr && variable.empty()) variable = provider->key_variable;
  let_key_go(variable, run.base_url, policy);
  if (provider != nullptr)
    for (const std::string_view name : provider->address_variables)
      if (!name.empty()) let_key_go(variable, own_variable(std::string(name).c_str()), policy);
  for (const auto& [header, name] : task.model.extras.variable_headers)
    let_key_go(name, run.base_url, policy);
  for (const auto& [name, server] : settings.mcp)
    let_key_go(server.bearer_token_env, server.url, policy);
}

/// Of what is inherited and set, those that include_only names. A name that stands there in full lifts
/// the exclusions of the policy, but none of the configuration itself.
void keep_only(const ExecSettings& settings, Policy& policy) {
  const auto is_among = [](const std::vector<std::string>& globs, const std::string& name) {
    return std::any_of(globs.begin(), globs.end(), [&name](const std::string& glob) {
      return Pattern::word_glob(glob, LetterCase::ignored).matches(name);
    });
  };
  const InheritedVariables inherit = settings.inherit.value_or(InheritedVariables::all);
  policy.environment_inherit = InheritedVariables::none;
  policy.environment_include.clear();
  if (inherit == InheritedVariables::all)
    for (const std::string& glob : settings.include_only)
      if (!is_among(settings.exclude, glob)) policy.environment_include.push_back(glob);
  if (inherit == InheritedVariables::core)
    for (const auto& [name, value] : own_environment())
      if (is_core_variable(name) && is_among(settings.include_only, name) &&
          !is_among(policy.environment_exclude, name))
        policy.environment_include.push_back(name);
  std::erase_if(policy.environment_set,
                [&](const auto& one) { return !is_among(settings.include_only, one.first); });
}

void set_environment(const ExecSettings& settings, Policy& policy) {
  if (settings.inherit) policy.environment_inherit = *settings.inherit;
  if (settings.no_default_excludes) policy.environment_exclude.clear();
  policy.environment_exclude.insert(policy.environment_exclude.end(), settings.exclude.begin(),
                                    settings.exclude.end());
  for (const auto& [name, value] : settings.set) policy.environment_set[name] = value;
  if (!settings.include_only.empty()) keep_only(settings, policy);
}

}  // namespace

std::string sandbox_of(const ExecOptions& options, const ExecSettings& settings) {
  if (options.unsandboxed) return "danger-full-access";
  // Of two that differ the stricter: codex, too, keeps its sandbox with --full-auto.
  if (options.full_auto && options.sandbox != "read-only") return "workspace-write";
  if (!options.sandbox.empty()) return options.sandbox;
  return settings.sandbox.empty() ? "read-only" : settings.sandbox;
}

namespace {

Policy sandboxed(const ExecOptions& options, const ExecSettings& settings, bool writes) {
  Policy policy = load_policy("auto");
  policy.sandbox = writes ? SandboxMode::workspace_write : SandboxMode::read_only;
  for (const std::vector<std::string>* folders : {&options.add_dirs, &settings.writable_roots})
    for (const std::string& folder : *folders)
      if (!is_own_to_commands(folder))
        (writes ? policy.write : policy.read).push_back(absolute(folder).string());
  if (settings.network && writes) {
    policy.network = NetworkMode::full;
    std::erase(policy.guarantee, Guarantee::network);
  }
  return policy;
}

}  // namespace

bool is_own_to_commands(const std::string& folder) {
  const std::string path = absolute(folder).string();
  return path == "/tmp" || path == "/tmp/";
}

Task exec_task(const ExecOptions& options, const ExecSettings& settings,
               const std::string& prompt) {
  Task task;
  task.name = "exec";
  task.prompt = as_literal_prompt(prompt);
  task.images = read_images(options.images);
  task.workspace.isolation = Isolation::none;
  if (settings.docs_bytes) task.workspace.project_docs_max_bytes = *settings.docs_bytes;
  if (settings.docs_bytes == 0u) task.workspace.project_docs.clear();
  if (settings.effort) task.model.effort = *settings.effort;
  if (!settings.summary.empty()) task.model.reasoning_summary = settings.summary;
  if (settings.web_search || options.search) task.tools = {kDefaultTools, "web_search"};
  for (const auto& [name, server] : settings.mcp) task.mcp.push_back(server);
  task.expect.changes = ExpectedChanges::any;
  task.expect.tool_success = false;
  if (!options.output_schema.empty()) {
    task.output.schema_file = absolute(options.output_schema);
    task.output.schema = read_schema(task.output.schema_file);
  }
  return task;
}

Policy exec_policy(const ExecOptions& options, const ExecSettings& settings, const Task& task) {
  Policy policy;
  if (!options.run.policy.empty()) {
    policy = load_policy(options.run.policy);
  } else if (const std::string sandbox = sandbox_of(options, settings);
             sandbox == "danger-full-access") {
    policy = load_policy("unsandboxed");
    policy.protect.clear();
  } else {
    policy = sandboxed(options, settings, sandbox == "workspace-write");
  }
  const auto openai = policy.credentials.find("OPENAI_API_KEY");
  if (openai != policy.credentials.end())
    policy.credentials.try_emplace("CODEX_API_KEY", openai->second);
  if (options.run.policy.empty()) {
    let_keys_go(options.run, settings, task, policy);
    set_environment(settings, policy);
    policy.allow_all_three = true;
  }
  policy.digest = policy_digest(policy);
  return policy;
}

}  // namespace sortie

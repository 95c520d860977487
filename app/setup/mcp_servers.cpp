#include "app/setup/mcp_servers.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/net/http_client.h"
#include "core/provider/sign_in/credentials.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/shell/wrappers.h"
#include "tools/mcp/transport/http_transport.h"
#include "tools/mcp/transport/stdio_transport.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Programs, besides shells and wrappers, that load code from their working folder. A version at the
/// end of a name is ignored.
constexpr std::array<std::string_view, 60> kRunners = {
    "python", "pypy",   "ipython", "node",    "nodejs", "npx",     "npm",    "pnpm",  "pnpx",
    "yarn",   "bun",    "bunx",    "deno",    "tsx",    "ts-node", "uv",     "uvx",   "pipx",
    "pip",    "poetry", "pdm",     "hatch",   "rye",    "pixi",    "conda",  "mamba", "tox",
    "nox",    "ruby",   "bundle",  "bundler", "rake",   "gem",     "perl",   "php",   "composer",
    "lua",    "luajit", "java",    "mvn",     "gradle", "jbang",   "kotlin", "scala", "dotnet",
    "go",     "cargo",  "make",    "gmake",   "ninja",  "just",    "task",   "mise",  "asdf",
    "direnv", "nix",    "fish",    "busybox", "R",      "Rscript"};

std::string base_name(const std::string& program) {
  std::string name = fs::path(program).filename().string();
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9')))
    name.pop_back();
  return name;
}

/// The path below the workspace, "." for itself; "" where it lies elsewhere.
std::string below(const std::string& word, const fs::path& workspace) {
  const auto relative = path_below((workspace / word).lexically_normal(), workspace);
  if (!relative) return "";
  std::string text = relative->string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool may_load_anything(const std::vector<std::string>& argv, const fs::path& workspace) {
  const std::string& program = argv.front();
  if (program.find('/') != std::string::npos && !below(program, workspace).empty()) return true;
  const std::string name = base_name(program);
  const bool runs_others = is_shell(name) || is_wrapper(name) ||
                           std::find(kRunners.begin(), kRunners.end(), name) != kRunners.end();
  if (!runs_others) return false;
  return argv.size() < 2 || !argv[1].starts_with('/') || !below(argv[1], workspace).empty();
}

/// Whether the path is the named one, below it, or the named one with a suffix.
bool is_of(const std::string& path, const std::string& named) {
  if (named.empty()) return false;
  if (named == ".") return true;
  if (!path.starts_with(named)) return false;
  return path.size() == named.size() || path[named.size()] == '/' || path[named.size()] == '.';
}

/// The paths of the workspace in an argv: whole words, and the parts after a "=".
std::vector<std::string> named_places(const std::vector<std::string>& argv,
                                      const fs::path& workspace, const Files& view) {
  std::vector<std::string> places;
  const auto add = [&](const std::string& word) {
    const std::string place = below(word, workspace);
    if (word.empty() || place.empty()) return;
    places.push_back(place);
    if (const std::string target = view.resolve(place).string(); target != place)
      places.push_back(target.empty() ? "." : target);
  };
  for (const std::string& word : argv) {
    add(word);
    if (const auto at = word.find('='); at != std::string::npos) add(word.substr(at + 1));
  }
  return places;
}

}  // namespace

std::string changed_under(const std::vector<std::string>& argv, const fs::path& workspace,
                          const std::vector<ChangedPath>& changed, const Files& view) {
  if (changed.empty() || argv.empty()) return "";
  std::vector<std::string> places;
  try {
    places = named_places(argv, workspace, view);
  } catch (const ToolError&) {  // a link that leads nowhere, or out of it
    return changed.front().path;
  }
  for (const std::string& place : places)
    for (const ChangedPath& change : changed)
      if (is_of(change.path, place) || is_of(place, change.path)) return change.path;
  return may_load_anything(argv, workspace) ? changed.front().path : "";
}

namespace {

using std::chrono::milliseconds;

/// file: with the path's bytes as RFC 8089 and RFC 3986 §2.1 want them.
std::string file_uri(const std::filesystem::path& path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  static const std::string kept = "-._~/";
  std::string uri = "file://";
  for (const char c : path.string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || kept.find(c) != std::string::npos;
    if (plain)
      uri += c;
    else
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return uri;
}

/// The variables that every program needs in the sandbox, the proxy's, and those of the task.
Environment server_environment(const Environment& of_commands, const TaskMcpServer& server) {
  Environment environment;
  for (const char* name : {"PATH", "HOME", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                           "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"})
    if (const auto found = of_commands.find(name); found != of_commands.end())
      environment.insert(*found);
  for (const auto& [name, value] : server.environment) environment[name] = value;
  return environment;
}

/// How a server's program is started; decided again each time, since the rules check the current
/// files.
struct ServerStart {
  Command command;
  bool escalated = false;  ///< by a rule of the policy for this command
};

ServerStart server_start(const McpParts& parts, const TaskMcpServer& server) {
  const Confinement& confinement = parts.confinement;
  ServerStart start;
  Command& command = start.command;
  command.argv = server.command;
  command.workdir = confinement.workspace();
  command.environment = server_environment(confinement.environment(), server);
  command.timeout = parts.budget.time_left();
  command.read_only = nothing_may_be_written(parts.inputs);
  command.private_set = "mcp " + server.name;
  const auto granted = confinement.engine().find_escalation(
      {.argv = command.argv, .workdir = command.workdir, .escalated = true});
  if (!granted) return start;
  start.escalated = true;
  command.open_network = granted->network;
  command.writes = granted->writes && !command.read_only;
  if (command.open_network) remove_proxy(command.environment);
  return start;
}

/// Why the program may not be started again, or "": it must be the same as at the start of the run,
/// as far as its words tell, and nothing may be running that could change it.
std::string restart_refusal(const McpParts& parts, const ServerStart& first,
                            const ServerStart& again) {
  if (parts.inputs.approval == Approval::full_auto && !first.escalated) return "";
  try {
    Confinement& confinement = parts.confinement;
    const std::string changed = changed_under(first.command.argv, confinement.workspace(),
                                              parts.changed_paths(), confinement.view());
    if (!changed.empty())
      return one_line(changed) + " was changed in this run, and it might be what it runs now";
  } catch (const Error& error) {
    return std::string("it can't be told what has changed: ") + error.what();
  }
  const std::string writer = parts.confinement.engine().concurrent_commands().writer();
  if (!writer.empty()) return writer + " is running, which may change what it runs";
  return first.escalated && !again.escalated ? "no rule gives it its sandbox any more" : "";
}

/// Every restart is decided on again. Servers are started in parallel, in threads.
mcp::Server::Connect program_starter(const McpParts& parts, const TaskMcpServer& server) {
  return [parts, &server, first = server_start(parts, server),
          lives = 0]() mutable -> std::unique_ptr<mcp::Transport> {
    Launcher& launcher = parts.confinement.launcher();
    if (lives++ == 0) return std::make_unique<mcp::StdioTransport>(launcher, first.command);
    const ServerStart again = server_start(parts, server);
    if (const std::string why = restart_refusal(parts, first, again); !why.empty())
      throw mcp::TransportError("it is not started again: " + why);
    return std::make_unique<mcp::StdioTransport>(launcher, again.command);
  };
}

std::string text_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

mcp::Server::Connect connector(const McpParts& parts, const TaskMcpServer& server) {
  if (!server.command.empty()) return program_starter(parts, server);
  mcp::HttpServer place{.url = mcp::parse_server_url(server.url)};
  if (!server.bearer_token_env.empty())
    place.bearer_token = text_of(parts.own, server.bearer_token_env);
  const bool lacks_token = !server.bearer_token_env.empty() && place.bearer_token.empty();
  const TrustedCertificates certificates{text_of(parts.own, "SSL_CERT_FILE"),
                                         text_of(parts.own, "SSL_CERT_DIR")};
  return [place = std::move(place), certificates, proxy = parts.proxy, lacks_token,
          variable = server.bearer_token_env]() -> std::unique_ptr<mcp::Transport> {
    if (lacks_token) throw mcp::TransportError(variable + ", which holds its token, is not set");
    return std::make_unique<mcp::HttpTransport>(
        place, [certificates, proxy] { return std::make_unique<HttpClient>(certificates, proxy); });
  };
}

/// Without a network, a server that fetches its program waits in vain.
std::string silent_hint(const McpParts& parts, const TaskMcpServer& server,
                        const ServerStart& start) {
  if (start.command.open_network || parts.inputs.policy.network != NetworkMode::none) return "";
  return "its sandbox has no network: if it fetches something at its start, as npx -y does, install "
         "it before the run, or write into the policy: network: {mode: allow-list, allow: "
         "[registry.npmjs.org]}, and into the task: tools.mcp." +
         server.name + ".startup_timeout: 60s";
}

/// The program may be there, and not in the sandbox's view.
std::string missing_hint(const TaskMcpServer& server) {
  const fs::path program = server.command.front();
  std::error_code error;
  if (!program.is_absolute() || !fs::exists(program, error)) return "";
  fs::path folder = program.parent_path();
  // The links of node_modules/.bin lead to the packages beside it.
  if (folder.filename() == ".bin") folder = folder.parent_path().parent_path();
  return "the file is there, but the sandbox does not show it: write into the policy: paths: {read: "
         "[" +
         write_json(Json(folder.string())) + "]}";
}

mcp::ServerSettings settings_of(const McpParts& parts, const TaskMcpServer& server) {
  const std::filesystem::path& workspace = parts.confinement.workspace();
  const bool is_program = !server.command.empty();
  const ServerStart start = is_program ? server_start(parts, server) : ServerStart();
  return {.name = server.name,
          .startup_timeout = server.startup_timeout,
          .tool_timeout = server.tool_timeout,
          .tools = server.tools,
          .pin = server.pin,
          .required = server.required,
          .may_write = is_program && !nothing_may_be_written(parts.inputs),
          .ahead = start.escalated,
          .client = {.root_uri = file_uri(workspace), .root_name = workspace.filename().string()},
          .silent_hint = is_program ? silent_hint(parts, server, start) : "",
          .missing_hint = is_program ? missing_hint(server) : "",
          .secrets = &parts.redactor};
}

}  // namespace

std::unique_ptr<mcp::Servers> make_mcp_servers(const McpParts& parts) {
  std::vector<std::unique_ptr<mcp::Server>> servers;
  for (const TaskMcpServer& server : parts.inputs.task.mcp)
    servers.push_back(std::make_unique<mcp::Server>(
        settings_of(parts, server), connector(parts, server),
        [&budget = parts.budget] { return budget.time_left(); },
        std::make_unique<mcp::ServerLog>(server.name, parts.events, parts.turn)));
  if (servers.empty()) return nullptr;
  return std::make_unique<mcp::Servers>(std::move(servers));
}

std::string script_rules_note(const RunInputs& inputs, const mcp::Servers& servers) {
  const Policy& policy = inputs.policy;
  const auto writing = servers.writing();
  if (writing.empty()) return "";
  const bool strict = inputs.approval != Approval::full_auto;
  const auto rule =
      std::find_if(policy.commands.begin(), policy.commands.end(), [&](const CommandRule& one) {
        return !one.script.empty() && (strict || (policy.escalation && one.escalate));
      });
  if (rule == policy.commands.end()) return "";
  return rule->place.file + ":" + std::to_string(rule->place.line) +
         ": programs of the workspace " + (strict ? "are denied" : "get nothing by this rule") +
         " while the MCP server " + writing.front() +
         " is running, which may write to the workspace";
}

}  // namespace sortie

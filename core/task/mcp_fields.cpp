#include "core/task/task_fields.h"

#include <algorithm>
#include <utility>

#include "core/host/host.h"
#include "core/host/url.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostServers = 32;
// Without "__", which stands between the server's name and its tool's.
constexpr TextLimits kServerName = {.pattern = "[A-Za-z0-9](?:[A-Za-z0-9-]|_[A-Za-z0-9-]){0,31}",
                                    .meaning = "1 to 32 letters, digits, '-' and single '_'",
                                    .max_bytes = 32};
constexpr TextLimits kVariable = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                  .meaning = "the name of an environment variable"};

/// Events name sortie's own tools by a server of that name.
bool is_own_name(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name == "sortie";
}

FieldValue command_value(std::vector<std::string>& target) {
  return with_keyword(texts_value(target), "minItems", 1);
}

Fields server_fields(TaskMcpServer& server) {
  FieldValue environment = text_map_value(server.environment, kVariable);
  environment.write = [&server, write = environment.write] {
    return server.command.empty() ? std::nullopt : write();
  };
  return Fields("MCP server")
      .add(
          "command", where_given(command_value(server.command)),
          "A program that speaks over stdin and stdout, with its arguments; it runs in the sandbox.")
      .add("env", std::move(environment), "Its environment, in addition to PATH, HOME and TMPDIR.")
      .add("url",
           where_given(text_value(server.url, {.pattern = "https?://.+",
                                               .meaning = "an http:// or https:// address"})),
           "The address of a server over streamable HTTP, instead of a command.")
      .add("bearer_token_env", where_given(text_value(server.bearer_token_env, kVariable)),
           "The variable that holds the token for the url.")
      .add("startup_timeout", duration_value(server.startup_timeout, 1ms, 1h),
           "Time to get ready and list its tools.")
      .add("tool_timeout", duration_value(server.tool_timeout, 1ms, 24h),
           "Time limit of one call, which is then cancelled.")
      .add("tools", where_given(texts_value(server.tools)),
           "The tools that the run gets, by the server's own names; by default all.")
      .add("required", boolean_value(server.required),
           "Without this server the run ends with exit code 7.")
      .add("pin",
           where_given(text_value(server.pin, {.pattern = "sha256:[0-9a-f]{64}",
                                               .meaning = "sha256: and 64 hex digits"})),
           "The digest of its list of tools; another list is an error.");
}

/// What is wrong with an address whose scheme is right; "" for nothing that can be shown. One with
/// a user is refused later: the line that is shown with a finding would hold the password.
std::string url_problem(const std::string& url) {
  const std::string_view authority = url_authority(url);
  if (authority.find('@') != std::string_view::npos) return "";
  if (url.find('#') != std::string::npos) return "a fragment is not allowed";
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
    return "white space, control or non-ASCII characters are not allowed";
  const AuthorityReading reading = read_authority(authority, 443);
  if (!reading.authority) return reading.problem;
  if (url.starts_with("http://") && !is_loopback_host(reading.authority->host.name))
    return "plain http is for loopback hosts only; use https://";
  return "";
}

void check_url(const TaskMcpServer& server, const YamlNode& node, Diagnostics& findings) {
  const std::string problem = server.url.empty() ? "" : url_problem(server.url);
  if (!problem.empty()) findings.error(node.find("url")->place, "'url': " + problem);
}

bool check_name(const YamlNode& key, Diagnostics& findings) {
  if (!read_text(key, "server name", kServerName, findings)) return false;
  if (!is_own_name(key.text)) return true;
  findings.error(key.place,
                 "'" + key.text +
                     "' is the name that events give to sortie's own tools; choose another "
                     "name for the server");
  return false;
}

void check(const TaskMcpServer& server, const TextPlace& place, Diagnostics& findings) {
  const std::string name = "the MCP server '" + server.name + "'";
  if (server.command.empty() == server.url.empty())
    findings.error(place, name + " needs either a command or a url");
  if (!server.command.empty() && server.command.front().empty())
    findings.error(place, name + " has a command whose program has no name");
  if (server.command.empty() && !server.environment.empty())
    findings.error(place, name + " has an env, which is for a command");
  if (server.url.empty() && !server.bearer_token_env.empty())
    findings.error(place, name + " has a bearer_token_env, which is for a url");
}

void read_server(const YamlMember& member, std::vector<TaskMcpServer>& target,
                 Diagnostics& findings) {
  const bool named = check_name(member.key, findings);
  const TextPlace& place = member.key.place;
  TaskMcpServer server{.name = one_line(member.key.text, 80)};
  server.place = findings.name(place.source) + ":" + std::to_string(place.line) + ":" +
                 std::to_string(place.column);
  const std::size_t before = findings.findings().size();
  if (member.value.kind == YamlNode::Kind::null)
    findings.error(place, "'" + server.name + "' needs a value");
  else
    server_fields(server).read(member.value, findings);
  // What is misspelt is not missing besides.
  if (findings.findings().size() == before) check(server, place, findings);
  if (member.value.is_mapping()) check_url(server, member.value, findings);
  if (named) target.push_back(std::move(server));
}

Json servers_schema() {
  TaskMcpServer any;
  Json names = Json::object({{"pattern", std::string("^") + kServerName.pattern + "$"},
                             {"maxLength", static_cast<std::int64_t>(kServerName.max_bytes)},
                             {"not", Json::object({{"pattern", "^[Ss][Oo][Rr][Tt][Ii][Ee]$"}})}});
  return Json::object(
      {{"type", "object"},
       {"maxProperties", static_cast<std::int64_t>(kMostServers)},
       {"propertyNames", std::move(names)},
       {"additionalProperties", with_one_of(server_fields(any).schema(), {"command", "url"})}});
}

}  // namespace

FieldValue mcp_servers_value(std::vector<TaskMcpServer>& target) {
  return {.schema = servers_schema,
          .read =
              [&target](const YamlNode& node, const std::string&, Diagnostics& findings) {
                if (!node.is_mapping()) {
                  findings.error(node.place, "'mcp': expected a mapping of servers, got " +
                                                 kind_in_words(node));
                  return;
                }
                if (node.members.size() > kMostServers)
                  findings.error(node.place, "'mcp' has more than " + std::to_string(kMostServers) +
                                                 " servers");
                for (const auto& member : node.members) read_server(member, target, findings);
              },
          .write =
              [&target] {
                Json json = Json::object();
                for (TaskMcpServer& server : target)
                  json.set(server.name, server_fields(server).write());
                return json;
              }};
}

}  // namespace sortie

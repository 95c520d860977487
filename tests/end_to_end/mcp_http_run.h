#pragma once

#include <string>

#include "core/files/files.h"
#include "tests/support/loopback_http.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

inline constexpr const char* kMcpToken = "mcp-token-4711-abcdef";

inline ServedResponse answer(const Json& id, const std::string& result,
                             const HttpHeaders& more = {}) {
  HttpHeaders headers{{"Content-Type", "application/json"}};
  headers.insert(headers.end(), more.begin(), more.end());
  return served_status(
      200, headers, R"({"jsonrpc":"2.0","id":)" + write_json(id) + R"(,"result":)" + result + "}");
}

inline std::string text_result(const std::string& text) {
  return write_json(
      Json::object({{"content", Json::array({Json::object({{"type", "text"}, {"text", text}})})}}));
}

/// A server of tools with one, "find", that says which token and session it was called with.
inline ServedResponse polite_mcp(const ReceivedRequest& request) {
  if (request.line.starts_with("GET")) return served_status(405, {}, "");
  if (request.line.starts_with("DELETE")) return served_status(200, {}, "");
  const Json message = parse_json(request.body);
  const std::string method = message.string_at("method");
  if (method == "initialize")
    return answer(message["id"],
                  R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
                  R"("serverInfo":{"name":"issues","version":"1"}})",
                  {{"Mcp-Session-Id", "session-1"}});
  if (method == "tools/list")
    return answer(message["id"],
                  R"({"tools":[{"name":"find","description":"Finds issues.",)"
                  R"("inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]})");
  if (method != "tools/call") return served_status(202, {}, "");
  return answer(
      message["id"],
      text_result("found with " + std::string(header_value(request.headers, "Authorization")) +
                  " in " + std::string(header_value(request.headers, "Mcp-Session-Id"))));
}

/// A run whose task names one server, "issues", at this address.
struct McpRun : RunFolder {
  explicit McpRun(int calls = 1) {
    write("work/a.txt", "a\n");
    commit_workspace();
    for (int i = 0; i < calls; ++i)
      cassette.call("mcp__issues__find", Json::object({{"text", "crash"}})).next();
    cassette.message("done");
  }
  /// What lets a task name this server, and send it its token.
  static std::string bounds(const LoopbackHttp& server, const std::string& host = "127.0.0.1") {
    const std::string place = host + ":" + std::to_string(server.port());
    return "mcp: [\"" + server.url("", host) + "\"], credentials: {ISSUES_TOKEN: [\"" + place +
           "\"]}";
  }
  void write_policy(const std::string& bounds) const {
    write("policy.yaml", "version: 1\nextends: [auto]\nbounds: {" + bounds + "}\n");
  }
  /// @param settings  YAML of the server, beside its url
  void write_server(const std::string& url, const std::string& settings = "") const {
    write_task(cassette,
               "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n    issues: "
               "{url: \"" +
                   url + "\"" + (settings.empty() ? "" : ", " + settings) + "}\n");
  }
  ProgramStart start(const std::string& token = kMcpToken) const {
    ProgramStart start = RunFolder::start();
    start.environment["ISSUES_TOKEN"] = token;
    return start;
  }
  ProgramEnd run(const std::string& url, const std::string& settings = "",
                 const std::string& token = kMcpToken) const {
    write_server(url, settings);
    return run_program(start(token));
  }
  ProgramEnd run(const LoopbackHttp& server, const std::string& settings = "") const {
    write_policy(bounds(server));
    return run(server.url(), settings);
  }
  /// All that it printed and left behind.
  std::string everything(const ProgramEnd& end) const {
    std::string text = end.printed();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out()))
      if (entry.is_regular_file()) text += read_file(entry.path());
    return text;
  }
  std::string states() const {
    std::string text;
    for (const Json& record : records("mcp.server"))
      text += (text.empty() ? "" : " ") + record.string_at("state");
    return text;
  }

  CassetteWriter cassette;
};

}  // namespace sortie::test

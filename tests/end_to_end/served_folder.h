#pragma once

#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

/// A workspace with a server of tools over stdio (tests/data/mcp/server.py), and a task that names
/// it "one".
class ServedFolder : public RunFolder {
 public:
  ServedFolder() {
    write("work/server.py", read_file(SORTIE_SOURCE_DIR "/tests/data/mcp/server.py"));
    commit_workspace();
    write("policy.yaml",
          "version: 1\nextends: [auto]\nbounds: {mcp: [python3 server.py, node, \"*/node\"], "
          "mcp_env: [GREETING]}\n");
  }
  /// The task's part that names the server.
  /// @param mode      the server's first argument
  /// @param settings  YAML of the server, beside its command
  static std::string server(const std::string& mode, const std::string& settings = {}) {
    return "policy: policy.yaml\nexpect: {changes: any}\ntools:\n  mcp:\n    one: {command: "
           "[python3, server.py, " +
           mode + "]" + (settings.empty() ? "" : ", " + settings) + "}\n";
  }
  void set(const CassetteWriter& cassette, const std::string& mode,
           const std::string& settings = {}) const {
    write_task(cassette, server(mode, settings));
  }
  /// What the server said beside its answers.
  std::string words(const std::string& kind) const {
    std::string text;
    for (const Json& record : records("mcp.message"))
      if (record.string_at("kind") == kind) text += record.string_at("text") + "\n";
    return text;
  }
  std::vector<std::string> states() const {
    std::vector<std::string> names;
    for (const Json& record : records("mcp.server")) names.push_back(record.string_at("state"));
    return names;
  }
};

/// A recording that calls these tools of the server, one a turn.
inline CassetteWriter calls(const std::vector<std::string>& tools) {
  CassetteWriter cassette;
  for (const auto& tool : tools)
    cassette.call("mcp__one__" + tool, Json::object({{"text", "hello"}})).next();
  cassette.message("done");
  return cassette;
}

}  // namespace sortie::test

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace sortie {

/// A server of tools that a task names (Model Context Protocol): a program, or an address.
struct TaskMcpServer {
  std::string name;
  std::vector<std::string> command;                ///< argv; empty for one with a url
  std::map<std::string, std::string> environment;  ///< of the program, beside PATH and HOME
  std::string url;
  std::string bearer_token_env;  ///< variable that holds the token for `url`; "" for none
  std::chrono::milliseconds startup_timeout{std::chrono::seconds(10)};
  std::chrono::milliseconds tool_timeout{std::chrono::seconds(60)};
  std::vector<std::string> tools;  ///< that the run gets; empty: all
  bool required = false;           ///< without it there is no run
  std::string pin;                 ///< "sha256:…" of its list of tools; "" for none
  std::string place;               ///< "task.yaml:5:5": for what is found later
};

}  // namespace sortie

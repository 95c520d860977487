#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/process/process.h"
#include "policies/sandbox/keeper/keeper.h"

namespace sortie::test {

namespace fs = std::filesystem;

/// A temporary folder with a workspace and the folders of an overlay.
struct Sandboxed {
  fs::path base;
  SandboxProfile profile;

  Sandboxed() {
    char name[] = "/tmp/sortie-keeper-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
    ::chmod(name, 0755);
    base = name;
    for (const char* folder : {"ws", "ws/.git", "ws/src", "state", "state/upper", "state/work"})
      fs::create_directory(base / folder);
    write("ws/file.txt", "start\n");
    write("ws/.git/config", "[core]\n");
    profile.uid = ::getuid();
    profile.gid = ::getgid();
    profile.home = "/home/runner";
    profile.protect = {".git"};
    profile.mount.kind = MountPlan::Kind::overlay;
    profile.mount.workspace = fs::canonical(base) / "ws";
    profile.mount.upper = base / "state/upper";
    profile.mount.work = base / "state/work";
  }
  ~Sandboxed() {
    std::error_code error;
    // The work folder of an overlay is left with mode 0.
    ::chmod((base / "state/work/work").c_str(), 0700);
    fs::remove_all(base, error);
  }

  fs::path workspace() const { return profile.mount.workspace; }
  void write(const fs::path& path, const std::string& content) const {
    std::ofstream(base / path) << content;
  }
  std::string read(const fs::path& path) const {
    std::ifstream file(base / path);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
  }

  Command shell(const std::string& script) const {
    Command command;
    command.argv = {"sh", "-c", script};
    command.workdir = profile.mount.workspace;
    command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", profile.home}};
    command.timeout = std::chrono::seconds(30);
    return command;
  }
};

struct Ran {
  ExitStatus status;
  std::string output;
};

inline Ran run(Keeper& keeper, const Command& command) {
  Ran ran;
  ran.status = run_command(keeper.launcher(), command,
                           [&](std::string_view part) { ran.output += part; }, {});
  return ran;
}

/// How many processes have the marker in their command line.
inline int count_marked(const std::string& marker) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::ostringstream content;
    content << file.rdbuf();
    if (content.str().find(marker) != std::string::npos) ++count;
  }
  return count;
}

/// An empty output and success, or what the command said.
inline std::string said(const Ran& ran) {
  return std::to_string(static_cast<int>(ran.status.ending)) + ':' +
         std::to_string(ran.status.code) + ':' + ran.status.detail + ran.output;
}

}  // namespace sortie::test

#pragma once

#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/fakes/memory_files.h"
#include "tests/policies/sandbox/ways.h"
#include "tools/commands/exec_command.h"

namespace sortie::test {

/// A model's sessions in a sandbox.
class Talk {
 public:
  explicit Talk(const Sandboxed& here, ShellOptions options = {})
      : keeper_(here.profile), outputs_(made_folder(here.base / "outputs"), 256u << 20) {
    options.workspace = here.workspace();
    options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", here.profile.home}};
    options.folders = {"/usr/bin", "/bin"};
    options.shown_output = 10u << 10;
    sessions.emplace(keeper_.launcher(),
                     SessionOutputs{redactor_, options.shown_output, &outputs_});
    const ShellParts parts{.launcher = keeper_.launcher(),
                           .files = files_,
                           .redactor = redactor_,
                           .outputs = &outputs_};
    shell = std::make_unique<Shell>(parts, options);
    exec_ = std::make_unique<ExecCommand>(std::make_unique<Shell>(parts, options), *sessions,
                                          options.shown_output);
    write_ = std::make_unique<WriteStdin>(*sessions, options.shown_output);
  }

  /// What the model is shown.
  std::string exec(const std::string& cmd, Json more = Json::object({})) {
    more.set("cmd", cmd);
    if (!more.find("yield_time_ms")) more.set("yield_time_ms", 250);
    return shown(*exec_, more);
  }
  std::string write(int id, const std::string& chars = {}, int yield = 250) {
    return shown(*write_,
                 Json::object({{"session_id", id}, {"chars", chars}, {"yield_time_ms", yield}}));
  }
  /// The same without yield_time_ms, so that the tools decide how long they wait.
  std::string exec_freely(const std::string& cmd, bool tty) {
    return shown(*exec_, Json::object({{"cmd", cmd}, {"tty", tty}}));
  }
  std::string write_freely(Json arguments) {
    arguments.set("session_id", last_id_);
    return shown(*write_, arguments);
  }
  /// Starts a session and waits until it has printed the text.
  std::string start(const std::string& cmd, bool tty, const std::string& until) {
    const std::string first = exec(cmd, Json::object({{"tty", tty}}));
    return first.find(until) != std::string::npos ? first : first + wait_for(last_id(), until);
  }
  /// Asks until the text has come, or the session has ended.
  std::string wait_for(int id, const std::string& text, const std::string& chars = {}) {
    std::string all = write(id, chars);
    for (int tries = 0; tries < 80 && all.find(text) == std::string::npos &&
                        all.find("Exit code") == std::string::npos;
         ++tries)
      all += write(id);
    return all;
  }
  int last_id() const { return last_id_; }
  bool shut_down() { return keeper_.shut_down(); }

  std::optional<ExecSessions> sessions;
  std::unique_ptr<Shell> shell;
  ToolResult last{};

 private:
  static fs::path made_folder(fs::path folder) {
    fs::create_directory(folder);
    return folder;
  }
  std::string shown(Tool& tool, const Json& arguments) {
    try {
      tool.actions(arguments);
      last = tool.run(arguments, {});
    } catch (const ToolError& error) {
      return std::string("error: ") + error.what();
    }
    if (last.session) last_id_ = *last.session;
    return last.head + last.collected->shown + last.note;
  }

  Keeper keeper_;
  MemoryFiles files_;
  Redactor redactor_{{{"KEY", "s3cr3t-value"}}};
  SavedOutputs outputs_;
  std::unique_ptr<ExecCommand> exec_;
  std::unique_ptr<WriteStdin> write_;
  int last_id_ = 0;
};

inline std::string lacks(const std::string& what, const std::string& text,
                         const std::string& wanted) {
  if (text.find(wanted) != std::string::npos) return "";
  return what + ": no '" + wanted + "' in '" + text.substr(0, 2000) + "'\n";
}

inline std::string has(const std::string& what, const std::string& text,
                       const std::string& unwanted) {
  if (text.find(unwanted) == std::string::npos) return "";
  return what + ": '" + unwanted + "' in '" + text + "'\n";
}

inline void in_each_way(const std::function<std::string(Talk&, const Sandboxed&)>& body,
                        const ShellOptions& options = {}) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::vector<SandboxWay> ways = sandbox_ways();
  const auto wrong = found_wrong_together(ways, [&](Sandboxed& here) {
    Talk talk(here, options);
    std::string text = body(talk, here);
    talk.sessions.reset();
    if (!talk.shut_down()) text += "not everything has ended\n";
    return text;
  });
  for (std::size_t i = 0; i < ways.size(); ++i)
    BOOST_TEST(wrong[i] == "", ways[i].name << ":\n" << wrong[i]);
}

}  // namespace sortie::test

#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/loopback_http.h"

namespace sortie::test {

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Appends lines to a.txt, then says that it is done. The mark tells the attempts apart.
inline std::vector<ServedResponse> work_of(const std::string& mark, const std::string& lines) {
  CassetteWriter cassette;
  cassette.patch("*** Begin Patch\n*** Update File: a.txt\n a\n+" + mark + "\n" + lines +
                 "*** End Patch\n");
  return served(cassette.next().message("done by " + mark));
}

inline std::string good(int lines) {
  std::string text = "+good\n";
  for (int i = 1; i < lines; ++i) text += "+more " + std::to_string(i) + "\n";
  return text;
}

/// A response that never ends.
inline std::vector<ServedResponse> silence() {
  return {{.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
           .then = ServedResponse::Then::hang}};
}

struct Script {
  std::string mark;  ///< in all requests of the attempt but the first
  std::vector<ServedResponse> responses;
  std::function<void()> before_last{};  ///< called before the last response is sent
};

/// Gives each new conversation the next script, and goes on with it by its mark.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<Script> scripts)
      : scripts_(std::move(scripts)),
        server_([this](const ReceivedRequest& request) { return answer(request); }) {}
  std::string url() const { return server_.url("/v1"); }
  const LoopbackHttp& http() const { return server_; }
  /// How many conversations have begun.
  std::size_t begun() const { return begun_; }

 private:
  ServedResponse answer(const ReceivedRequest& request) {
    for (const Script& script : scripts_)
      if (holds(request.body, script.mark)) {
        // A response that a full disk lost is asked for again.
        const std::size_t turn = std::min(++turns_[script.mark], script.responses.size() - 1);
        ServedResponse response = script.responses.at(turn);
        if (turn + 1 == script.responses.size()) response.before = script.before_last;
        return response;
      }
    if (begun_ == scripts_.size()) return served_status(500, {}, "{}");
    return scripts_[begun_++].responses.front();
  }

  std::vector<Script> scripts_;
  std::map<std::string, std::size_t> turns_;
  std::size_t begun_ = 0;
  LoopbackHttp server_;
};

class BestOfRun : public ProviderRun {
 public:
  explicit BestOfRun(const std::string& best_of, const std::string& more = {}) {
    write_task({}, "verify: {commands: ['grep -q good a.txt'], rounds: 0}\nbest_of: " + best_of +
                       "\n" + more);
  }
  ProgramEnd run(const ScriptedServer& server, const std::vector<std::string>& flags = {}) const {
    return run_program(start(server.url(), flags));
  }
  Json attempt(std::size_t number) const { return result()["attempts"].items().at(number - 1); }
  /// Checks with `sortie verify` that a folder of the run is whole.
  void check_verifies(const std::filesystem::path& folder) const {
    const ProgramEnd end =
        run_program({.argv = {sortie_binary(), "verify", folder.string()}, .folder = path(".")});
    BOOST_TEST(end.status == 0, folder.string() + ": " + end.errors + end.output);
    BOOST_TEST(!holds(end.output, "foreign"), end.output);
  }
};

/// The processes of the attempts of a run.
inline std::vector<pid_t> attempts_of(const Program& program) {
  std::vector<pid_t> found;
  const std::string file = "/proc/" + std::to_string(program.pid()) + "/task/" +
                           std::to_string(program.pid()) + "/children";
  std::string text = read_file(file);
  for (std::size_t at = 0; at < text.size();) {
    found.push_back(std::stoi(text.substr(at)));
    at = text.find(' ', at) + 1;
  }
  return found;
}

}  // namespace sortie::test

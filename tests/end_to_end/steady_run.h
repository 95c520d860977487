#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "core/record/run_history.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/loopback_http.h"

namespace sortie::test {

inline constexpr int kSteadyTurns = 12;

/// One call of the script, in the order of its turns. Each leads to the same files, also if it is
/// made again after it was done in part.
inline void add_call(CassetteWriter& script, int turn) {
  const std::string name = "f" + std::to_string(turn) + ".txt";
  switch (turn % 4) {
    case 0:
      script.patch("*** Begin Patch\n*** Add File: " + name + "\n+patched\n*** End Patch\n");
      break;
    case 1:
      script.shell({"sh", "-c", "seq 2000 > " + name + ".new && mv " + name + ".new " + name});
      break;
    case 2:
      script.shell({"sh", "-c",
                    "mkdir -p deep/er && rm -f deep/er/link" + name + " old" +
                        std::to_string(turn) + ".txt && ln -s ../" + name + " deep/er/link" +
                        name});
      break;
    default:
      // (sed -i and ln -f would leave a file of a random name where they are killed.)
      script.shell(
          {"sh", "-c",
           "sed 's/line " + std::to_string(turn) + "$/changed/' a.txt > a.new && mv a.new a.txt"});
  }
}

/// A model that is a function of the conversation: it answers with the next step that the outputs
/// so far do not show as done.
class SteadyModel {
 public:
  SteadyModel() : server_([this](const ReceivedRequest& request) { return answer(request); }) {}
  std::string url() const { return server_.url("/v1"); }
  ReceivedRequest last_request() const { return server_.requests().back(); }

 private:
  ServedResponse answer(const ReceivedRequest& request) {
    const Json body = parse_json(request.body);
    int done = -lost(body);
    int outputs = 0;
    for (const Json& item : body["input"].items()) {
      const std::string type = item.string_at("type");
      const std::string text = write_json(item);
      if (type != "function_call_output" && type != "custom_tool_call_output") continue;
      ++outputs;
      bool again = false;
      // By a kill, by the signal that ends a run, or by the end of the process above it.
      for (const char* cut_off :
           {"Interrupted: ", "Killed: the run was stopped", "Killed by signal",
            "Not run: the run is ending", "Not run: the run has ended",
            "The patch was stopped before it was complete", "Not started: "})
        again = again || text.find(cut_off) != std::string::npos;
      const bool there = text.find("already exists") != std::string::npos;
      done += again && !there ? 0 : 1;
    }
    CassetteWriter script;
    // Ids that no other call of the conversation has.
    for (int i = 0; i < outputs; ++i) script.shell({"true"});
    if (outputs > 0) script.next();
    if (done < kSteadyTurns - 1)
      add_call(script, done);
    else if (done == kSteadyTurns - 1 && verified(body))
      script.shell({"sh", "-c", "echo repaired > repaired.txt"});
    else
      return served_stream(
          script.message(done < kSteadyTurns ? "finished" : "done").streams().back());
    script.next();
    return served_stream(script.streams().back());
  }
  /// How many calls with an output left nothing, since the tree is that of a checkpoint.
  static int lost(const Json& body) {
    const std::string said = "is not kept: ";
    int count = 0;
    for (const Json& item : body["input"].items()) {
      const std::string text = write_json(item);
      const std::size_t begin = text.find(said);
      if (item.string_at("role") != "user" || begin == std::string::npos) continue;
      const std::string list = text.substr(begin, text.find(". Empty folders", begin) - begin);
      count += static_cast<int>(std::count(list.begin(), list.end(), '('));
    }
    return count;
  }
  /// Whether the verification has sent its failure back.
  static bool verified(const Json& body) {
    for (const Json& item : body["input"].items())
      if (item.string_at("type") == "message" && item.string_at("role") == "user" &&
          write_json(item).find("test -f repaired.txt") != std::string::npos &&
          write_json(item).find("ended with exit code") != std::string::npos)
        return true;
    return false;
  }

  LoopbackHttp server_;
};

/// The files that the steps of the script change.
inline void fill_steady_workspace(const RunFolder& run) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += "line " + std::to_string(i) + "\n";
  run.write("work/a.txt", lines);
  for (int i = 0; i < kSteadyTurns; ++i)
    run.write("work/old" + std::to_string(i) + ".txt", "old\n");
}

struct SteadyRun : ProviderRun {
  SteadyRun() {
    fill_steady_workspace(*this);
    commit_workspace();
    write_task("", "verify: {commands: ['test -f repaired.txt'], rounds: 2}\n");
  }
};

/// No call may be run twice under one id, and one that was cut off is answered as such.
inline void check_record(const std::filesystem::path& out) {
  const RunHistory history = read_run_history(out / "transcript.jsonl");
  std::map<std::string, int> called;
  for (const RecordedTurn& turn : history.turns)
    for (const TurnCall& call : turn.calls) {
      if (!call.called) continue;
      BOOST_TEST(++called[call.call_id] == 1, call.call_id);
      BOOST_TEST(call.output.has_value(), call.call_id);
    }
  // What was sent with a request is what was answered.
  std::set<std::string> outputs;
  for (const Json* const item : items_sent(history, history.turns.size() - 1))
    if (item->string_at("type") == "tool_output") outputs.insert(item->string_at("call_id"));
  for (const auto& [id, times] : called) BOOST_TEST(outputs.count(id) == 1, id);
}

}  // namespace sortie::test

// Turns of `exec` that are killed at any instant: the thread goes on with the next turn.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/exec_run.h"
#include "tests/end_to_end/steady_run.h"
#include "tests/end_to_end/sweep.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// A workspace that the model's steps change, and a home for its thread.
struct SteadyExec : ExecRun {
  SteadyExec() {
    fill_steady_workspace(*this);
    commit_workspace();
  }
  /// @param words  of a resume, the prompt too
  ProgramStart turn(const std::string& url, const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"--json", "-s", "workspace-write"};
    all.insert(all.end(), words.begin(), words.end());
    return exec(all, url);
  }
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> files = read_tree(workspace());
    std::erase_if(files, [](const auto& entry) { return entry.first.starts_with(".git/"); });
    return files;
  }
};

/// The events that a turn has written; the last one may be cut off by the kill.
std::vector<Json> whole_events(const std::string& stream) {
  const std::size_t end = stream.rfind('\n');
  return events_of(end == std::string::npos ? "" : stream.substr(0, end + 1));
}

bool has_event(const std::vector<Json>& events, const std::string& type) {
  return std::any_of(events.begin(), events.end(),
                     [&type](const Json& event) { return event.string_at("type") == type; });
}

/// A call has one output, in each request, and no two calls have the same id.
void check_conversation(const ReceivedRequest& request) {
  const Json body = parse_json(request.body);
  std::map<std::string, int> calls;
  std::map<std::string, int> outputs;
  for (const Json& item : body["input"].items()) {
    const std::string type = item.string_at("type");
    if (type.ends_with("_call_output"))
      ++outputs[item.string_at("call_id")];
    else if (type.ends_with("_call"))
      ++calls[item.string_at("call_id")];
  }
  BOOST_TEST(calls.size() >= static_cast<std::size_t>(kSteadyTurns - 1));
  for (const auto& [id, times] : calls) BOOST_TEST(times == 1, id);
  const bool same = calls == outputs;
  BOOST_TEST(same, request.body);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_kills)

BOOST_AUTO_TEST_CASE(a_thread_whose_turns_are_killed_at_any_instant_comes_to_the_same_tree) {
  SteadyModel model;
  const SteadyExec whole;
  const auto began = std::chrono::steady_clock::now();
  const ProgramEnd unbroken = run_program(whole.turn(model.url(), {"begin"}));
  BOOST_REQUIRE_MESSAGE(unbroken.status == 0, unbroken.errors);
  const Milliseconds time = std::chrono::steady_clock::now() - began;
  const auto tree = whole.tree();
  BOOST_REQUIRE(tree.contains("f9.txt"));
  const unsigned seed = std::random_device{}();
  Sweep sweep({.whole = time, .end = time * 0.1}, seed);
  const int wanted = kills_wanted(12);
  for (int kills = 0; kills < wanted;) {
    const SteadyExec run;
    std::string thread;                ///< once its id was told
    std::vector<std::string> prompts;  ///< of the turns that were told to have begun
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      const std::string prompt = "prompt " + std::to_string(starts) + ".";
      std::vector<std::string> words = {prompt};
      if (!thread.empty() && sweep.any(2) == 0)
        words = {"resume", "--last", prompt};
      else if (!thread.empty())
        words = {"resume", thread, prompt};
      if (sweep.any(3) == 0)
        words.insert(words.begin(), {"--out", run.path("out" + std::to_string(starts)).string()});
      Program program(run.turn(model.url(), words));
      const Instant instant = sweep.any(3) == 0 ? Instant::start : Instant::anywhere;
      sweep.wait(instant, starts, run.path("none"), program);
      if (kills < wanted) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      const std::vector<Json> events = whole_events(end.output);
      if (!events.empty()) {
        BOOST_TEST(events.front().string_at("type") == "thread.started");
        const std::string told = events.front().string_at("thread_id");
        BOOST_TEST((thread.empty() || thread == told), "seed " << seed);
        thread = told;
      }
      if (has_event(events, "turn.started")) prompts.push_back(prompt);
      if (end.status != 137) {
        BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
        break;
      }
      ++kills;
      sweep.count(events.empty()                        ? "before the thread was told"
                  : has_event(events, "turn.completed") ? "behind the turn"
                  : has_event(events, "item.completed") ? "at work"
                                                        : "in the turn's start");
    }
    const bool same = run.tree() == tree;
    BOOST_TEST(same, "seed " << seed);
    const ReceivedRequest last = model.last_request();
    check_conversation(last);
    for (const std::string& prompt : prompts)
      BOOST_TEST(holds(last.body, prompt), prompt << " (seed " << seed << ")");
    const auto threads = run.threads();
    BOOST_TEST_REQUIRE(std::count(threads.begin(), threads.end(), thread) == 1);
  }
  BOOST_TEST_MESSAGE("seed " << seed << "; killed: " << sweep.phases());
}

BOOST_AUTO_TEST_SUITE_END()

#pragma once

#include <sys/types.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ci/batch/batch_row.h"
#include "core/files/files.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/loopback_http.h"

namespace sortie::test {

/// A model for many runs at the same time: the prompt names the run ("run-17"), the first turn patches a
/// file, the second one ends. If it hears that a kill has cut its call off, it looks whether the file has
/// its line, and adds it. It counts how often each turn of each run was asked for and answered.
class CountingServer {
 public:
  /// How much of an answer is sent before the server waits for the connection's end.
  enum class Cut { at_its_begin, halfway };

  CountingServer() : server_([this](const ReceivedRequest& request) { return answer(request); }) {}

  std::string url() const { return server_.url("/v1"); }
  /// "run-17 turn 2" → how often it was asked for.
  std::map<std::string, int> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// The same of the answers that were sent to their ends: what a provider is paid for.
  std::map<std::string, int> answered() const {
    const std::lock_guard lock(mutex_);
    return answered_;
  }
  /// The next answer to that turn is cut off.
  void cut(const std::string& turn, Cut where) {
    const std::lock_guard lock(mutex_);
    cuts_[turn] = where;
  }
  /// No answer to that turn is.
  void send_whole(const std::string& turn) {
    const std::lock_guard lock(mutex_);
    cuts_.erase(turn);
  }
  int requests() const {
    int sum = 0;
    for (const auto& [turn, times] : asked()) sum += times;
    return sum;
  }
  /// The next so many requests are refused with 429.
  void refuse(int requests) {
    const std::lock_guard lock(mutex_);
    refused_ = requests;
  }
  /// Runs whose model gives up: their verification fails.
  void fail(const std::string& run) {
    const std::lock_guard lock(mutex_);
    failing_.insert(run);
  }
  void wait_for(std::size_t requests) const { server_.wait_for("POST", requests); }

 private:
  static std::string run_of(const std::string& body) {
    const std::size_t at = body.find("mark:run-");
    if (at == std::string::npos) return "?";
    const std::size_t end = body.find_first_not_of("0123456789", at + 9);
    return body.substr(at + 5, end - at - 5);
  }

  /// What the calls before this request gave.
  static std::vector<std::string> outputs_in(const std::string& body) {
    const Json request = parse_json(body);
    std::vector<std::string> texts;
    for (const Json& item : request["input"].items())
      if (item.string_at("type").ends_with("call_output"))
        texts.push_back(item["output"].is_string() ? item.string_at("output")
                                                   : item["output"].string_at("output"));
    return texts;
  }

  ServedResponse answer(const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    if (refused_ > 0) {
      --refused_;
      return served_status(429, {{"Retry-After", "1"}}, "{\"error\":{\"message\":\"slow down\"}}");
    }
    const std::string run = run_of(request.body);
    const std::vector<std::string> outputs = outputs_in(request.body);
    const std::string turn = run + " turn " + std::to_string(outputs.size() + 1);
    ++asked_[turn];
    CassetteWriter cassette;
    const std::string line = (failing_.contains(run) ? "bad " : "good ") + run;
    // The history has what this model did, but not where another one began.
    if (request.body.find(line) == std::string::npos)
      cassette.patch("*** Begin Patch\n*** Update File: a.txt\n a\n+" + line + "\n*** End Patch\n")
          .next();
    else if (outputs.back().starts_with("Interrupted:"))
      cassette.shell({"sh", "-c", "grep -q '" + line + "' a.txt || echo '" + line + "' >> a.txt"})
          .next();
    else
      cassette.message("done " + run);
    ServedResponse whole = served_stream(cassette.streams().at(0));
    if (const auto cut = cuts_.extract(turn); !cut.empty()) {
      whole.bytes.resize(cut.mapped() == Cut::halfway ? whole.bytes.size() / 2 : 0);
      whole.then = ServedResponse::Then::hang;
      return whole;
    }
    ++answered_[turn];
    return whole;
  }

  mutable std::mutex mutex_;
  std::map<std::string, int> asked_;
  std::map<std::string, int> answered_;
  std::map<std::string, Cut> cuts_;
  std::set<std::string> failing_;
  int refused_ = 0;
  LoopbackHttp server_;
};

/// A manifest beside a workspace, and `sortie batch` over it.
class BatchFolders : public ProviderRun {
 public:
  BatchFolders() {
    write("task.yaml",
          "version: 1\nprompt: 'Do it, mark:{{run}} .'\nworkspace: {path: work}\npolicy: auto\n"
          "vars: {run: {required: true, trusted: true}}\n"
          "model: {retries: 0}\nverify: {commands: ['grep -q good a.txt'], rounds: 0}\n");
  }
  /// A batch of so many runs, run-1 to run-N.
  void write_manifest(int runs, const std::string& more = {}) const {
    std::string text = "version: 1\ntasks: [task.yaml]\nname: '{{run}}'\nvars:\n";
    for (int i = 1; i <= runs; ++i) text += "  - {run: run-" + std::to_string(i) + "}\n";
    write("batch.yaml", text + more);
  }
  ProgramStart batch(const std::string& url, const std::vector<std::string>& flags = {}) const {
    ProgramStart start = ProviderRun::start(url);
    start.argv = {sortie_binary(), "batch", path("batch.yaml").string(), "--out", dir().string()};
    start.argv.insert(start.argv.end(), flags.begin(), flags.end());
    start.folder = path("caller");
    start.shows_events = false;
    return start;
  }
  std::filesystem::path dir() const { return path("batch"); }
  std::vector<BatchRow> rows(const std::string& name = "results.jsonl") const {
    return read_batch_rows(dir() / name);
  }
  BatchRow row(const std::string& run) const {
    for (const BatchRow& one : rows())
      if (one.name == run) return one;
    BOOST_FAIL("no result of " + run);
    return {};
  }
};

/// The processes that a program has started.
inline std::vector<pid_t> runs_of(pid_t pid) {
  std::vector<pid_t> found;
  const std::string id = std::to_string(pid);
  const std::string text = read_bytes_file("/proc/" + id + "/task/" + id + "/children", 4096).text;
  for (std::size_t at = 0; at < text.size(); at = text.find(' ', at) + 1)
    found.push_back(std::stoi(text.substr(at)));
  return found;
}

/// That each of two turns of so many runs was asked for once.
inline void check_paid_once(const CountingServer& server, int runs) {
  const auto asked = server.asked();
  BOOST_TEST(asked.size() == static_cast<std::size_t>(2 * runs));
  for (const auto& [turn, times] : asked) BOOST_TEST(times == 1, turn << ": " << times);
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sortie::test

#pragma once

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
/// file, the second one ends. It counts how often each turn of each run was answered.
class CountingServer {
 public:
  CountingServer() : server_([this](const ReceivedRequest& request) { return answer(request); }) {}

  std::string url() const { return server_.url("/v1"); }
  /// "run-17 turn 2" → how often it was asked for.
  std::map<std::string, int> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
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

  ServedResponse answer(const ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    if (refused_ > 0) {
      --refused_;
      return served_status(429, {{"Retry-After", "1"}}, "{\"error\":{\"message\":\"slow down\"}}");
    }
    const std::string run = run_of(request.body);
    const bool second = request.body.find("apply_patch_call") != std::string::npos ||
                        request.body.find("custom_tool_call_output") != std::string::npos;
    ++asked_[run + " turn " + (second ? "2" : "1")];
    CassetteWriter cassette;
    const std::string word = failing_.contains(run) ? "bad" : "good";
    cassette.patch("*** Begin Patch\n*** Update File: a.txt\n a\n+" + word + " " + run +
                   "\n*** End Patch\n");
    cassette.next().message("done " + run);
    return served_stream(cassette.streams().at(second ? 1 : 0));
  }

  mutable std::mutex mutex_;
  std::map<std::string, int> asked_;
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

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace sortie::test

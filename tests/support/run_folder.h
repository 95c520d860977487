#pragma once

#include <poll.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "tests/support/cassette_writer.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

/// A folder with a workspace, a task that replays a cassette, and an --out beside them.
class RunFolder {
 public:
  RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  /// Checks the transcripts of its runs.
  ~RunFolder();
  std::filesystem::path workspace() const { return folder_ / "work"; }
  std::filesystem::path out() const { return folder_ / "out"; }
  std::filesystem::path task() const { return folder_ / "task.yaml"; }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& content) const;
  /// Makes the workspace a git repository with one commit of all that is in it.
  void commit_workspace() const;
  /// A task with this cassette; `more` is YAML put at its end.
  void write_task(const CassetteWriter& cassette, const std::string& more = {}) const;
  /// `sortie run` with the flags given added. It shows its events, and each run of a test has them
  /// checked so.
  ProgramStart start(const std::vector<std::string>& flags = {}) const;
  /// The same without events: its stdout is the final message.
  ProgramStart plain_start(const std::vector<std::string>& flags = {}) const;
  ProgramEnd run(const std::vector<std::string>& flags = {}) const;
  /// The same by this caller, whose own all of it is from then on.
  ProgramEnd run_as(const Caller& caller, ProgramStart start) const;
  ProgramEnd run_as(const Caller& caller) const { return run_as(caller, start()); }

  Json result() const;
  /// The data of all records of a type, in their order.
  std::vector<Json> records(const std::string& type) const;
  /// The output of the Nth tool call, from 0.
  std::string output(std::size_t call) const;
  /// A file of --out.
  std::string artifact(const std::string& name) const;

 private:
  TemporaryFolder folder_;
};

/// Waits until it holds; false after a minute.
template <typename Condition>
bool wait_until(Condition condition) {
  for (int tries = 0; tries < 12'000; ++tries) {
    if (condition()) return true;
    ::poll(nullptr, 0, 5);
  }
  return false;
}

}  // namespace sortie::test

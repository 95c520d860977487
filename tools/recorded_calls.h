#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/events.h"
#include "policies/engine/approver.h"
#include "policies/engine/engine.h"
#include "tools/tool.h"

namespace sortie {

/// The calls of a recorded run that a replay can't make again: those of other programs' tools (MCP),
/// commands that opened a network connection with the later calls of their sessions, calls that were
/// cut off when the run was killed, sessions that were lost then, and the answers of the approver. What
/// the run found in its tree after a kill is made again too.
class RecordedCalls {
 public:
  /// The replay's tree, and what must not be written in it.
  struct Tree {
    DiskFiles& files;
    const Engine& engine;
  };

  /// @param transcript  whose chain has been checked
  /// @throws Error  ExitCode::integrity: it can't be read
  explicit RecordedCalls(const std::filesystem::path& transcript);
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// The recorded result of a call, if it is one of these; the files that it changed are changed
  /// again. Calls with the same id are answered in their order.
  std::optional<ToolResult> answer(const ToolCall& call, Tree tree);
  /// What a call does, as it was decided on: of a session that the replay does not have.
  std::optional<std::vector<Action>> actions(const ToolCall& call) const;
  /// Makes the changes again that the record has after a call, from when the run was gone on with.
  /// Call it once the call was answered or run.
  /// @param changes  of the call; those that the record has after them are added
  /// @return         whether the tree was changed
  bool add_later_changes(const ToolCall& call, std::vector<FileChange>& changes, Tree tree);
  /// The tools of other programs that were called, in the order of their names, and which of these
  /// programs could not be started; null if there were none. Valid as long as this.
  ToolSource* source() { return tools_.empty() && failed_.empty() ? nullptr : &source_; }
  Approver& approver() { return approver_; }
  /// What could not be done again since the last time, for people: files whose contents the record
  /// lacks, and calls that were cut off.
  std::vector<std::string> take_gaps();

 private:
  struct Call {
    ToolCall call{};
    std::optional<ToolOrigin> origin{};
    std::vector<RecordedAction> actions{};
    std::optional<ToolOutputRecord> output{};
    std::vector<FileChange> changes{};
    std::vector<FileChange> later_changes{};  ///< that a later process found in the tree
    int process = 0;                          ///< the number of the run's process that made it
    std::optional<std::int64_t> session{};    ///< the one that it began or went on with
    bool from_record = false;
  };
  /// A tool of another program, as far as its calls tell.
  struct ForeignTool {
    ToolOrigin origin{};
    std::vector<std::string> other_names{};
  };
  class Source : public ToolSource {
   public:
    explicit Source(RecordedCalls& calls) : calls_(calls) {}
    bool renew(std::stop_token) override { return false; }
    std::vector<std::unique_ptr<Tool>> tools() override;
    std::string why_missing(const std::string& name) const override;

   private:
    RecordedCalls& calls_;
  };
  /// Gives the recorded answers in their order.
  class Answers : public Approver {
   public:
    ApproverAnswer ask(const Json& request, std::chrono::milliseconds time_left,
                       std::stop_token stop) override;
    std::map<std::string, std::deque<RecordedApprover>> by_call{};
  };

  void take(const RunEvent& event);
  void take_resumption();
  void choose();
  bool change(const FileChange& change, Tree tree);
  bool change_all(const std::vector<FileChange>& changes, Tree tree);

  std::vector<Call> calls_;
  std::map<std::string, std::size_t> open_;      ///< by call id: those without an output so far
  std::size_t last_output_ = 0;                  ///< whose changes follow
  int process_ = 0;                              ///< how many times the run was started so far
  bool goes_on_ = false;                         ///< no output since the last start
  std::map<std::string, std::size_t> answered_;  ///< the last one by call id
  std::map<std::string, ForeignTool> tools_;
  std::set<std::string> started_;  ///< servers of tools
  std::set<std::string> failed_;   ///< those that could not be started
  std::map<std::string, std::vector<std::string>> other_names_;  ///< by call id
  Source source_{*this};
  Answers approver_;
  std::map<std::string, std::vector<RecordedAction>> decided_;  ///< by call id, until it is called
  std::vector<std::string> gaps_;
  std::vector<bool> used_;
  mutable std::mutex mutex_;
};

}  // namespace sortie

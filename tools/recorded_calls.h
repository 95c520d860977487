#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/events.h"
#include "policies/engine/approver.h"
#include "tools/tool.h"

namespace sortie {

/// The calls of a recorded run that a replay can't make again: those of other programs' tools (MCP),
/// commands that opened a network connection with the later calls of their sessions, calls that were
/// cut off when the run was killed, sessions that were lost then, and the answers of the approver.
class RecordedCalls {
 public:
  /// @param transcript  whose chain has been checked
  /// @throws Error  ExitCode::integrity: it can't be read
  explicit RecordedCalls(const std::filesystem::path& transcript);
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// The recorded result of a call, if it is one of these; the files that it changed are changed
  /// again. Calls with the same id are answered in their order.
  std::optional<ToolResult> answer(const ToolCall& call, Files& files);
  /// The tools of other programs that were called, in the order of their names; null if there were
  /// none. Valid as long as this.
  ToolSource* source() { return tools_.empty() ? nullptr : &source_; }
  Approver& approver() { return approver_; }
  /// What could not be done again since the last time, for people: files whose contents the record
  /// lacks, and calls that were cut off.
  std::vector<std::string> take_gaps();

 private:
  struct Call {
    ToolCall call{};
    std::optional<ToolOrigin> origin{};
    std::optional<ToolOutputRecord> output{};
    std::vector<FileChange> changes{};
    std::optional<std::int64_t> session{};  ///< the one that it began or went on with
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
  void change(const FileChange& change, Files& files);

  std::vector<Call> calls_;
  std::map<std::string, std::size_t> open_;  ///< by call id: those without an output so far
  std::size_t last_output_ = 0;              ///< whose changes follow
  std::map<std::string, ForeignTool> tools_;
  std::map<std::string, std::vector<std::string>> other_names_;  ///< by call id
  Source source_{*this};
  Answers approver_;
  std::vector<std::string> gaps_;
  std::vector<bool> used_;
  mutable std::mutex mutex_;
};

}  // namespace sortie

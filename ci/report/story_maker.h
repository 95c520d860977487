#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "ci/report/run_story.h"
#include "ci/tally.h"

namespace sortie {

/// Makes the parts of a story that come from events; the texts in them may be cut already.
class StoryMaker {
 public:
  using Time = std::chrono::system_clock::time_point;
  /// @param cut_from_output  see BoundedEvent
  void on(const RunEvent& event, Time time, std::uint64_t cut_from_output = 0);

  /// What the events say. The verdict and the diff are not in it.
  RunStory take();
  const Tally& tally() const noexcept { return tally_; }
  /// The last end of the last start; nothing: the run was killed, or is at work.
  const std::optional<RunEnd>& end() const noexcept { return end_; }

  /// Who wrote a path of the workspace.
  struct Writers {
    bool agent = false;
    bool command = false;
  };
  const std::map<std::string, Writers>& writers() const noexcept { return writers_; }
  /// The diffs on record: of a diff that is missing, at least the files are known.
  const std::vector<DiffWritten>& diffs() const noexcept { return diffs_; }

 private:
  void add(const RunStart& start);
  void add(const TurnStarted& turn);
  void add(const RetryRecord& retry);
  void add(const PacedWait& wait);
  void add(const FallbackRecord& fallback);
  void add(const ModelCutOff& cut_off);
  void add(const ModelAnswered& answer);
  void add(const CheckRecord& check);
  void add(const CallDecided& decided);
  void add(const ToolCalled& called);
  void add(const ToolOutputRecord& output);
  void add(const PlanUpdated& plan);
  void add(const FileChange& change);
  void add(const DiffWritten& diff);
  void add(const NetworkRecord& connection);
  void add(const McpServerRecord& server);
  void add(const VerificationRecord& command);
  void add(const VerificationCompleted& command);
  void add(const StageRecord& stage);
  void add(const StageCompleted& stage);
  void add(const CompactionRecord& compaction);
  void add(const BudgetExhausted& budget);
  void add(const RunEnd& end);
  template <class Other>
  void add(const Other&) {}  // nothing that people ask for

  StoryTurn& turn();
  StoryCall& call(const std::string& id, const std::string& tool);
  void note(StoryNote::Kind kind, std::string text, bool problem = false, Excerpt detail = {});
  void step(StoryStep::Kind kind, std::size_t index);
  Excerpt cut(std::string_view text, std::uint64_t between = 0);
  void end_turn();

  RunStory story_;
  Tally tally_;
  std::optional<RunEnd> end_;
  std::map<std::string, Writers> writers_;
  std::vector<DiffWritten> diffs_;
  std::string stage_;
  int number_ = 0;
  Time time_{};
  std::uint64_t cut_from_output_ = 0;    ///< of the event
  std::optional<Time> began_{};          ///< the current turn
  std::chrono::milliseconds waited_{0};  ///< in it, for a shared limit
  std::size_t text_bytes_ = 0;           ///< of all excerpts
  std::size_t connections_ = 0;
  std::string connection_;            ///< the text of the last note of one
  std::size_t connection_note_ = 0;   ///< its index
  std::size_t same_connections_ = 0;  ///< in a row, that it stands for
};

}  // namespace sortie

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/workspace/checkpoint/own_state.h"

namespace sortie {

class RunRecord;

/// The digest of what the workspace has at the start beside its commit. It needs a look at the whole
/// tree, which takes place beside the first request to the model, so that this does not wait for it.
class StartDigest : public EventSink {
 public:
  struct Parts {
    std::filesystem::path root;                  ///< of the workspace
    FileMarks marks = FileMarks::contents;       ///< `times` without a repository
    std::vector<std::filesystem::path> apart{};  ///< as for own_changes_since()
    const Redactor& redactor;
    RunRecord& record;
    std::function<void(const std::vector<std::string>& paths)> settled;  ///< gets OwnState::paths
    std::stop_token stop{};  ///< the run is to end: nothing is recorded, the next one looks
  };
  explicit StartDigest(Parts parts) : parts_(std::move(parts)) {}
  StartDigest(const StartDigest&) = delete;
  StartDigest& operator=(const StartDigest&) = delete;

  /// Begins to look, in a thread.
  void begin();
  /// Records it, and waits for it if need be. The second time it does nothing.
  void settle();
  /// Once it is not needed any more: nothing is recorded.
  void drop() noexcept;

  /// Passes an event of the agent on to the record. The digest follows the first response of the model,
  /// before a call of it has an effect.
  void on(const RunEvent& event) override;
  void consume(RunEvent&& event) override;

 private:
  void look(const std::stop_token& stop);
  StartChanges found() const;

  const Parts parts_;
  std::optional<OwnState> state_;
  std::string problem_;
  std::atomic<bool> begun_ = false;
  std::jthread thread_;  ///< last: ends before what it uses
};

}  // namespace sortie

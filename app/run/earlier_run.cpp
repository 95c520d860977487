#include "app/run/earlier_run.h"

#include <utility>
#include <variant>

namespace sortie {

EarlierRun read_earlier_run(const std::filesystem::path& transcript) {
  // Apart from a run's own counters: of a transcript that was changed, nothing is kept.
  class Counted : public EventSink {
   public:
    void on(const RunEvent& event) override {
      tally.on(event);
      if (std::holds_alternative<FileChange>(event.what)) changes.push_back(event);
    }
    Tally tally;
    std::vector<RunEvent> changes;
  };
  Counted counted;
  RunHistory history = read_run_history(transcript, &counted);
  return {std::move(history), std::move(counted.tally), std::move(counted.changes)};
}

}  // namespace sortie

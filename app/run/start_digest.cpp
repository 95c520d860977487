#include "app/run/start_digest.h"

#include <cstddef>
#include <system_error>
#include <variant>

#include "app/run/run_record.h"
#include "core/base/error.h"
#include "core/base/hash.h"

namespace sortie {
namespace {

/// A longer list is not recorded.
constexpr std::size_t kMostPaths = 10000;
constexpr std::size_t kMostListBytes = 4u << 20;

}  // namespace

void StartDigest::begin() {
  begun_ = true;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { look(stop); });
  } catch (const std::system_error&) {  // no room for a thread: it looks when it has to
  }
}

void StartDigest::look(const std::stop_token& stop) {
  try {
    state_ = own_state(parts_.root, parts_.apart, parts_.marks, [&stop, &run = parts_.stop] {
      if (stop.stop_requested() || run.stop_requested())
        throw Error("the run has ended", ExitCode::environment);
    });
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
}

void StartDigest::settle() {
  if (!begun_.exchange(false)) return;
  if (thread_.joinable())
    thread_.join();
  else
    look({});
  if (!state_ && parts_.stop.stop_requested()) return;
  parts_.record.events().on({parts_.record.turn(), found()});
  if (state_) parts_.settled(state_->paths);
}

void StartDigest::drop() noexcept {
  begun_ = false;
  thread_ = std::jthread();
}

StartChanges StartDigest::found() const {
  if (!state_) return {.not_read = problem_};
  StartChanges changes{.digest = "sha256:" + sha256_hex(state_->list),
                       .changes = state_->paths.size()};
  const std::string& list = state_->list;
  const bool fits = state_->paths.size() <= kMostPaths && list.size() <= kMostListBytes;
  if (fits && parts_.redactor.text(list) == list)
    changes.list = list;
  else
    changes.more = true;
  return changes;
}

void StartDigest::on(const RunEvent& event) {
  parts_.record.events().on(event);
  if (std::holds_alternative<ModelAnswered>(event.what)) settle();
}

void StartDigest::consume(RunEvent&& event) {
  const bool answered = std::holds_alternative<ModelAnswered>(event.what);
  parts_.record.events().consume(std::move(event));
  if (answered) settle();
}

}  // namespace sortie

#pragma once

#include <mutex>
#include <set>
#include <string>
#include <variant>

#include "core/record/events.h"

namespace sortie {

/// Collects the paths that patches of the agent wrote. Safe in every thread.
class PatchedPaths : public EventSink {
 public:
  void on(const RunEvent& event) override {
    const auto* change = std::get_if<FileChange>(&event.what);
    if (change == nullptr || change->kind == ChangeKind::remove || !change->by.empty()) return;
    const std::lock_guard lock(mutex_);
    paths_.insert(change->path);
  }
  std::set<std::string> paths() const {
    const std::lock_guard lock(mutex_);
    return paths_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> paths_;
};

}  // namespace sortie

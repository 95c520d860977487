#include "core/git/git_distance.h"

#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sortie {
namespace {

/// From which of the two a commit is reachable.
enum Reached : unsigned { by_first = 1, by_second = 2, by_both = 3 };

class Painting {
 public:
  Painting(git_repository& repository, const std::function<void()>& check_cancel)
      : repository_(repository), check_cancel_(check_cancel) {}

  /// @return  false if the commit is missing
  bool reach(const git_oid& id, unsigned from) {
    const std::string key(reinterpret_cast<const char*>(id.id), sizeof id.id);
    const auto [found, is_new] = seen_.try_emplace(key);
    Seen& seen = found->second;
    if ((seen.reached & from) == from) return true;
    if (is_new) {
      GitCommit commit;
      if (git_commit_lookup(GitOut(commit), &repository_, &id) < 0) return false;
      seen.time = git_commit_time(commit.get());
      for (unsigned i = 0; i < git_commit_parentcount(commit.get()); ++i)
        seen.parents.push_back(*git_commit_parent_id(commit.get(), i));
    }
    if (seen.reached != by_both) open_ -= seen.waits;
    seen.reached |= from;
    ++seen.waits;
    if (seen.reached != by_both) open_ += seen.waits;
    waiting_.push({seen.time, &seen});
    return true;
  }

  /// Newest first, until all queued commits are reachable from both: then their ancestors are, too.
  bool run() {
    while (open_ > 0) {
      if (check_cancel_) check_cancel_();
      Seen& seen = *waiting_.top().seen;
      waiting_.pop();
      --seen.waits;
      if (seen.reached != by_both) --open_;
      for (const git_oid& parent : seen.parents)
        if (!reach(parent, seen.reached)) return false;
    }
    return true;
  }

  GitDistance count() const {
    GitDistance distance;
    for (const auto& [id, seen] : seen_) {
      distance.ahead += seen.reached == by_first ? 1 : 0;
      distance.behind += seen.reached == by_second ? 1 : 0;
    }
    return distance;
  }

 private:
  struct Seen {
    git_time_t time = 0;
    std::vector<git_oid> parents{};
    unsigned reached = 0;
    std::size_t waits = 0;  ///< how often it is queued
  };
  struct Waiting {
    git_time_t time;
    Seen* seen;
    bool operator<(const Waiting& other) const { return time < other.time; }
  };

  git_repository& repository_;
  const std::function<void()>& check_cancel_;
  std::unordered_map<std::string, Seen> seen_;  ///< by the bytes of the commit ids
  std::priority_queue<Waiting> waiting_;
  std::size_t open_ = 0;  ///< queued commits that are not reachable from both
};

}  // namespace

std::optional<GitDistance> git_distance(git_repository& repository, const git_oid& first,
                                        const git_oid& second,
                                        const std::function<void()>& check_cancel) {
  if (git_oid_equal(&first, &second) != 0) return GitDistance{};
  Painting painting(repository, check_cancel);
  if (!painting.reach(first, by_first) || !painting.reach(second, by_second) || !painting.run())
    return {};
  return painting.count();
}

}  // namespace sortie

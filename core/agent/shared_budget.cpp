#include "core/agent/shared_budget.h"

#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <new>
#include <type_traits>

#include "core/base/error.h"

namespace sortie {

struct SharedBudget::Memory {
  pthread_mutex_t mutex;
  std::array<Share, kMostShares> shares;
  Use earlier;

  Use others(int share) const {
    Use sum = earlier;
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (i != static_cast<std::size_t>(share)) sum = sum + shares[i].used + shares[i].aside;
    return sum;
  }
};

/// Holds the mutex, also after a process was killed that held it: a share is two values of plain
/// numbers, which are right before and after each step.
class SharedBudget::Lock {
 public:
  explicit Lock(Memory& memory) : memory_(memory) {
    const int number = ::pthread_mutex_lock(&memory_.mutex);
    if (number == EOWNERDEAD) ::pthread_mutex_consistent(&memory_.mutex);
  }
  Lock(const Lock&) = delete;
  ~Lock() { ::pthread_mutex_unlock(&memory_.mutex); }

 private:
  Memory& memory_;
};

SharedBudget::SharedBudget(std::chrono::steady_clock::time_point deadline) : deadline_(deadline) {
  static_assert(std::is_trivially_destructible_v<Share>);
  void* where =
      ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (where == MAP_FAILED) throw system_error("mmap", ExitCode::environment);
  memory_ = new (where) Memory{};
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&memory_->mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

SharedBudget::~SharedBudget() { ::munmap(memory_, sizeof(Memory)); }

void SharedBudget::add_earlier(const Use& used) {
  const Lock lock(*memory_);
  memory_->earlier = memory_->earlier + used;
}

void SharedBudget::take_up(int share, const Use& used) {
  change(share, [&used](Share& own, const Use&) { own = {.used = used, .aside = {}}; });
}

SharedBudget::Use SharedBudget::others(int share) const {
  const Lock lock(*memory_);
  return memory_->others(share);
}

SharedBudget::Share SharedBudget::share(int share) const {
  const Lock lock(*memory_);
  return memory_->shares.at(static_cast<std::size_t>(share));
}

void SharedBudget::change(int share,
                          const std::function<void(Share& own, const Use& others)>& step) {
  const Lock lock(*memory_);
  const Use sum = memory_->others(share);
  Share own = memory_->shares.at(static_cast<std::size_t>(share));
  step(own, sum);
  memory_->shares[static_cast<std::size_t>(share)] = own;
}

void SharedBudget::settle(int share) {
  change(share, [](Share& own, const Use&) { own.aside = {}; });
}

}  // namespace sortie

#include "policies/egress/name_lookup.h"

#include <sys/eventfd.h>

#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "core/base/error.h"

namespace sortie {
namespace {

/// Concurrent lookups; more are queued. A silent name server blocks each for half a minute.
constexpr int kMostThreads = 16;

}  // namespace

struct NameLookup::Shared {
  explicit Shared(std::shared_ptr<HostResolver> given) : resolver(std::move(given)) {}

  std::shared_ptr<HostResolver> resolver;
  Fd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::deque<std::pair<std::uint64_t, std::string>> waiting;
  std::vector<Answer> answers;
  int threads = 0;
  bool over = false;

  void work() {
    std::unique_lock lock(mutex);
    while (!over && !waiting.empty()) {
      auto [id, name] = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      Answer answer{id, {}, ""};
      try {
        answer.addresses = resolver->resolve(name, answer.problem);
      } catch (const std::exception& error) {
        answer.problem = error.what();
      }
      lock.lock();
      answers.push_back(std::move(answer));
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto told = ::write(ready.get(), &one, sizeof one);
    }
    --threads;
  }
};

NameLookup::NameLookup(std::shared_ptr<HostResolver> resolver)
    : shared_(std::make_shared<Shared>(std::move(resolver))) {
  if (!shared_->ready) throw system_error("eventfd", ExitCode::environment);
}

NameLookup::~NameLookup() {
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
}

void NameLookup::start(std::uint64_t id, const std::string& name) {
  const std::lock_guard lock(shared_->mutex);
  shared_->waiting.emplace_back(id, name);
  if (shared_->threads == kMostThreads) return;
  ++shared_->threads;
  try {
    // It inherits the caller's signal mask: the proxy's loop has all signals blocked.
    std::thread([shared = shared_] { shared->work(); }).detach();
  } catch (const std::system_error&) {
    if (--shared_->threads > 0) return;  // another thread will do it
    shared_->waiting.pop_back();
    throw Error("no thread for looking a host up");
  }
}

int NameLookup::descriptor() const noexcept { return shared_->ready.get(); }

std::vector<NameLookup::Answer> NameLookup::take_answers() {
  const std::lock_guard lock(shared_->mutex);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto ignored = ::read(shared_->ready.get(), &count, sizeof count);
  return std::exchange(shared_->answers, {});
}

}  // namespace sortie

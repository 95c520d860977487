#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tools/search/tree_walk.h"

namespace sortie {

/// Looks at the files of a walk in as many threads as there are processors, up to four, the calling
/// one included; takes what was found in the calling one, in the walk's order. So what comes out is
/// the same for any number of threads. Threads are started only for more than a hundred files.
template <class Found>
class OrderedWork {
 public:
  using Look = std::function<Found(const WalkedFile&)>;
  /// False ends the work: what was found in later files is dropped.
  using Take = std::function<bool(const WalkedFile&, Found&)>;

  /// @param make_look  called once for each thread; what a look throws comes out of add() or finish()
  OrderedWork(const std::function<Look()>& make_look, Take take)
      : make_look_(make_look), look_(make_look()), take_(std::move(take)) {}
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;
  ~OrderedWork() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    to_do_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  /// @return  false if `take` has ended the work
  bool add(const WalkedFile& file) {
    if (over_) return false;
    if (!filling_) filling_ = std::make_unique<Batch>();
    filling_->items.push_back({file.folder, std::string(file.path),
                               file.path.size() - std::char_traits<char>::length(file.name),
                               Found{}});
    return filling_->items.size() < kBatch || pass_on(kMostWaiting * (helpers_.size() + 1));
  }
  /// Waits for all. @return  as add()
  bool finish() { return !over_ && pass_on(0); }
  /// Whether the rest of the files is not wanted any more.
  bool is_over() const noexcept { return over_; }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kMostWaiting = 4;  ///< batches for each thread
  static constexpr unsigned kMostThreads = 4;

  struct Item {
    std::shared_ptr<const Fd> folder;
    std::string path;
    std::size_t name_at;
    Found found;
    WalkedFile file() const { return {folder, path.c_str() + name_at, path}; }
  };
  enum class State { waiting, worked_on, done };
  struct Batch {
    std::vector<Item> items{};
    State state = State::waiting;
    std::exception_ptr failure{};
  };

  /// Queues the batch that is being filled, then works and takes until few enough are left.
  bool pass_on(std::size_t left) {
    if (filling_) {
      {
        const std::lock_guard lock(mutex_);
        batches_.push_back(std::move(filling_));
      }
      if (!std::exchange(first_, false)) start_helpers();
      to_do_.notify_one();
    }
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!batches_.empty() && batches_.front()->state == State::done) {
        const std::unique_ptr<Batch> batch = std::move(batches_.front());
        batches_.pop_front();
        lock.unlock();
        if (!take_all(*batch)) return false;
        lock.lock();
      }
      if (batches_.size() <= left) return true;
      if (!work_on_next(lock, look_)) done_.wait(lock);
    }
  }

  bool take_all(Batch& batch) {
    if (batch.failure) std::rethrow_exception(batch.failure);
    for (Item& item : batch.items) {
      if (take_(item.file(), item.found)) continue;
      over_ = true;
      return false;
    }
    return true;
  }

  /// @return  false if no batch waits
  bool work_on_next(std::unique_lock<std::mutex>& lock, const Look& look) {
    const auto next = std::find_if(batches_.begin(), batches_.end(), [](const auto& batch) {
      return batch->state == State::waiting;
    });
    if (next == batches_.end()) return false;
    Batch& batch = **next;  // taken out by the calling thread alone, once it is done
    batch.state = State::worked_on;
    lock.unlock();
    try {
      for (Item& item : batch.items) item.found = look(item.file());
    } catch (...) {
      batch.failure = std::current_exception();
    }
    lock.lock();
    batch.state = State::done;
    return true;
  }

  void start_helpers() {
    const unsigned threads = std::min(std::thread::hardware_concurrency(), kMostThreads);
    if (!helpers_.empty() || threads < 2) return;
    try {
      while (helpers_.size() + 1 < threads)
        helpers_.emplace_back([this, look = make_look_()] { help(look); });
    } catch (const std::system_error&) {  // no more threads: this one does it all
    }
  }

  void help(const Look& look) {
    std::unique_lock lock(mutex_);
    while (!over_) {
      if (work_on_next(lock, look))
        done_.notify_one();
      else
        to_do_.wait(lock);
    }
  }

  std::function<Look()> make_look_;
  Look look_;  ///< of the calling thread
  Take take_;
  std::unique_ptr<Batch> filling_;
  bool first_ = true;
  std::mutex mutex_;
  std::condition_variable to_do_;
  std::condition_variable done_;
  std::deque<std::unique_ptr<Batch>> batches_;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace sortie

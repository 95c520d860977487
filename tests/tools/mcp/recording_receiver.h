#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/mcp/transport/transport.h"

namespace sortie::test {

/// Keeps what a transport told, and lets a test wait for it.
class RecordingReceiver : public mcp::Receiver {
 public:
  std::function<void(const mcp::Message&)> on_message;  ///< called in the transport's thread

  void received(mcp::Message message) override {
    if (on_message) on_message(message);
    note([&] { messages_.push_back(std::move(message)); });
  }
  void failed(const Json& id, const std::string& why) override {
    note([&] { failures_.push_back(mcp::id_text(id) + ": " + why); });
  }
  void closed(const std::string& why) override {
    note([&] { closings_.push_back(why); });
  }
  void remarked(const mcp::Remark& remark) override {
    note([&] { remarks_.push_back(remark); });
  }

  std::vector<mcp::Message> messages() const { return copy(messages_); }
  std::vector<std::string> failures() const { return copy(failures_); }
  std::vector<std::string> closings() const { return copy(closings_); }
  std::vector<mcp::Remark> remarks() const { return copy(remarks_); }

  std::vector<mcp::Message> wait_for_messages(std::size_t number) {
    return wait(messages_, number, "messages");
  }
  std::vector<std::string> wait_for_failures(std::size_t number = 1) {
    return wait(failures_, number, "failures");
  }
  std::vector<std::string> wait_for_closing() { return wait(closings_, 1, "closings"); }
  std::vector<mcp::Remark> wait_for_remarks(std::size_t number = 1) {
    return wait(remarks_, number, "remarks");
  }

 private:
  template <typename Change>
  void note(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <typename List>
  List copy(const List& list) const {
    const std::lock_guard lock(mutex_);
    return list;
  }
  template <typename List>
  List wait(const List& list, std::size_t number, const std::string& what) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return list.size() >= number; })) {
      std::string told;
      for (const std::string& failure : failures_) told += "; " + failure;
      for (const std::string& closing : closings_) told += "; closed: " + closing;
      throw std::runtime_error("waited in vain for " + what + told);
    }
    return list;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<mcp::Message> messages_;
  std::vector<std::string> failures_;
  std::vector<std::string> closings_;
  std::vector<mcp::Remark> remarks_;
};

}  // namespace sortie::test

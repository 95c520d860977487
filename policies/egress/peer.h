#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/host/ip_address.h"

namespace sortie {

/// Bytes that were received and not yet passed on.
class ByteQueue {
 public:
  std::string_view bytes() const noexcept { return std::string_view(data_).substr(begin_); }
  std::size_t size() const noexcept { return data_.size() - begin_; }
  bool empty() const noexcept { return size() == 0; }
  /// To append to.
  std::string& tail() noexcept { return data_; }
  void append(std::string_view bytes) { data_ += bytes; }
  /// Removes bytes from the front.
  void drop(std::size_t count) {
    begin_ += count;
    if (begin_ == data_.size()) {
      data_.clear();
      begin_ = 0;
    } else if (begin_ > kSlack) {
      data_.erase(0, begin_);
      begin_ = 0;
    }
  }
  void clear() noexcept {
    data_.clear();
    begin_ = 0;
  }

 private:
  static constexpr std::size_t kSlack = 64 << 10;
  std::string data_;
  std::size_t begin_ = 0;
};

/// How many bytes are queued in one direction before the sender has to wait.
inline constexpr std::size_t kQueueBytes = 64 << 10;

/// One end of a session: a connected stream socket that never blocks.
class Peer {
 public:
  Peer() = default;
  /// Makes the socket non-blocking.
  explicit Peer(Fd socket);

  const Fd& socket() const noexcept { return socket_; }
  /// Reads available bytes into the queue, at most kQueueBytes. False if there were none.
  bool read_into(ByteQueue& queue);
  /// Writes as many bytes as possible. False if none could be written.
  bool write_from(ByteQueue& queue);
  /// Shuts the sending direction down; once.
  void end_writing();
  /// Closes so that the other side sees a failure, not an end.
  void abort();
  void close() { socket_.reset(); }

  bool read_ended() const noexcept { return read_ended_; }
  bool read_failed() const noexcept { return read_failed_; }
  bool write_failed() const noexcept { return write_failed_; }
  bool write_ended() const noexcept { return write_ended_; }
  std::uint64_t read_bytes() const noexcept { return read_bytes_; }
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

 private:
  Fd socket_;
  bool read_ended_ = false;  ///< the other side has finished sending
  bool write_ended_ = false;
  bool read_failed_ = false;   ///< reading ended with an error
  bool write_failed_ = false;  ///< the other side no longer reads
  std::uint64_t read_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
};

/// Connects to the first of some addresses that answers, without blocking.
class Connector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome { pending, connected, failed };

  /// @param deadline  for all of them; each gets its share of the remaining time
  Connector(std::vector<IpAddress> addresses, std::uint16_t port, Time deadline);

  /// Call it first, when the descriptor is writable, and at next_time().
  Outcome advance(Time now);
  /// The connecting socket; -1: none.
  int descriptor() const noexcept { return socket_.get(); }
  Time next_time() const noexcept { return next_time_; }

  /// The connected socket, and its address.
  Fd take_socket() { return std::move(socket_); }
  const IpAddress& address() const { return addresses_[place_]; }
  /// Why the last address failed.
  const std::string& problem() const noexcept { return problem_; }
  bool timed_out() const noexcept { return timed_out_; }

 private:
  bool start(Time now);

  std::vector<IpAddress> addresses_;
  std::uint16_t port_;
  Time deadline_;
  Time next_time_;
  std::size_t place_ = 0;  ///< index of the current address
  Fd socket_;
  std::string problem_;
  bool timed_out_ = false;
};

}  // namespace sortie

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "core/host/ip_address.h"

namespace sortie::test {

/// A name server on loopback (RFC 1035, UDP): the addresses of a table, "no such name" for others.
class NameServer {
 public:
  explicit NameServer(std::map<std::string, std::vector<std::string>> names);
  NameServer(const NameServer&) = delete;
  ~NameServer();

  /// "127.0.0.1:PORT"
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  /// The names of all questions, in the order they came.
  std::vector<std::string> questions() const;

 private:
  void serve();
  std::string answer_to(const std::string& question) const;

  std::map<std::string, std::vector<std::string>> names_;
  Fd socket_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> questions_;
  std::thread thread_;
};

}  // namespace sortie::test

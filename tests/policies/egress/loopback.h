#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/fd.h"
#include "policies/egress/proxy.h"

namespace sortie::test {

/// A TCP listener on 127.0.0.1, and its port.
struct Listener {
  Fd socket;
  int port = 0;
};
Listener listen_on_loopback(int backlog = 64);
Fd connect_to(int port);

/// Sends all of it; false when the other side is gone.
bool send_text(const Fd& socket, std::string_view text);
/// Reads until the text ends with this, or the connection does.
std::string read_until(const Fd& socket, std::string_view end);
/// Reads to the end of the connection.
std::string read_all(const Fd& socket);
/// Reads that many bytes, or fewer where the connection ends.
std::string read_bytes(const Fd& socket, std::size_t count);
/// Says that nothing more is sent.
void end_sending(const Fd& socket);

/// A server on loopback whose connections are each served by the function, in threads of their own.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::function<void(const Fd&)> serve);
  LoopbackServer(const LoopbackServer&) = delete;
  ~LoopbackServer();

  int port() const { return listener_.port; }
  /// "127.0.0.1:PORT"
  std::string place() const { return "127.0.0.1:" + std::to_string(port()); }
  int connections() const;

 private:
  Listener listener_;
  std::function<void(const Fd&)> serve_;
  mutable std::mutex mutex_;
  std::vector<Fd> sockets_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

/// Answers from a table; each name's answers in turn, the last one for ever.
class FakeResolver : public HostResolver {
 public:
  void set(const std::string& name, std::vector<std::vector<std::string>> answers);
  std::vector<IpAddress> resolve(const std::string& name, std::string& problem) override;
  int calls() const;
  /// Until this is called again with false, lookups wait.
  void hold(bool on);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<std::vector<std::string>>> answers_;
  std::map<std::string, std::size_t> asked_;
  int calls_ = 0;
  bool held_ = false;
};

/// A proxy on loopback, and all that it reported.
class ProxyFixture {
 public:
  explicit ProxyFixture(const std::vector<std::string>& allow, EgressLimits limits = {},
                        ProxySettings ahead = {});
  ~ProxyFixture();

  Fd connect() const { return connect_to(port_); }
  /// Sends the request and reads to the end of the connection.
  std::string ask(const std::string& request) const;
  FakeResolver& resolver() { return *resolver_; }
  EgressProxy& proxy() { return *proxy_; }
  /// Ends the proxy.
  void stop() { proxy_.reset(); }

  /// The reports so far.
  std::vector<EgressConnection> reports() const;
  /// Waits until there are so many closed and denied ones; then all reports.
  std::vector<EgressConnection> wait_for_ends(std::size_t count);
  /// From here on reporting fails.
  void fail_reports();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<EgressConnection> reports_;
  bool failing_ = false;
  std::shared_ptr<FakeResolver> resolver_ = std::make_shared<FakeResolver>();
  int port_ = 0;
  std::unique_ptr<EgressProxy> proxy_;
};

}  // namespace sortie::test

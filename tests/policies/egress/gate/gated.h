#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "policies/egress/gate/connect_gate.h"
#include "policies/environment/environment.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {

/// Who makes a sandbox without namespaces, and as whom its commands run.
struct GateWay {
  const char* name;
  uid_t uid;              ///< who makes it
  uid_t commands;         ///< what its commands run as
  bool may_trace = true;  ///< false: without CAP_SYS_PTRACE, as root in a container is
};

/// Those that this user can play.
std::vector<GateWay> gate_ways();

/// Runs the body as `way` says in a child that is refused namespaces, as by a container engine, on
/// a workspace with a profile of mode allow-list. @return what it found wrong; "" for nothing
std::string gated(const GateWay& way, const std::function<std::string(Sandboxed& here)>& body);

/// Stands for the proxy: answers what it reads, preceded by "echo:".
class Echo {
 public:
  Echo() = default;
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  ~Echo();
  void adopt(Fd connection);
  /// Ends all connections.
  void end();
  int connections() const;

 private:
  mutable std::mutex mutex_;
  std::list<Fd> connections_;
  std::vector<std::thread> threads_;
};

/// Listens on the machine's loopback for what must never come.
class HostListener {
 public:
  HostListener();
  int tcp_port() const { return tcp_port_; }
  int udp_port() const { return udp_port_; }
  /// "" or what came.
  std::string caught() const;

 private:
  Fd tcp_;
  Fd udp_;
  int tcp_port_ = 0;
  int udp_port_ = 0;
};

/// The connections that a gate reported.
class Reports {
 public:
  void add(const EgressConnection& connection);
  std::vector<EgressConnection> all() const;
  /// All, once there are so many; what there is after 10 s.
  std::vector<EgressConnection> wait_for(std::size_t count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable added_;
  std::vector<EgressConnection> all_;
};

/// Program and folder of gate_attempts.
std::string attempts_program();

}  // namespace sortie::test

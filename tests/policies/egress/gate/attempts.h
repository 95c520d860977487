#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sortie::gated {

/// What a confined program is told of the world outside.
struct Outside {
  int proxy_port = 0;  ///< of the address that stands for the proxy
  int tcp_port = 0;    ///< of a listener on the machine's loopback
  int udp_port = 0;
};

/// One thing that a program behind the gate tries.
struct Attempt {
  std::string name;
  std::function<std::string(const Outside&)> run;  ///< "ok", "ECONNREFUSED", or what was odd
};

std::vector<Attempt> address_attempts();
std::vector<Attempt> socket_attempts();
std::vector<Attempt> process_attempts();

/// "ok" for a call that succeeded, else the name of its errno.
std::string outcome(long result);
/// Sends a word and reads the answer of what stands for the proxy.
std::string talk(int socket);
/// A TCP socket's connect(2) to 127.0.0.1, and what it says there.
std::string reach(int port);

}  // namespace sortie::gated

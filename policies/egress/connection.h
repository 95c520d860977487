#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace sortie {

/// One attempt of a command to leave the sandbox, for the transcript.
struct EgressConnection {
  std::string host;    ///< as asked for, lower-cased; printable
  int port = 0;        ///< 0 where it could not be read
  std::string method;  ///< "CONNECT", "GET", …; "connect" where no proxy protocol was spoken
  bool allowed = false;
  std::string rule;     ///< the entry of `network.allow` that let it through, or ""
  std::string reason;   ///< why not, or what failed; "" for a connection that worked
  std::string address;  ///< the address that was connected to, or ""
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::chrono::milliseconds duration{0};
};

}  // namespace sortie

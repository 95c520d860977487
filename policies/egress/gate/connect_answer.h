#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/base/fd.h"
#include "policies/egress/gate/connect_request.h"
#include "policies/egress/gate/seccomp_listener.h"

namespace sortie {

/// Whose calls are answered, and what they may reach.
struct GatedCommands {
  std::uint16_t proxy_port = 0;  ///< of the address that stands for the proxy; nobody listens there
  uid_t uid = 0;                 ///< what the commands run as
  gid_t gid = 0;
};

/// What was answered.
struct AnsweredConnect {
  Fd connection;        ///< where it led to the proxy: the other end of what the command got
  bool denied = false;  ///< an attempt to reach something that did not succeed
  std::string host;     ///< of it: the address in numbers, "" where it could not be read
  int port = 0;
  std::string reason;
};

/// Answers one connect(2): decides by a copy of its arguments, and where it leads to the proxy puts
/// one end of a new connection in the place of the command's descriptor. The command may change its
/// memory and its descriptors meanwhile: the kernel never looks at them for this call.
AnsweredConnect answer_connect(const SeccompListener& listener, const NotifiedCall& call,
                               const GatedCommands& commands);

}  // namespace sortie

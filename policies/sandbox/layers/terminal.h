#pragma once

#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/fd.h"

namespace sortie {

/// Both ends of a pseudo-terminal (pty(7)).
struct Terminal {
  Fd master;
  Fd slave;
};

/// No terminal is available: some machines have no devpts. The message has the failed step.
class NoTerminal : public Error {
  using Error::Error;
};

/// Opens a terminal of 80 × 24 in the devpts that this process sees; only its user may open it by
/// name.
/// @throws NoTerminal
Terminal open_terminal(uid_t uid, gid_t gid);

}  // namespace sortie

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

/// This machine offers no terminal: some have no devpts. Says the step that failed.
class NoTerminal : public Error {
  using Error::Error;
};

/// Opens one of 80 × 24 in the devpts that this process sees; its user alone may open it by name.
/// @throws NoTerminal
Terminal open_terminal(uid_t uid, gid_t gid);

}  // namespace sortie

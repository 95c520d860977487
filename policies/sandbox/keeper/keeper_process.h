#pragma once

#include <sys/types.h>

#include <string>

#include "core/base/fd.h"
#include "policies/sandbox/keeper/keeper_service.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// The body of the keeper's process: closes and wipes what it was not given, makes the view, says
/// so over the socket, serves until the socket closes, ends everything and exits.
///
/// Over the socket: one answer ("ready" with the view's notes and root; or "failed" with the
/// reason), then requests ("start" with the memory file, the command's socket, and what the command
/// has of: the write end of its output, the read end of its input, the write end of its errors;
/// "drop_set" with the name of a private set that no command will want again; "quit"). Over a
/// command's socket: the master where its input is a terminal, which it then has in place of output
/// and input; how it ended; and from the other side a byte, an Ending: kill it.
/// Exit code 0: it is proved that no process is left.
[[noreturn]] void keeper_main(KeeperStart start);

}  // namespace sortie

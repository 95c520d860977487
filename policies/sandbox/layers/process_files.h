#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>

#include "core/base/fd.h"

namespace sortie {

/// What /proc says of processes that are looked at again and again (proc(5)). Their files stay open:
/// to read one again takes a third of the time that it takes to open it again. An open one tells of
/// its process alone, also if another process has got the number since.
class ProcessFiles {
 public:
  /// Those of at most 128 processes stay open, and at most a quarter of the files that may be open here.
  ProcessFiles();

  /// /proc/PID/stat; "" if the process is gone.
  std::string stat(pid_t process) { return read(process, &Open::stat, "/stat"); }
  /// /proc/PID/io; "" if the process is gone, or can't be looked into.
  std::string io(pid_t process) { return read(process, &Open::io, "/io"); }
  /// Closes the files of processes that were not read since the last call.
  void close_unread();
  void close_all() { open_.clear(); }

 private:
  struct Open {
    Fd stat{};
    Fd io{};
    bool was_read = false;
  };
  std::string read(pid_t process, Fd Open::*which, const char* name);

  const std::size_t most_;  ///< processes
  std::map<pid_t, Open> open_{};
};

}  // namespace sortie

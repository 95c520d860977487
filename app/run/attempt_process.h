#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/exit_code.h"
#include "core/base/fd.h"

namespace sortie {

/// The process of one attempt, with what it prints. Ended with all that it started when this object
/// goes, or when this process is killed.
class AttemptProcess {
 public:
  /// Forks; call it in a process with one thread.
  /// @param work    is run in the new process, with `lines` and `events` as its stderr and stdout;
  ///                what it returns is the exit code
  /// @param folder  for the unnamed file of the events
  AttemptProcess(int number, const std::filesystem::path& folder,
                 const std::function<ExitCode()>& work);
  AttemptProcess(const AttemptProcess&) = delete;
  AttemptProcess& operator=(const AttemptProcess&) = delete;
  ~AttemptProcess();

  int number() const noexcept { return number_; }
  bool runs() const noexcept { return pid_ > 0; }
  void signal(int number) const noexcept;
  /// Asks whether it has ended; true once it has.
  bool reap();
  /// Its exit code; nothing if a signal killed it.
  std::optional<ExitCode> code() const;
  /// Bytes of memory that it had at the most, once it has ended; without its commands.
  std::uint64_t peak_memory() const noexcept { return peak_; }
  /// "signal 9 (Killed)", or "".
  std::string killed_by() const;

  /// The stderr of the process; does not block.
  int lines() const noexcept { return lines_.get(); }
  /// Takes the whole lines that are there, each with its newline; at the end what is left as well.
  std::string take_lines();
  /// What the process wrote on stdout.
  int events() const noexcept { return events_.get(); }

 private:
  [[noreturn]] void work_in_child(pid_t parent, int lines, const std::function<ExitCode()>& work);

  int number_;
  std::uint64_t peak_ = 0;
  pid_t pid_ = -1;
  int status_ = 0;
  Fd lines_;
  Fd events_;
  std::string begun_;  ///< a line that has not ended
};

}  // namespace sortie

#include "policies/sandbox/keeper/command_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/base/error.h"
#include "core/text/output_buffer.h"
#include "policies/sandbox/command/command_start.h"

namespace sortie {
namespace {

ExitStatus status_of(const StartReport& report) {
  ExitStatus status;
  if (WIFSIGNALED(report.wait_status)) {
    status.ending = Ending::signalled;
    status.code = WTERMSIG(report.wait_status);
  } else {
    status.code = WEXITSTATUS(report.wait_status);
  }
  status.ended_background = report.left_behind > 0;
  return status;
}

/// The kernel says by a signal that a file or a process grew too large; a shell says by its exit
/// code that a command in it got the signal. "" where there was none.
std::string limit_reached(const ExitStatus& status, const PolicyLimits& limits) {
  const int signal = status.ending == Ending::exited ? status.code - 128 : status.code;
  if (signal == SIGXFSZ)
    return "file size limit " + size_in_words(limits.file_size) + " reached (limits.file_size)";
  if (signal == SIGXCPU) return "CPU time limit reached (limits.command_timeout on every CPU)";
  return "";
}

/// A start that failed by the command's own doing, in words for the model; else a broken layer.
CommandEnd failed_start(const StartReport& report, const std::string& name) {
  CommandEnd end;
  end.status.ending = Ending::not_started;
  const std::string cause = errno_text(report.error);
  if (report.failed == StartStep::workdir) {
    end.status.detail = "can't enter the working folder: " + cause;
  } else if (report.failed != StartStep::exec) {
    end.failure =
        std::string("a command could not be confined: ") + name_of(report.failed) + ": " + cause;
  } else if (report.error == ENOENT) {
    const bool path = name.find('/') != std::string::npos;
    end.status.detail = "no such program '" + name + (path ? "'" : "' on PATH");
  } else if (report.error == E2BIG) {
    end.status.detail = "arguments and environment are too long";
  } else {
    end.status.detail = "can't execute '" + name + "': " + cause;
  }
  return end;
}

}  // namespace

CommandEnd read_command_end(const Fd& report, const std::string& name, const PolicyLimits& limits) {
  StartReport last;
  bool known = false;
  for (StartReport next; ::read(report.get(), &next, sizeof next) == sizeof next;) {
    if (!known || last.failed == StartStep::none) last = next;
    known = true;
  }
  if (known && last.failed != StartStep::none) return failed_start(last, name);
  CommandEnd end;
  if (known) {
    end.status = status_of(last);
    end.status.detail = limit_reached(end.status, limits);
  } else {
    end.status.ending = Ending::signalled;
    end.status.code = SIGKILL;
    end.status.detail = "its first process was killed from outside";
  }
  return end;
}

}  // namespace sortie

#pragma once

#include <stdexcept>
#include <string>

#include "core/base/exit_code.h"

namespace sortie {

/// Why something failed, where what to do next depends on it.
enum class Cause {
  other,
  no_room,      ///< the disk or a quota is full
  closed,       ///< stdout was closed by the caller
  reader_gone,  ///< the reader of stdout has closed its pipe
  mcp_server,   ///< an MCP server can't be used
  mcp_pin,      ///< the tool list of an MCP server is not the pinned one
};

/// no_room for ENOSPC and EDQUOT, else other.
Cause cause_of(int number) noexcept;

/// A failure that ends the run; `what()` is one sentence for the operator.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, ExitCode code = ExitCode::internal,
                 Cause cause = Cause::other)
      : std::runtime_error(what), code_(code), cause_(cause) {}
  ExitCode code() const noexcept { return code_; }
  Cause cause() const noexcept { return cause_; }

 private:
  ExitCode code_;
  Cause cause_;
};

/// A task, policy, manifest or flag is wrong: "FILE:LINE:COLUMN: error: …", all findings at once.
class InputError : public Error {
 public:
  explicit InputError(const std::string& what) : Error(what, ExitCode::usage) {}
};

/// A tool call failed in a way that the model can correct; worded for the model, does not end the
/// run.
class ToolError : public std::runtime_error {
 public:
  explicit ToolError(const std::string& what, Cause cause = Cause::other)
      : std::runtime_error(what), cause_(cause) {}
  Cause cause() const noexcept { return cause_; }

 private:
  Cause cause_;
};

/// The text of an errno value: "Permission denied".
std::string errno_text(int number);

/// The error for a path that the user gave: ExitCode::usage if the path is wrong (ENOENT, EACCES
/// and so on), ExitCode::environment if the machine is at fault: a full or broken disk.
/// @param what    what was tried: "--out /x"
/// @param number  an errno
Error path_error(const std::string& what, int number);

/// Error "STEP PATH: <errno text>" for a failed system call, from errno. A failure that is not a
/// bug gets ExitCode::environment.
Error system_error(const std::string& step, ExitCode code = ExitCode::internal);

}  // namespace sortie

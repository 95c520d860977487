#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/exit_code.h"
#include "core/base/fd.h"
#include "core/json/json.h"

namespace sortie {

inline constexpr std::size_t kMostStatusBytes = 4096;  ///< of a Kubernetes termination message

/// An object as one line of JSON with its newline, at most kMostStatusBytes: its texts are cut as far as
/// that needs. Signs of CI commands are escaped in it.
/// @param members  a handful, without further texts inside of them; "status" is the first
std::string status_line(const Json& members);

/// The status of a run as one line of JSON with its newline, at most kMostStatusBytes: status,
/// exit_code, reason, next, retryable, retry_after_s, run_id, tokens, cost_usd, out. Long texts are
/// cut. Signs of CI commands are escaped in it.
/// @param result  result.json, or as much of it as there is
/// @param out     --out as the user wrote it; "" if nothing is there
std::string status_line(const Json& result, const std::string& out);

/// The outcome of a command that ended before its run began, with the members that status_line()
/// reads.
Json unstarted_result(ExitCode code, const std::string& reason);

/// The file of --status-file. It is written in place: a container's termination log is a mount, and
/// can't be replaced. The file and its folder stay open from the start: where a command has put another
/// file under its name, that one is replaced, in this folder.
class StatusFile {
 public:
  /// Opens or makes the file, and says "running" in it.
  /// @throws InputError  it can't be written to, is no regular file, has a second name, or holds
  ///                     something else than a status
  explicit StatusFile(const std::filesystem::path& path);
  /// Replaces what it holds. @return  what failed, or that its name or folder was not the same any
  ///                                more; or ""
  std::string write(const std::string& line) const;

 private:
  std::string fill(const std::string& line) const;
  bool has_its_name() const;
  std::string take_name(const std::string& line) const;

  std::filesystem::path path_;
  Fd folder_;  ///< O_PATH
  Fd file_;
};

}  // namespace sortie

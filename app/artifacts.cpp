#include "app/artifacts.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/files.h"
#include "core/base/hash.h"

namespace sortie {
namespace {

void remove_file(const std::string& flag, const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (std::filesystem::is_directory(status))
    throw Error(flag + " " + path + ": is a folder", ExitCode::usage);
  std::filesystem::remove(path, error);
  if (error) throw Error(flag + " " + path + ": " + error.message(), ExitCode::usage);
}

void write_flag_file(const std::string& flag, const std::string& path, std::string_view content) {
  try {
    write_file(path, content);
  } catch (const Error& error) {
    throw Error(flag + ": " + error.what(), ExitCode::environment);
  }
}

}  // namespace

void remove_stale(const RunOptions& options) {
  remove_file("--diff", options.diff);
  remove_file("--output-last-message", options.last_message);
}

void write_flag_files(const RunOptions& options, const std::string& diff,
                      std::string_view message) {
  if (!options.diff.empty() && options.diff != "-") write_flag_file("--diff", options.diff, diff);
  if (!options.last_message.empty())
    write_flag_file("--output-last-message", options.last_message, message);
}

std::string digest_of(const std::string& content) { return "sha256:" + sha256_hex(content); }

}  // namespace sortie

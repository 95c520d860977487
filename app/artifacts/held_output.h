#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/inputs/options.h"
#include "core/base/fd.h"

namespace sortie {

/// The descriptor that a path names, as shells give it for `>(command)`.
std::optional<int> named_descriptor(const std::string& path);

/// A file that a flag names, to be written once commands have run. What its path leads to is opened before
/// them: a command that moves its folder away and puts a link there leads nobody elsewhere.
class HeldOutput {
 public:
  /// Opens the folder of a regular or new file, or the pipe or device itself.
  /// @throws InputError
  HeldOutput(std::string flag, std::string path);

  const std::string& flag() const noexcept { return flag_; }
  /// Whether it is the descriptor of stderr, which CI systems read.
  bool is_stderr() const;
  /// Removes the file if it is a regular one. @throws Error  usage
  void remove_stale() const;
  /// Replaces the file, whatever has its name by now; writes into a pipe, a device or a descriptor.
  /// @throws Error  environment, with flag, path and cause; integrity: the path leads elsewhere than at
  ///                the start, and nothing is written
  void write(std::string_view content, const std::stop_token& stop) const;

 private:
  void write_into(std::string_view content, const std::stop_token& stop) const;
  void replace(std::string_view content) const;

  std::string flag_;
  std::string path_;
  std::string name_;  ///< in folder_
  Fd folder_;         ///< none for a descriptor
  Fd file_;           ///< O_PATH: a pipe or device
};

/// The files of --diff and --output-last-message.
using HeldOutputs = std::vector<HeldOutput>;

}  // namespace sortie

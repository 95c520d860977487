#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// Writes the head of a transcript elsewhere while the run goes on, so that a record that is made
/// anew later, from its first line on, is found out. One line at the start, one a turn, one at the
/// end:
///
///     {"anchor":1,"run_id":"…","seq":17,"sha256":"…"}
///
/// where `sha256` is that of the record's line with this seq, and so of all before it.
class Anchor {
 public:
  /// Opens the target: a file, which is appended to; a named pipe, whose reader is waited for; a
  /// device; or, in digits, a descriptor, which commands do not get.
  /// @throws Error  usage: it can't be opened for writing
  Anchor(const std::string& target, std::string run_id);

  /// Writes one line, and waits until it is taken; a file is synced.
  /// @throws Error  environment: the reader is gone or takes nothing for 30 s, the disk is full
  void write(std::uint64_t seq, const std::string& digest);

 private:
  std::string target_;
  std::string run_id_;
  Fd file_;
};

/// Whether a record of this type is anchored.
bool is_anchored(std::string_view type);

/// The descriptor that a target of digits names, else -1.
int anchor_descriptor(const std::string& target);

}  // namespace sortie

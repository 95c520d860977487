#pragma once

#include <optional>

#include "app/inputs/options.h"
#include "core/base/fd.h"

namespace sortie {

/// The API key that comes through a descriptor or a pipe, which can be read only once: in memory of
/// the system alone, for the processes that are forked.
class AttemptKey {
 public:
  /// Reads it, if it has such a source. Closes the descriptor of --api-key-fd.
  /// @throws Error  usage: it can't be read
  explicit AttemptKey(const RunOptions& options);

  /// In the process of an attempt: gives the flags a descriptor that reads it from the beginning.
  void give_to(RunOptions& options);
  /// In the process that reads it again: the flags with a descriptor of it; as they are without one.
  RunOptions again(RunOptions options) const;
  void forget() noexcept { copy_.reset(); }

 private:
  std::optional<Fd> copy_;
};

}  // namespace sortie

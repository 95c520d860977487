#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// stdout for long texts: on a terminal through $PAGER, or `less -R`.
class Pager {
 public:
  /// @param wanted  false: stdout itself, as where it is no terminal, and with PAGER=cat
  explicit Pager(bool wanted);
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  /// Waits for the pager's end.
  ~Pager();
  /// Commands to a CI system are made harmless.
  /// @return  false: nobody reads any more
  /// @throws Error  environment: stdout takes nothing, such as a full disk
  bool write(std::string_view text);

 private:
  void start(const std::string& command);

  Fd input_;  ///< of the pager; none: stdout
  pid_t pid_ = -1;
};

/// Whether stdout has colours, and how many columns (0: it is no terminal).
/// @param wanted  as --color has it
bool colors_on_stdout(const std::string& wanted);
std::size_t columns_of_stdout();

/// Whether the reader of stdout has gone.
bool stdout_is_unread();

}  // namespace sortie

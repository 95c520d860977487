#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/output_buffer.h"
#include "core/base/redact.h"
#include "core/base/terminal_text.h"
#include "tools/whole_outputs.h"

namespace sortie {

/// The output of a command, taken as it comes: as plain text, redacted, its head and tail kept, and
/// whole in a file once it is longer than what the model is shown.
class CommandOutput {
 public:
  /// @param whole  where outputs stand whole; nothing: nowhere
  CommandOutput(const Redactor& redactor, std::size_t shown_bytes, WholeOutputs* whole = nullptr);
  void feed(std::string_view bytes) { keep(redacted_.feed(plain_.feed(bytes))); }
  /// Once all has been fed.
  CollectedOutput finish();

 private:
  void keep(std::string_view text);

  TerminalText plain_;
  StreamRedactor redacted_;
  OutputBuffer buffer_;
  std::size_t shown_bytes_;
  WholeOutputs* whole_;
  std::string beginning_;  ///< all of it, as long as it is shown whole
  std::unique_ptr<WholeOutputs::File> file_;
};

}  // namespace sortie

#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/output_buffer.h"
#include "core/base/redact.h"
#include "core/base/terminal_text.h"

namespace sortie {

/// The output of a command, taken as it comes: as plain text, redacted, its head and tail kept.
class CommandOutput {
 public:
  CommandOutput(const Redactor& redactor, std::size_t shown_bytes)
      : redacted_(redactor, Audience::tools), buffer_(shown_bytes) {}
  void feed(std::string_view bytes) { keep(redacted_.feed(plain_.feed(bytes))); }
  /// Once all has been fed.
  CollectedOutput finish() {
    keep(redacted_.feed(plain_.finish()));
    keep(redacted_.finish());
    return buffer_.finish();
  }

 private:
  void keep(std::string_view text) { buffer_.feed(text); }

  TerminalText plain_;
  StreamRedactor redacted_;
  OutputBuffer buffer_;
};

}  // namespace sortie

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/secrets/redact.h"
#include "core/text/output_buffer.h"
#include "core/text/terminal_text.h"
#include "tools/saved_outputs.h"

namespace sortie {

/// The output of a command, taken as it comes: as plain text, redacted, its head and tail kept, and
/// whole in a file once it is longer than what the model is shown. Of a command that goes on while
/// the model does other things it is taken in portions, each with a file of its own where it needs
/// one.
class CommandOutput {
 public:
  /// What the transcript gets of a portion at most.
  static constexpr std::size_t kRecorded = 2u << 20;

  /// @param whole  where outputs stand whole; nothing: nowhere
  CommandOutput(const Redactor& redactor, std::size_t shown_bytes, SavedOutputs* whole = nullptr,
                std::size_t recorded_bytes = kRecorded);
  void feed(std::string_view bytes) { keep(redacted_.feed(plain_.feed(bytes))); }
  /// Nothing more will come.
  void end();
  /// What came since the last portion: unless all has come, with the beginning of a line, which may
  /// be a prompt, as far as it is known to hold no secret.
  /// @param shown_bytes  to show less than the most
  CollectedOutput take(std::size_t shown_bytes);
  /// Bytes that the last portion lacks, since they may be the beginning of a secret.
  std::size_t held_back() const noexcept { return redacted_.held_back(); }
  /// All of it, once all has been fed.
  CollectedOutput finish();

 private:
  void keep(std::string_view text);
  void begin_file();

  TerminalText plain_;
  StreamRedactor redacted_;
  OutputBuffer buffer_;
  std::size_t shown_bytes_;
  std::size_t recorded_bytes_;
  SavedOutputs* whole_;
  bool ended_ = false;
  bool no_file_ = false;   ///< none can be made of this portion
  std::string beginning_;  ///< all of the portion, as long as it is shown whole
  std::unique_ptr<SavedOutputs::File> file_;
};

}  // namespace sortie

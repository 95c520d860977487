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

/// Collects the output of a command as it arrives: without terminal sequences, redacted, cut to
/// head and tail, and saved whole in a file once it is longer than the model sees. The output of a
/// session is taken in portions, each with its own file if it needs one.
class CommandOutput {
 public:
  /// Limit for a portion in the transcript.
  static constexpr std::size_t kRecorded = 2u << 20;

  /// @param whole  saves whole outputs; null: they are not saved
  CommandOutput(const Redactor& redactor, std::size_t shown_bytes, SavedOutputs* whole = nullptr,
                std::size_t recorded_bytes = kRecorded);
  void feed(std::string_view bytes) { keep(redacted_.feed(plain_.feed(bytes))); }
  /// Call when the output is complete.
  void end();
  /// The output since the last portion. Until end(), it includes the beginning of a line, which may
  /// be a prompt, as far as that can't be part of a secret.
  /// @param shown_bytes  limit for this portion, below the general one
  CollectedOutput take(std::size_t shown_bytes);
  /// Bytes held back from the last portion, since they may be the beginning of a secret.
  std::size_t held_back() const noexcept { return redacted_.held_back(); }
  /// Ends the output and returns all of it.
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
  bool no_file_ = false;   ///< this portion can't be saved in a file
  std::string beginning_;  ///< the whole portion, as long as it is short enough to show
  std::unique_ptr<SavedOutputs::File> file_;
};

}  // namespace sortie

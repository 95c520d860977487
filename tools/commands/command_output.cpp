#include "tools/commands/command_output.h"

#include <algorithm>

namespace sortie {

CommandOutput::CommandOutput(const Redactor& redactor, std::size_t shown_bytes, SavedOutputs* whole,
                             std::size_t recorded_bytes)
    : redacted_(redactor, Audience::tools),
      buffer_(shown_bytes, recorded_bytes),
      shown_bytes_(shown_bytes),
      recorded_bytes_(recorded_bytes),
      whole_(whole),
      no_file_(whole == nullptr) {}

void CommandOutput::keep(std::string_view text) {
  if (whole_ != nullptr) whole_->show(this, text);
  buffer_.feed(text);
  if (file_) return file_->write(text);
  if (no_file_) return;
  if (HeadTail::fits(beginning_.size() + text.size(), shown_bytes_)) {
    beginning_ += text;
    return;
  }
  begin_file();
  if (file_) file_->write(text);
}

void CommandOutput::begin_file() {
  file_ = whole_->begin();
  if (file_)
    file_->write(beginning_);
  else
    no_file_ = true;
  beginning_.clear();
}

void CommandOutput::end() {
  if (ended_) return;
  ended_ = true;
  keep(redacted_.feed(plain_.finish()));
  keep(redacted_.finish());
}

CollectedOutput CommandOutput::take(std::size_t shown_bytes) {
  if (!ended_) {
    keep(redacted_.feed(plain_.pause()));
    keep(redacted_.pause());
  }
  shown_bytes = std::min(shown_bytes, shown_bytes_);
  if (!no_file_ && !file_ && !HeadTail::fits(beginning_.size(), shown_bytes)) begin_file();
  const std::string where = file_ ? file_->keep() : std::string();
  CollectedOutput output = buffer_.finish(shown_bytes, where);
  file_.reset();  // removes a file that was not kept
  buffer_ = OutputBuffer(shown_bytes_, recorded_bytes_);
  beginning_.clear();
  no_file_ = whole_ == nullptr;
  return output;
}

CollectedOutput CommandOutput::finish() {
  end();
  return take(shown_bytes_);
}

}  // namespace sortie

#include "tools/command_output.h"

namespace sortie {

CommandOutput::CommandOutput(const Redactor& redactor, std::size_t shown_bytes, WholeOutputs* whole)
    : redacted_(redactor, Audience::tools),
      buffer_(shown_bytes),
      shown_bytes_(shown_bytes),
      whole_(whole) {}

void CommandOutput::keep(std::string_view text) {
  buffer_.feed(text);
  if (file_) return file_->write(text);
  if (whole_ == nullptr) return;
  if (beginning_.size() + text.size() <= shown_bytes_) {
    beginning_ += text;
    return;
  }
  file_ = whole_->begin();
  if (!file_) {
    whole_ = nullptr;  // nowhere to write it
    return;
  }
  file_->write(beginning_);
  file_->write(text);
  beginning_.clear();
}

CollectedOutput CommandOutput::finish() {
  keep(redacted_.feed(plain_.finish()));
  keep(redacted_.finish());
  const std::string where = file_ ? file_->keep() : std::string();
  file_.reset();  // what is not kept goes at once
  return buffer_.finish(where);
}

}  // namespace sortie

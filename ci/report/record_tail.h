#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/fd.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Reads a transcript as it grows, with its long texts cut (bounded_event()).
class RecordTail {
 public:
  /// @param redactor  as in bounded_event()
  /// @throws Error  usage: there is none, or it is no regular file
  RecordTail(std::filesystem::path transcript, const Redactor& redactor);
  /// Passes on the events of the whole records that are new; a torn last one is left for the next time.
  /// @return  whether there were any bytes
  /// @throws Error  integrity: "transcript.jsonl:18: …"
  bool read(const std::function<void(const RunEvent&)>& each);

 private:
  void take(const std::string& line, const std::function<void(const RunEvent&)>& each);

  std::filesystem::path transcript_;
  const Redactor& redactor_;
  Fd file_;
  std::string begun_;  ///< of the next record
  std::uint64_t number_ = 0;
};

}  // namespace sortie

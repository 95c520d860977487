#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "core/record/transcript_reader.h"
#include "core/secrets/redact.h"

namespace sortie {

/// An event whose long texts are cut.
struct BoundedEvent {
  RunEvent event;
  /// Bytes that its `output` lacks in its middle: it is the head and the tail of a longer one.
  std::uint64_t cut_from_output = 0;
};

/// The event of a record, with long texts of its blobs as head and tail, "… N bytes left out …"
/// between them but in an output: no more than a few KiB of a blob are read. Digests are not
/// checked, links are not followed. A blob that can't be read is the head that its record has.
///
/// @param redactor  for secrets that whoever wrote the record did not know of; null: none
/// @return  nothing for an unknown type
std::optional<BoundedEvent> bounded_event(const TranscriptRecord& record,
                                          const std::filesystem::path& transcript,
                                          const Redactor* redactor);

/// Opens a regular file for reading, without waiting and without following the last link of its path;
/// no descriptor for anything else.
/// @param bytes  gets its size
Fd open_regular(const std::filesystem::path& path, std::uint64_t& bytes);

/// Up to `most` bytes of a regular file from `offset`; "" if it can't be read. The last link of its
/// path is not followed.
std::string read_part(const std::filesystem::path& path, std::uint64_t offset, std::size_t most);

}  // namespace sortie

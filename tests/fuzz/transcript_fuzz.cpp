// Checks and reads any bytes as a transcript: what is found to be whole can be read back.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "core/record/transcript_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sortie::VerifyResult result = sortie::verify_transcript(text);
  if (result.ok != result.problem.empty()) std::abort();
  if (result.bytes + result.torn_bytes > size) std::abort();
  if (result.ok && result.bytes + result.torn_bytes != size) std::abort();

  std::string_view rest = text.substr(0, result.bytes);
  for (std::uint64_t seq = 0; !rest.empty(); ++seq) {
    const std::size_t end = rest.find('\n');
    try {
      if (sortie::parse_record(rest.substr(0, end)).seq != seq) std::abort();
    } catch (const sortie::Error&) {
      // Deeper than the reader goes, or a name twice: the chain does not look into the data.
    }
    rest.remove_prefix(end + 1);
  }
  // A single line, whatever its chain.
  try {
    sortie::parse_record(text.substr(0, text.find('\n')));
  } catch (const sortie::Error&) {
  }
  return 0;
}

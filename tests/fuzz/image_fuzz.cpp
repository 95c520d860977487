#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/images/image_file.h"
#include "core/text/base64.h"

using namespace sortie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = read_image_header(bytes);
  if (header && (header->width < 1 || header->height < 1 || header->media_type.empty()))
    std::abort();
  if (base64_encoded(bytes).size() != (size + 2) / 3 * 4) std::abort();
  return 0;
}

#include <cstdint>
#include <cstdlib>

#include "core/model/failure.h"
#include "core/text/text.h"

// The first byte chooses the status, the rest is the body. A failure is one line for people, no
// longer than a line is, and no wait is negative.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sortie;
  constexpr int kStatuses[] = {400, 401, 404, 429, 500, 503, 529, 307};
  if (size == 0) return 0;
  const std::string_view body{reinterpret_cast<const char*>(data) + 1, size - 1};
  const HttpHead head{kStatuses[data[0] % std::size(kStatuses)],
                      {{"Retry-After", std::string(body.substr(0, 40))}}};
  const ModelFailure failure =
      failure_of_status(head, body, std::chrono::system_clock::from_time_t(1'700'000'000));
  if (failure.message.find_first_of("\r\n\x1b") != std::string::npos) std::abort();
  if (failure.message.size() > 1200 || !is_utf8(failure.message)) std::abort();
  if (failure.retry_after && *failure.retry_after < std::chrono::milliseconds(0)) std::abort();
  return 0;
}

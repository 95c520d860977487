#include "ci/report/record_tail.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "ci/report/bounded_record.h"
#include "core/base/error.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

constexpr std::size_t kTailBytes = 256u << 10;  ///< read at once

}  // namespace

RecordTail::RecordTail(std::filesystem::path transcript, const Redactor& redactor)
    : transcript_(std::move(transcript)), redactor_(redactor) {
  std::uint64_t bytes = 0;
  file_ = open_regular(transcript_, bytes);
  if (!file_)
    throw Error(transcript_.string() + ": there is no such transcript, or it is no regular file",
                ExitCode::usage);
}

void RecordTail::take(const std::string& line, const std::function<void(const RunEvent&)>& each) {
  ++number_;
  try {
    const auto event = bounded_event(parse_record(line), transcript_, &redactor_);
    if (event) each(event->event);
  } catch (const Error& error) {
    throw Error(
        transcript_.filename().string() + ":" + std::to_string(number_) + ": " + error.what(),
        ExitCode::integrity);
  }
}

bool RecordTail::read(const std::function<void(const RunEvent&)>& each) {
  std::vector<char> buffer(kTailBytes);
  bool any = false;
  for (;;) {
    const ssize_t count = ::read(file_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw path_error(transcript_.string(), errno);
    if (count == 0) return any;
    any = true;
    begun_.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t at = 0;
    for (std::size_t end = begun_.find('\n'); end != begun_.npos; end = begun_.find('\n', at)) {
      take(begun_.substr(at, end - at), each);
      at = end + 1;
    }
    begun_.erase(0, at);
    if (begun_.size() > kLongestLine)
      throw Error(transcript_.filename().string() + ":" + std::to_string(number_ + 1) + ": " +
                      kRecordTooLong,
                  ExitCode::integrity);
  }
}

}  // namespace sortie

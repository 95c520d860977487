#include "tools/mcp/server_log.h"

#include "core/text/text.h"

namespace sortie::mcp {
namespace {

constexpr std::size_t kMostBytes = 256u << 10;
constexpr int kMostRecords = 500;

const char* name_of(Remark::Kind kind) {
  switch (kind) {
    case Remark::Kind::stderr_text:
      return "stderr";
    case Remark::Kind::log:
      return "log";
    case Remark::Kind::bad_message:
      return "bad_message";
    case Remark::Kind::warning:
      return "warning";
  }
  return "warning";
}

}  // namespace

void ServerLog::remarked(const Remark& remark) {
  std::string text = repair_utf8(remark.text);
  {
    const std::lock_guard lock(mutex_);
    const std::size_t room = records_ < kMostRecords ? kMostBytes - bytes_ : 0;
    const std::string kept(utf8_prefix(text, room));
    left_out_ += text.size() - kept.size();
    bytes_ += kept.size();
    if (kept.empty()) return;
    ++records_;
    text = kept;
  }
  events_.on(mcp_message_event(turn_(), server_, name_of(remark.kind), text));
}

void ServerLog::tell(McpServerRecord record) {
  record.server = server_;
  events_.on(mcp_server_event(turn_(), record));
}

void ServerLog::finish() {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    std::swap(bytes, left_out_);
  }
  if (bytes == 0) return;
  events_.on(
      mcp_message_event(turn_(), server_, "warning",
                        "it said more, which is left out: " + std::to_string(bytes) + " bytes"));
}

}  // namespace sortie::mcp

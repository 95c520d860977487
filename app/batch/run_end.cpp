#include "app/batch/run_end.h"

#include <string>
#include <string_view>

#include "app/artifacts/found_output.h"
#include "core/files/files.h"

namespace sortie {
namespace {

void read_kill(const BatchJob& job, const Json& result, BatchRow& row) {
  row.status = BatchRow::kKilled;
  row.reason = "its process was killed by " + job.process->killed_by();
  row.next = "the same command goes on with it";
  row.retryable = true;
  row.run_id = result.string_at("run_id");
}

/// "sortie: usage (2): CAUSE; next: …"
void read_last_line(std::string_view line, ExitCode code, BatchRow& row) {
  row.status = status_word(code);
  row.retryable = is_retryable(code);
  const std::string begin =
      "sortie: " + row.status + " (" + std::to_string(static_cast<int>(code)) + "): ";
  if (line.starts_with(begin)) line.remove_prefix(begin.size());
  const std::size_t next = line.find("; next: ");
  row.reason = line.empty() ? "it ended before it began" : std::string(line.substr(0, next));
  if (next != std::string_view::npos) row.next = line.substr(next + 8);
}

}  // namespace

Json result_in(const std::filesystem::path& folder) {
  const TextFile file = read_bytes_file(folder / "result.json", kMostResultBytes);
  if (!file.problem.empty()) return {};
  try {
    return parse_json(file.text);
  } catch (const JsonError&) {
    return {};
  }
}

void read_run_end(BatchJob& job, const std::filesystem::path& folder) {
  BatchRow& row = job.row;
  const auto code = job.process->code();
  const Json result = result_in(folder);
  row.retryable = false;
  row.retry_after_s.reset();
  row.next.clear();
  row.diff.clear();
  if (code != ExitCode::busy && read_run_result(result, row) && row.code == code) return;
  row.code = code;
  row.verified.reset();
  row.diff.clear();
  if (code)
    read_last_line(job.last_line, *code, row);
  else
    read_kill(job, result, row);
}

}  // namespace sortie

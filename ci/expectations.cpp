#include "ci/expectations.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/files/file_name.h"
#include "core/workspace/diff/path_patterns.h"
#include "core/workspace/diff/whole_diff.h"

namespace sortie {
namespace {

std::string beyond(std::int64_t found, std::int64_t most, const char* key, const char* what) {
  return "The diff has " + std::to_string(found) + " " + what + ", and the task allows " +
         std::to_string(most) + " (" + key + "). Make a smaller change.";
}

}  // namespace

ExpectedChanges expected_changes(ExpectedChanges expected, bool read_only_sandbox,
                                 bool has_output_schema) {
  if (expected != ExpectedChanges::automatic) return expected;
  if (read_only_sandbox) return ExpectedChanges::forbidden;
  return has_output_schema ? ExpectedChanges::any : ExpectedChanges::required;
}

std::string judge_changes(ExpectedChanges expected, bool has_changes) {
  if (expected == ExpectedChanges::forbidden && has_changes)
    return "The task expects no changed files (expect.changes), but files were changed.";
  if (expected == ExpectedChanges::required && !has_changes)
    return "The task expects changed files (expect.changes), but no file was changed.";
  return {};
}

std::string judge_diff(const ExpectedDiff& expected, const Diff& diff) {
  const PathPatterns allow(expected.allow, "expect.diff.allow");
  const PathPatterns deny(expected.deny, "expect.diff.deny");
  std::vector<std::string> denied;
  std::vector<std::string> beside;
  std::int64_t lines = 0;
  const std::vector<DiffFile> changed = all_files(diff);
  for (const DiffFile& file : changed) {
    lines += file.added_lines + file.deleted_lines;
    for (const std::string& path : {file.path, file.old_path}) {
      if (path.empty()) continue;
      if (deny.match(path))
        denied.push_back(path);
      else if (!expected.allow.empty() && !allow.match(path))
        beside.push_back(path);
    }
  }
  const auto files = static_cast<std::int64_t>(changed.size());
  if (!denied.empty())
    return "The task forbids changes of these paths (expect.diff.deny): " + some_of(denied) +
           ". Take them back.";
  if (!beside.empty())
    return "The task allows no changes of these paths (expect.diff.allow): " + some_of(beside) +
           ". Take them back.";
  if (expected.max_files && files > *expected.max_files)
    return beyond(files, *expected.max_files, "expect.diff.max_files", "changed files");
  if (expected.max_lines && lines > *expected.max_lines)
    return beyond(lines, *expected.max_lines, "expect.diff.max_lines", "added and deleted lines");
  return {};
}

std::string judge_calls(bool tool_success, const Tally& tally) {
  if (!tool_success || tally.tool_calls == 0 || tally.successful_calls > 0) return {};
  return "The task expects a tool call that succeeds (expect.tool_success), and of " +
         std::to_string(tally.tool_calls) + (tally.tool_calls == 1 ? " call" : " calls") +
         " none did" +
         (tally.denial_count == 0 ? "." : ": " + std::to_string(tally.denial_count) + " denied.");
}

}  // namespace sortie

#include "app/found_output.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text_file.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostResult = 64u << 20;

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_own_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

/// A lock holds a process id and nothing else.
bool is_own_lock(const fs::path& path) {
  if (!is_own_file(path)) return false;
  const TextFile lock = read_bytes_file(path, 32);
  return lock.problem.empty() && all_of(lock.text, "0123456789");
}

Json read_result(const fs::path& path) {
  const TextFile file = is_own_file(path) ? read_bytes_file(path, kMostResult) : TextFile{};
  if (file.text.empty()) return {};
  try {
    return parse_json(file.text);
  } catch (const std::exception&) {
    return {};  // torn: of a run that was killed
  }
}

/// What runs write under fixed names.
const std::set<std::string>& fixed_names() {
  static const std::set<std::string> kNames = {"result.json",
                                               "transcript.jsonl",
                                               "blobs",
                                               "changes.diff",
                                               "partial.diff",
                                               "last-message.txt",
                                               "last-message.json",
                                               "state",
                                               "summary.md",
                                               "report.html",
                                               "kept"};
  return kNames;
}

/// What the stages of the run saved, or were to save.
std::set<std::string> saved_names(const Json& result) {
  std::set<std::string> names;
  for (const auto& [name, digest] : result["artifacts"].members()) names.insert(name);
  for (const Json& name : result["saves"].items()) names.insert(name.text());
  return names;
}

bool is_ignore_file(const fs::path& path) {
  if (!is_own_file(path)) return false;
  const TextFile file = read_bytes_file(path, 64);
  return file.text == "*\n" || file.text == "*";
}

}  // namespace

bool is_unfinished_write(const std::string& name) {
  constexpr std::string_view kWord =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string_view text = name;
  if (text.starts_with(".sortie-") && text.ends_with(".tmp")) return true;
  return text.starts_with(".events-") && text.size() == 14 && all_of(text.substr(8), kWord);
}

FoundOutput look_at_output(const fs::path& folder) {
  FoundOutput found;
  const Json result = read_result(folder / "result.json");
  const bool own_result = !result.string_at("run_id").empty();
  if (own_result) found.status = result.string_at("status");
  std::error_code error;
  const bool own_lock = is_own_lock(folder / ".lock");
  const bool transcript = is_own_file(folder / "transcript.jsonl");
  found.has_run = transcript || fs::exists(fs::symlink_status(folder / "result.json", error));
  const bool is_a_runs = own_lock || own_result || transcript;
  const std::set<std::string> saved = saved_names(result);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool known = name == ".lock"
                           ? own_lock
                           : fixed_names().count(name) + saved.count(name) > 0 ||
                                 is_unfinished_write(name) ||
                                 (name == ".gitignore" && is_ignore_file(entry->path()));
    if (!is_a_runs || !known) found.foreign.push_back(name);
  }
  if (error) throw Error(folder.string() + ": " + error.message(), ExitCode::usage);
  std::sort(found.foreign.begin(), found.foreign.end());
  return found;
}

}  // namespace sortie

#include "app/artifacts/found_output.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

#include "ci/attempts.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/diff_names.h"
#include "core/record/transcript_reader.h"
#include "core/task/task.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_own_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

/// A lock holds only a process id, or nothing if its run was killed at once.
struct FoundLock {
  bool own = false;
  bool has_id = false;
};

FoundLock inspect_lock(const fs::path& path) {
  if (!is_own_file(path)) return {};
  const TextFile lock = read_bytes_file(path, 10);
  const bool own = lock.problem.empty() && all_of(lock.text, "0123456789");
  return {own, own && !lock.text.empty()};
}

Json read_result(const fs::path& path) {
  const TextFile file = is_own_file(path) ? read_bytes_file(path, kMostResultBytes) : TextFile{};
  if (file.text.empty()) return {};
  try {
    return parse_json(file.text);
  } catch (const std::exception&) {
    return {};  // torn: of a run that was killed
  }
}

/// As new_run_id() makes them: hex digits in groups of 8, 4, 4, 4 and 12.
bool is_run_id(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (!(dash ? text[i] == '-' : all_of(text.substr(i, 1), "0123456789abcdef"))) return false;
  }
  return text[14] == '7';
}

/// Other programs write a result.json too, some with a run_id.
bool is_own_result(const Json& result) {
  return is_run_id(result.string_at("run_id")) && !result.string_at("sortie").empty() &&
         !result.string_at("status").empty();
}

/// Whether the file is a transcript of sortie. One that was cut off in its first record counts only
/// together with a result.
bool is_own_transcript(const fs::path& path, bool own_result) {
  if (!is_own_file(path)) return false;
  const Beginning beginning = beginning_of(path);
  return beginning == Beginning::record || (beginning == Beginning::torn && own_result);
}

/// The fixed names that runs write.
const std::set<std::string>& fixed_names() {
  static const std::set<std::string> kNames = {"blobs",
                                               "changes.diff",
                                               "partial.diff",
                                               "submodules",
                                               "partial-submodules",
                                               "last-message.txt",
                                               "last-message.json",
                                               "state",
                                               "changes.tar",
                                               "restore.tar",
                                               "summary.md",
                                               "report.html",
                                               "attestation.json",
                                               "kept",
                                               "commit-message.txt",
                                               "change.mbox",
                                               "pr.json",
                                               "review.json"};
  return kNames;
}

/// The files that the stages of the run saved or were going to save.
std::set<std::string> saved_names(const Json& result) {
  std::set<std::string> names;
  for (const auto& [name, digest] : result["artifacts"].members()) names.insert(name);
  for (const Json& name : result["saves"].items()) names.insert(name.text());
  return names;
}

/// The names in the state folder of a run.
const std::set<std::string>& state_names() {
  static const std::set<std::string> kNames = {
      "upper",    "work",     "tree",        "manifest",  "began", "start",
      "probe",    "outputs",  "home",        "protected", "key",   "keeper",
      "tree.run", "in-place", "changes.tar", "submodules"};
  return kNames;
}

bool is_state_name(const std::string& name) {
  if (state_names().count(name) != 0 || is_unfinished_write(name)) return true;
  // Of a private set, and of a verification's tree.
  for (const std::string_view numbered : {"home-", "fresh-"})
    if (name.starts_with(numbered) &&
        all_of(std::string_view(name).substr(numbered.size()), "0123456789"))
      return true;
  return false;
}

bool is_digest_name(const std::string& name) {
  constexpr std::string_view kStart = "sha256-";
  return name.size() == kStart.size() + 64 && name.starts_with(kStart) &&
         all_of(std::string_view(name).substr(kStart.size()), "0123456789abcdef");
}

/// Whether a name in kept/ is that of something that was taken away, for a run without an end.
bool is_taken(const fs::path& name) {
  return std::any_of(name.begin(), name.end(), [](const fs::path& part) {
    return part.native().find(".taken") != std::string::npos;
  });
}

/// Adds the names in a folder that are not a run's, prefixed with the folder's.
template <typename Known>
void add_foreign(const fs::path& folder, const std::string& name, const Known& known,
                 std::vector<std::string>& foreign) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string one = entry->path().filename().string();
    if (!known(one)) foreign.push_back(name + "/" + one);
  }
}

/// Adds foreign files of kept/, at any depth.
void add_foreign_kept(const fs::path& folder, const Json& result,
                      std::vector<std::string>& foreign) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return;
  const bool unfinished = result.string_at("status", "running") == "running";
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (fs::is_directory(entry->symlink_status(error))) continue;
    const fs::path name = entry->path().lexically_relative(folder);
    const bool own = result["kept"].find(name.string()) != nullptr ||
                     is_unfinished_write(name.filename().string()) ||
                     (unfinished && is_taken(name));
    if (!own) foreign.push_back("kept/" + name.string());
  }
}

/// Adds foreign files in the folders of submodules' diffs, at any depth.
void add_foreign_diffs(const fs::path& folder, const Json& result,
                       std::vector<std::string>& foreign) {
  const bool unfinished = result.string_at("status", "running") == "running";
  for (const char* name : {kSubmoduleDiffs, kPartialSubmoduleDiffs}) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(folder / name, error))) continue;
    for (fs::recursive_directory_iterator entry(folder / name, error), end; !error && entry != end;
         entry.increment(error)) {
      if (fs::is_directory(entry->symlink_status(error))) continue;
      const std::string one = entry->path().lexically_relative(folder).string();
      const bool own = result["artifacts"].find(one) != nullptr ||
                       is_unfinished_write(entry->path().filename().string()) ||
                       (unfinished && is_diff_name(one));
      if (!own) foreign.push_back(one);
    }
  }
}

bool is_ignore_file(const fs::path& path) {
  if (!is_own_file(path)) return false;
  const TextFile file = read_bytes_file(path, 64);
  // A power loss may leave it empty.
  return file.problem.empty() && (file.text == "*\n" || file.text == "*" || file.text.empty());
}

/// Whether a run was writing its first file when the power was lost: the three names that it begins with
/// are there, and result.json is empty, since nothing was synced yet.
bool is_lost_start(const fs::path& folder, const FoundLock& lock) {
  std::error_code error;
  const fs::path result = folder / "result.json";
  return lock.own && is_own_file(folder / ".gitignore") && is_ignore_file(folder / ".gitignore") &&
         is_own_file(result) && fs::file_size(result, error) == 0 && !error;
}

}  // namespace

bool is_unfinished_write(const std::string& name) {
  constexpr std::string_view kWord =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (is_temporary_name(name)) return true;
  const std::string_view text = name;
  return text.starts_with(".events-") && text.size() == 14 && all_of(text.substr(8), kWord);
}

FoundOutput inspect_output(const fs::path& folder) {
  FoundOutput found;
  const Json result = read_result(folder / "result.json");
  const bool own_result = is_own_result(result);
  const FoundLock lock = inspect_lock(folder / ".lock");
  const bool lost_start = is_lost_start(folder, lock);
  const bool own_transcript =
      is_own_transcript(folder / "transcript.jsonl", own_result || lost_start);
  const bool is_a_runs = own_result || own_transcript || lost_start;
  std::error_code error;
  if (own_result) found.status = result.string_at("status");
  if (own_result) found.result = result;
  found.has_run = is_a_runs;
  const std::set<std::string> saved = is_a_runs ? saved_names(result) : std::set<std::string>{};
  const auto known = [&](const std::string& name) {
    if (name == ".lock") return lock.own;
    if (name == ".gitignore") return is_ignore_file(folder / name);
    if (name == "transcript.jsonl") return own_transcript;
    // A torn result with a transcript is that of a killed run.
    if (name == "result.json")
      return own_result || lost_start || (own_transcript && result.is_null());
    // These may exist before the result, so a lock with an id is enough for them.
    // After a power loss the id may be missing.
    if (is_unfinished_write(name))
      return is_a_runs || lock.has_id || (lock.own && is_temporary_name(name));
    if (attempt_number(name) != 0)
      return is_a_runs && fs::is_directory(fs::symlink_status(folder / name));
    return is_a_runs && fixed_names().count(name) + saved.count(name) > 0;
  };
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!known(name)) found.foreign.push_back(name);
  }
  if (error) throw path_error(folder.string(), error.value());
  if (is_a_runs) {
    for (int number = 1; number <= kMostAttempts; ++number) {
      const std::string name = attempt_folder(number);
      if (!fs::is_directory(fs::symlink_status(folder / name, error))) continue;
      for (const std::string& foreign : inspect_output(folder / name).foreign)
        found.foreign.push_back(name + "/" + foreign);
    }
    // A run never makes links of kept and blobs; its state may be a link.
    add_foreign_kept(folder / "kept", result, found.foreign);
    add_foreign_diffs(folder, result, found.foreign);
    if (fs::is_directory(fs::symlink_status(folder / "blobs", error)))
      add_foreign(
          folder / "blobs", "blobs",
          [](const std::string& name) { return is_digest_name(name) || is_unfinished_write(name); },
          found.foreign);
    if (fs::is_directory(fs::symlink_status(folder / "state", error)))
      add_foreign(folder / "state", "state", is_state_name, found.foreign);
  }
  std::sort(found.foreign.begin(), found.foreign.end());
  return found;
}

}  // namespace sortie

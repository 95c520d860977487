#include "app/exec/thread_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "app/exec/thread_limits.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPlace = 64u << 10;

fs::path home_of_threads() {
  for (const std::string& home : {own_variable("CODEX_HOME"), own_variable("SORTIE_HOME")})
    if (!home.empty()) return home;
  if (const std::string state = own_variable("XDG_STATE_HOME"); state.starts_with('/'))
    return fs::path(state) / "sortie";
  const std::string home = own_variable("HOME");
  return home.starts_with('/') ? fs::path(home) / ".local/state/sortie" : fs::path();
}

/// Makes a folder of mode 700, and those above it; one that is there stays as it is.
std::string make_private(const fs::path& folder) {
  std::error_code error;
  const fs::path parent = folder.parent_path();
  if (!parent.empty() && parent != folder && !fs::exists(parent, error))
    if (std::string problem = make_private(parent); !problem.empty()) return problem;
  if (::mkdir(folder.c_str(), 0700) == 0) return "";
  const int number = errno;
  if (number != EEXIST || !fs::is_directory(folder, error))
    return path_text(folder) + ": " + errno_text(number);
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? ""
                                                    : path_text(folder) + ": " + errno_text(errno);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

/// Folders whose names are ids, the newest first. A link is none: what it leads to may be a file that
/// somebody else wants to be read or written.
std::vector<std::string> ids_in(const fs::path& folder) {
  std::vector<std::string> ids;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const std::string name = it->path().filename().string();
        is_thread_id(name) && is_folder(it->path()))
      ids.push_back(name);
  std::sort(ids.rbegin(), ids.rend());
  return ids;
}

Json place_of(const fs::path& run) {
  const std::string name = run.string() + kPlaceSuffix;
  if (!is_file(name)) return {};
  const TextFile file = read_text_file(name, kMostPlace);
  try {
    return file.problem.empty() ? parse_json(file.text) : Json();
  } catch (const JsonError&) {
    return {};
  }
}

/// Whether --out has the transcript of that run, and not of a later one.
bool has_transcript_of(const std::string& run, const fs::path& out) {
  const fs::path file = out / kTranscriptName;
  if (beginning_of(file) != Beginning::record) return false;
  std::string id;
  each_record_line(file, [&id](std::string_view line) {
    id = parse_record(line).data.string_at("run_id");
    return false;
  });
  return id == run;
}

}  // namespace

ThreadStore::ThreadStore() {
  const fs::path home = home_of_threads();
  std::error_code error;
  if (home.empty())
    why_not_ = "neither CODEX_HOME, SORTIE_HOME, XDG_STATE_HOME nor HOME names a folder";
  else
    // Links are followed now: in the workspace commands could lead them elsewhere.
    folder_ = fs::weakly_canonical(fs::absolute(home, error) / "threads", error);
  if (error) {
    why_not_ = path_text(home) + ": " + error.message();
    folder_.clear();
  }
}

fs::path ThreadStore::begin(const std::string& thread, const std::string& run,
                            const fs::path& workspace, const fs::path& out,
                            std::string& why) const {
  why = why_not_;
  if (folder_.empty()) return {};
  const fs::path folder = folder_ / thread / run;
  std::error_code unknown;
  for (const fs::path& one : {folder.parent_path(), folder})
    if (fs::is_symlink(one, unknown)) why = path_text(one) + ": is a link";
  if (!why.empty()) return {};
  why = make_private(folder.parent_path());
  if (!why.empty()) return {};
  // Beside the run's folder, which a run has for itself, and before it: where a kill comes in between,
  // there is no run without a place.
  Json place = Json::object({{"workspace", workspace.string()}});
  if (!out.empty()) place.set("out", out.string());
  try {
    write_file(folder_ / thread / (run + kPlaceSuffix), write_json(place) + "\n", 0600,
               Synced::nothing);
  } catch (const Error& error) {
    why = error.what();
    return {};
  }
  why = make_private(folder);
  return why.empty() ? folder : fs::path();
}

std::optional<KeptThread> ThreadStore::find(const std::string& id) const {
  if (folder_.empty() || !is_thread_id(id) || !is_folder(folder_ / id)) return std::nullopt;
  KeptThread thread{.id = id, .folder = folder_ / id};
  thread.runs = ids_in(thread.folder);
  if (thread.runs.empty()) return std::nullopt;
  return thread;
}

std::optional<KeptThread> ThreadStore::newest(const fs::path& workspace) const {
  std::vector<KeptThread> threads;
  for (const std::string& id : ids_in(folder_))
    if (auto thread = find(id)) threads.push_back(std::move(*thread));
  std::sort(threads.begin(), threads.end(), [](const KeptThread& a, const KeptThread& b) {
    return a.runs.front() > b.runs.front();
  });
  for (KeptThread& thread : threads) {
    const Json place = place_of(thread.folder / thread.runs.front());
    if (workspace.empty() || place.string_at("workspace") == workspace.string())
      return std::move(thread);
  }
  return std::nullopt;
}

std::vector<fs::path> ThreadStore::transcripts(const KeptThread& thread) {
  std::vector<fs::path> files;
  for (const std::string& run : thread.runs) {
    const fs::path own = thread.folder / run / kTranscriptName;
    const std::string out = place_of(thread.folder / run).string_at("out");
    if (is_file(own))
      files.push_back(own);
    else if (!out.empty() && has_transcript_of(run, out))
      files.push_back(fs::path(out) / kTranscriptName);
  }
  return files;
}

void ThreadStore::keep(const fs::path& out, const fs::path& folder) {
  std::error_code error;
  const auto how = fs::copy_options::overwrite_existing | fs::copy_options::recursive;
  // A kill leaves no part of a transcript that would be taken for the whole.
  const fs::path unfinished = folder / (std::string(kTranscriptName) + ".new");
  if (fs::exists(out / "blobs", error)) fs::copy(out / "blobs", folder / "blobs", how, error);
  if (!error) fs::copy_file(out / kTranscriptName, unfinished, how, error);
  if (!error) fs::rename(unfinished, folder / kTranscriptName, error);
  if (error) throw path_error(folder.string(), error.value());
}

void ThreadStore::drop(const fs::path& run) noexcept {
  std::error_code error;
  fs::remove(run, error);
  if (error) return;
  fs::remove(run.string() + kPlaceSuffix, error);
  fs::remove(run.parent_path(), error);  // unless it has other runs
}

}  // namespace sortie

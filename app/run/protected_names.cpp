#include "app/run/protected_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "app/run/run_ends.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/workspace/diff/whole_diff.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

bool has_a_time_of(const fs::path& file, const std::set<std::int64_t>& times) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 &&
         times.count(status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec) != 0;
}

std::string digest_at_start(const Files& start, const fs::path& path) {
  const auto status = start.status(path);
  const bool link = status && status->kind == FileStatus::Kind::symlink;
  return "sha256:" + sha256_hex(link ? start.read_link(path) : start.read(path).value_or(""));
}

}  // namespace

fs::path path_in_workspace(const std::string& path_of_diff, const fs::path& workspace,
                           const GitInfo& git) {
  const auto prefix =
      git.toplevel.empty() ? fs::path(".") : workspace.lexically_relative(git.toplevel);
  return fs::path(path_of_diff).lexically_relative(prefix);
}

void record_made(RunRecord& record, const std::vector<std::string>& paths) {
  std::string names;
  for (const auto& path : paths) names += (names.empty() ? "" : ", ") + path;
  record.events().on(check_hit_event(record.turn(), "protected_path_made", names, ""));
}

ProtectedNames::ProtectedNames(const Parts& parts) : parts_(parts), aside_(parts.root) {
  if (parts_.mounted) return;
  paths_ = std::make_unique<ProtectedPaths>(parts_.seen_as, parts_.root, parts_.protect);
  if (parts_.in_place) {
    const fs::path folder = parts_.out / "state/protected";
    fs::create_directory(folder);
    paths_->keep_in(folder);
  }
}

void ProtectedNames::start_keeping() {
  if (paths_) paths_->keep_by([this](const fs::path& path) { keep(path); });
  if (parts_.made == nullptr) return;
  parts_.made->keep_by([this](const fs::path& path) {
    keep(path);
    return MadePaths::Kept::copied;
  });
  parts_.made->tell(
      [this](const std::vector<std::string>& paths) { record_made(parts_.record, paths); });
}

/// Copies it to kept/ before it is removed.
void ProtectedNames::keep(const fs::path& path) {
  taken_empty_.merge(times_of_empty_files(parts_.view, path));
  keep_taken(parts_.out, parts_.view, path.string(), parts_.redactor, taken_);
  parts_.result.kept = taken_.digests;
}

void ProtectedNames::undo_made() {
  if (parts_.made != nullptr) parts_.made->undo();
}

std::vector<std::string> ProtectedNames::restore_changed() {
  if (!paths_) return {};
  if (!parts_.in_place) return paths_->restore_changed();
  // The user works here, too: nothing is erased, and what a repository gets by a commit stays.
  return paths_->restore_and_keep(aside_).put_back;
}

void ProtectedNames::check_unchanged(const std::string& who) {
  if (const auto changed = restore_changed(); !changed.empty())
    throw RunEnds{ExitCode::integrity, who + " changed the protected path " + changed.front()};
}

std::vector<std::string> ProtectedNames::led_elsewhere() {
  const ProtectedLinks links({parts_.root, parts_.seen_as}, parts_.protect);
  if (!leads_at_start_) {
    leads_at_start_ = links.look(parts_.workspace.start(), parts_.links_at_start);
    if (!leads_at_start_->beyond.empty()) parts_.record.warn(beyond_text(*leads_at_start_));
  }
  std::set<fs::path> now = parts_.links_at_start;
  if (parts_.made != nullptr) now.merge(parts_.made->links());
  if (paths_) now.insert(paths_->links().begin(), paths_->links().end());
  return names_led_elsewhere(*leads_at_start_, links.look(parts_.view, now));
}

/// A file that was moved under a protected name is missing in its own place, and was removed there:
/// the diff must not delete it without anybody's intent.
void ProtectedNames::check_taken(const Diff& diff) const {
  std::set<std::string> digests;
  for (const auto& [name, digest] : taken_.digests) digests.insert(digest);
  if (digests.empty() && taken_.not_kept.empty()) return;
  const std::string nothing = "sha256:" + sha256_hex("");
  for (const auto& file : all_files(diff)) {
    if (file.kind != ChangedPath::Kind::deleted) continue;
    const fs::path path = file.path;
    const std::string digest = digest_at_start(parts_.workspace.start(), path);
    // All empty files have one digest, so a moved one is recognized by its time.
    const bool moved = digest == nothing ? has_a_time_of(parts_.root / path, taken_empty_)
                                         : !taken_.not_kept.empty() || digests.count(digest) != 0;
    if (!moved) continue;
    throw RunEnds{ExitCode::integrity,
                  "the diff deletes " + path_text(file.path) +
                      ", which a command moved under a protected name, where it was taken away; "
                      "what was found there is in " +
                      kKeptFolder + "/"};
  }
}

void ProtectedNames::check(const Diff& diff) {
  check_taken(diff);
  // A protected name means its target, which behind a link may be another path's content.
  const auto changed = led_elsewhere();
  if (!changed.empty())
    throw RunEnds{ExitCode::integrity,
                  "the protected path " + path_text(changed.front()) +
                      " leads through a link to other content than at the start"};
}

}  // namespace sortie

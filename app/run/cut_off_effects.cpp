#include "app/run/cut_off_effects.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/text/base64.h"
#include "core/text/text.h"
#include "core/workspace/diff/file_digests.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/start_state.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

constexpr std::size_t kMostUnseen = 1000;
constexpr std::size_t kMostUnseenLines = 100;
constexpr std::uint64_t kMostUnseenBytes = 32u << 20;
constexpr std::size_t kMostTold = 20;

/// Whether each call's record has all of its changes.
bool has_all_changes(const RunHistory& history) {
  for (const RecordedTurn& turn : history.turns)
    for (const TurnCall& call : turn.calls)
      if (call.output && !call.output->changed_files.empty() &&
          call.output->changed_files.back().starts_with("… "))
        return false;
  return true;
}

/// Compares the tree with the records.
class UnseenChanges {
 public:
  UnseenChanges(const Workspace& workspace, const DiskFiles& view, const RunHistory& history,
                std::chrono::system_clock::time_point since, const Redactor& redactor)
      : workspace_(workspace),
        view_(view),
        since_(
            std::chrono::duration_cast<std::chrono::nanoseconds>(since.time_since_epoch()).count()),
        redactor_(redactor),
        recorded_(recorded_files(history)),
        all_recorded_(has_all_changes(history)) {}

  /// Sorted by path.
  std::vector<FileChange> find() {
    std::set<std::string> paths;
    for (const auto& [path, file] : recorded_) paths.insert(path);
    for (const ChangedPath& changed : workspace_.changed_paths(view_))
      if (!in_git_folder(changed.path) && changed.kind != ChangedPath::Kind::unreadable &&
          changed.kind != ChangedPath::Kind::removed_folder)
        paths.insert(changed.path);
    std::vector<std::string> older;
    for (const std::string& path : paths)
      if (is_fresh(path))
        look_at(path, true);
      else
        older.push_back(path);
    for (const std::string& path : older) look_at(path, false);
    std::sort(changes_.begin(), changes_.end(),
              [](const FileChange& a, const FileChange& b) { return a.path < b.path; });
    return std::move(changes_);
  }

 private:
  /// Whether the file or link was written to since then.
  bool is_fresh(const std::string& path) const {
    struct stat status {};
    return ::fstatat(view_.root(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           stamp_of(status).ctime >= since_;
  }

  RecordedFile before(const std::string& path, bool& known) {
    const auto found = recorded_.find(path);
    known = found != recorded_.end();
    if (known) return found->second;
    EntryRead start = read_entry(workspace_.start(), path, start_budget_);
    if (start.why_not == kNoFile) start.is_there = false;
    return {start.is_there, start.is_link, start.mode,
            start.content ? sha256_hex(*start.content) : ""};
  }

  void look_at(const std::string& path, bool fresh) {
    bool known = false;
    const RecordedFile was = before(path, known);
    EntryRead now = read_entry(view_, path, budget_);
    if (now.why_not == kNoFile) now.is_there = false;
    if (!now.is_there && now.why_not == "unreadable") return;  // nothing is known
    if (!was.is_there && !now.is_there) return;
    FileChange change{.path = path, .sha256_before = was.sha256, .by = "command"};
    change.kind = !now.is_there   ? ChangeKind::remove
                  : !was.is_there ? ChangeKind::add
                                  : ChangeKind::update;
    change.mode = now.is_there ? now.mode : was.mode;
    if (now.is_there) {
      change.not_read = now.why_not;
      if (now.content) change.sha256_after = sha256_hex(*now.content);
      if (was.is_there && !differs(was, now, change.sha256_after, fresh)) return;
      // A change that no record could have: an earlier call may have made it.
      if (!known && !fresh && !all_recorded_) return;
      if (now.is_link)
        change.link_target = *now.content;
      else if (now.content && redactor_.find(*now.content, Audience::tools).empty())
        change.content = base64_encoded(*now.content);
    } else if (!known && !all_recorded_) {
      return;
    }
    changes_.push_back(std::move(change));
  }

  static bool differs(const RecordedFile& was, const EntryRead& now, const std::string& digest,
                      bool fresh) {
    if (was.is_link != now.is_link) return true;
    if (!now.is_link && (was.mode & 0777) != (now.mode & 0777)) return true;
    return was.sha256.empty() || digest.empty() ? fresh : was.sha256 != digest;
  }

  const Workspace& workspace_;
  const DiskFiles& view_;
  const std::int64_t since_;  ///< as FileStamp::ctime
  const Redactor& redactor_;
  const std::map<std::string, RecordedFile> recorded_;
  const bool all_recorded_;
  std::uint64_t budget_ = kMostUnseenBytes;
  std::uint64_t start_budget_ = kMostUnseenBytes;
  std::vector<FileChange> changes_;
};

/// Leaves the first ones, in the order of their paths.
void leave_most_important(std::vector<FileChange>& changes, const Workspace& workspace,
                          const std::filesystem::path& root) {
  if (changes.size() <= kMostUnseen) return;
  const StartState start(workspace.record(), root);
  std::stable_partition(changes.begin(), changes.end(), [&](const FileChange& change) {
    return start.tracked(change.path) || !start.ignored(change.path);
  });
  changes.resize(kMostUnseen);
  std::sort(changes.begin(), changes.end(),
            [](const FileChange& a, const FileChange& b) { return a.path < b.path; });
}

std::string told(const std::vector<FileChange>& changes) {
  std::vector<std::string> written;
  std::vector<std::string> removed;
  for (const FileChange& change : changes)
    (change.kind == ChangeKind::remove ? removed : written).push_back(change.path);
  if (changes.empty()) return "no file that is in the workspace now was written since it began";
  std::string text;
  if (!written.empty()) text = "written since it began: " + some_of(written, kMostTold);
  if (!removed.empty())
    text += (text.empty() ? "" : "; ") + ("removed since it began: " + some_of(removed, kMostTold));
  return text;
}

}  // namespace

std::map<std::string, RecordedFile> recorded_files(const RunHistory& history) {
  std::map<std::string, RecordedFile> files;
  for (const RecordedTurn& turn : history.turns)
    for (const TurnCall& call : turn.calls)
      for (const FileChange& change : call.changes) {
        if (!change.moved_from.empty()) files[change.moved_from] = {.is_there = false};
        files[change.path] = {change.kind != ChangeKind::remove, !change.link_target.empty(),
                              change.mode, change.sha256_after};
      }
  return files;
}

CutOffEffects find_cut_off_effects(const Workspace& workspace, const DiskFiles& view,
                                   const std::filesystem::path& root, const RunHistory& history,
                                   std::chrono::system_clock::time_point since,
                                   const Redactor& redactor) {
  CutOffEffects effects;
  effects.changes = UnseenChanges(workspace, view, history, since, redactor).find();
  effects.text = told(effects.changes);
  for (const FileChange& change : effects.changes) {
    if (effects.changed_files.size() == kMostUnseenLines) break;
    const char* const kind = change.kind == ChangeKind::add      ? "A "
                             : change.kind == ChangeKind::remove ? "D "
                                                                 : "M ";
    effects.changed_files.push_back(kind + change.path);
  }
  const std::size_t more = effects.changes.size() - effects.changed_files.size();
  if (more > 0) effects.changed_files.push_back("… " + std::to_string(more) + " more");
  leave_most_important(effects.changes, workspace, root);
  return effects;
}

}  // namespace sortie

#include "core/workspace/apply/recover_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/json/json.h"
#include "core/workspace/apply/apply_folder.h"
#include "core/workspace/apply/roll_back.h"

namespace sortie {
namespace {

constexpr std::uint64_t kMostResultBytes = 64u << 20;

/// Whether the run has said that its changes are applied: the last thing that it does.
bool has_ended(const ApplyMark& mark) {
  if (mark.result.empty()) return false;
  const TextFile file = read_bytes_file(mark.result, kMostResultBytes);
  if (!file.problem.empty()) return false;
  try {
    const Json result = parse_json(file.text);
    return result.string_at("run_id") == mark.run_id && result["applied"].boolean();
  } catch (const JsonError&) {
    return false;
  }
}

}  // namespace

std::string Recovery::text(const std::filesystem::path& folder) const {
  if (what == What::nothing) return "";
  const std::string files = std::to_string(paths.size()) + (paths.size() == 1 ? " file" : " files");
  return "the application of a diff was cut off in " + path_text(folder) + " earlier: " +
         (what == What::rolled_back
              ? "its " + files + " are as they were before (" + some_of(paths, 5) + ")"
              : "it was complete, with " + files);
}

Recovery recover_tree(const std::filesystem::path& folder) {
  Recovery recovery;
  const Fd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return recovery;
  ApplyFolder found = ApplyFolder::open(root.get());
  if (found.state() == ApplyFolder::State::empty) found.remove();
  if (found.state() != ApplyFolder::State::ours) return recovery;
  const Journal journal = found.journal();
  for (const JournalChange& change : journal.changes) recovery.paths.push_back(change.path);
  const bool wanted = journal.finished || (journal.ready && has_ended(journal.mark));
  if (journal.ready && !wanted) {
    const auto left = roll_back(root.get(), found.get(), journal.changes);
    if (!left.empty())
      throw Error("the application of a diff was cut off in " + path_text(folder) +
                      ", and can't be taken back wholly: " + some_of(left) +
                      "; put these files right (the old ones are in " + kApplyFolder +
                      "/old.*), then remove " + kApplyFolder,
                  ExitCode::conflict);
    recovery.what = Recovery::What::rolled_back;
  } else if (journal.ready && !journal.finished) {
    recovery.what = Recovery::What::completed;
  }
  if (!journal.finished) found.write_finished();
  found.remove();
  return recovery;
}

std::string apply_problem(const std::filesystem::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return "can't be written: " + errno_text(errno);
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(folder / kApplyFolder, error)))
    return std::string("has a folder ") + kApplyFolder +
           " that sortie has not made: remove it, since changes are laid ready there";
  return "";
}

std::vector<std::string> recover_trees(std::filesystem::path folder,
                                       const std::filesystem::path& top) {
  std::vector<std::string> told;
  for (;; folder = folder.parent_path()) {
    if (const std::string text = recover_tree(folder).text(folder); !text.empty())
      told.push_back(text);
    if (folder == top || !path_below(folder, top) || folder == folder.parent_path()) return told;
  }
}

}  // namespace sortie

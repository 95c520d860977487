#include "app/run/run_checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "app/artifacts/output_folder.h"
#include "app/run/run_record.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/path_below.h"
#include "core/workspace/own_tree.h"

namespace sortie {

namespace fs = std::filesystem;

RunCheckpoint::RunCheckpoint(const Workspace& workspace, DiskFiles& view, const fs::path& out,
                             const std::string& run_id, RunRecord& record)
    : workspace_(workspace), view_(view), out_(out), run_id_(run_id), record_(record) {
  apart_ = {out, fs::path(out.string() + ".prev")};
  writer_.emplace(checkpoint_file(out), run_id, apart_);
}

void RunCheckpoint::know_start(const std::vector<std::string>& paths,
                               const std::vector<fs::path>& apart) {
  const fs::path& root = workspace_.mount_plan().workspace;
  const bool is_same = std::all_of(apart.begin(), apart.end(), [&](const fs::path& place) {
    return !is_below(place, root) || std::find(apart_.begin(), apart_.end(), place) != apart_.end();
  });
  if (is_same && writer_) writer_->know_start(paths);
}

std::optional<RestoredTree> RunCheckpoint::restore(const RunHistory& history) {
  const fs::path file = checkpoint_to_restore(out_);
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  const auto checkpoint = Checkpoint::find(file, run_id_, history.records);
  if (!checkpoint)
    throw Error(file.string() + ": is no whole checkpoint of this run", ExitCode::integrity);
  // In the user's own tree it is this run's work, to be undone if it fails.
  std::optional<WorkTimeGuard> work;
  if (const auto* const own = dynamic_cast<const OwnTreeWorkspace*>(&workspace_))
    work.emplace(own->times());
  checkpoint->restore(workspace_.mount_plan().workspace, view_);
  work.reset();
  writer_->add(workspace_, view_, checkpoint->mark());
  fs::remove(file, error);
  if (error) throw path_error(file.string(), error.value());
  const Fd folder(::open(out_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0)
    throw system_error(out_.string(), ExitCode::environment);
  return RestoredTree{checkpoint->mark().turn, checkpoint->left_out()};
}

void RunCheckpoint::add(int turn) noexcept {
  if (!writer_) return;
  try {
    // Of the first one on, a power loss leaves the transcript of one. Later it may leave a checkpoint
    // that is ahead of the transcript: the one before it counts then.
    writer_->add(workspace_, view_, {turn, record_.records()}, [this] { record_.sync(); });
  } catch (const std::exception& error) {
    writer_.reset();
    record_.warn(std::string("no more checkpoints are written, so that only this machine can go on "
                             "with the run: ") +
                 error.what());
  }
}

}  // namespace sortie

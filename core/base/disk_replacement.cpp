#include "core/base/disk_replacement.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/base/disk_place.h"
#include "core/base/error.h"
#include "core/base/file_name.h"
#include "core/base/open_beneath.h"

namespace fs = std::filesystem;

namespace sortie {

using namespace disk;

void DiskReplacement::run(const std::vector<Replacement>& replacements) {
  steps_.reserve(replacements.size());
  for (const auto& what : replacements) {
    auto [folder, name] = split_name(what.path);
    steps_.push_back({.what = what, .folder = std::move(folder), .name = std::move(name)});
  }
  Step* at = nullptr;
  try {
    for (auto& step : steps_) stage(*(at = &step));
    for (auto& step : steps_) perform(*(at = &step));
  } catch (const std::exception& error) {
    const std::string act = at->what.content ? "Failed to write file " : "Failed to delete file ";
    const std::string lost = undo_all();
    throw ToolError(act + error.what() + "." + (lost.empty() ? " No file was changed." : lost));
  }
  finish();
}

const Fd& DiskReplacement::open(const std::string& folder) {
  if (opened_ && opened_name_ == folder) return opened_;
  opened_ = open_beneath(root_, folder, O_PATH | O_DIRECTORY);
  opened_name_ = folder;
  return opened_;
}

void DiskReplacement::stage(Step& step) {
  if (!step.what.content) return;
  // A folder that is not there yet, or a file that stands in its way and is to go.
  step.stage = step.folder;
  while (!open(step.stage)) {
    if (!is_missing(errno) || step.stage == ".") fail_errno(step.what.path, errno);
    step.stage = split_name(step.stage).first;
  }
  struct stat there {};
  if (step.stage == step.folder) there = replaced_at(opened_, step.name, step.what.path);
  step.replaces = there.st_mode != 0;
  const struct stat owner = owner_of(opened_, there, step.what.path);
  step.temporary = make_beside(opened_, *step.what.content, owner, step.what.mode, step.what.path);
  step.state = State::staged;
}

void DiskReplacement::perform(Step& step) {
  if (!step.what.content) return remove(step);
  if (step.replaces) return replace(step);
  if (!open(step.folder))
    opened_ = make_folders(root_, step.folder, step.what.path, &step.made_folders);
  const int at = opened_.get();
  Fd elsewhere;
  if (step.stage != step.folder) elsewhere = open_beneath(root_, step.stage, O_PATH | O_DIRECTORY);
  const int stage = elsewhere ? elsewhere.get() : at;
  if (::renameat(stage, step.temporary.c_str(), at, step.name.c_str()) != 0)
    fail_errno(step.what.path, errno);
  step.state = State::appeared;
}

void DiskReplacement::replace(Step& step) {
  if (!open(step.folder)) fail_errno(step.what.path, errno);
  const int at = opened_.get();
  const char* temporary = step.temporary.c_str();
  const char* name = step.name.c_str();
  if (::renameat2(at, temporary, at, name, RENAME_EXCHANGE) == 0) {
    step.state = State::exchanged;
    return;
  }
  // Not every file system can; an overlay not for the files of an owner that it does not know.
  step.saved = save(opened_, step);
  if (::renameat(at, temporary, at, name) != 0) fail_errno(step.what.path, errno);
  step.state = State::rewritten;
}

void DiskReplacement::remove(Step& step) {
  if (!open(step.folder)) fail_errno(step.what.path, errno);
  replaced_at(opened_, step.name, step.what.path);
  const int at = opened_.get();
  step.stage = step.folder;
  step.temporary = temporary_name();
  if (::renameat(at, step.name.c_str(), at, step.temporary.c_str()) == 0) {
    step.state = State::aside;
    return;
  }
  step.saved = save(opened_, step);
  if (::unlinkat(at, step.name.c_str(), 0) != 0) fail_errno(step.what.path, errno);
  step.state = State::rewritten;
}

DiskReplacement::Saved DiskReplacement::save(const Fd& folder, const Step& step) {
  Saved saved;
  if (::fstatat(folder.get(), step.name.c_str(), &saved.status, AT_SYMLINK_NOFOLLOW) != 0)
    fail_errno(step.what.path, errno);
  const DiskFiles files(Fd(::openat(folder.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)));
  if (S_ISLNK(saved.status.st_mode))
    saved.content = files.read_link(step.name);
  else
    saved.content = files.read(step.name).value_or("");
  return saved;
}

void DiskReplacement::restore(const Fd& folder, const Step& step) {
  const auto& [content, status] = step.saved;
  const int at = folder.get();
  if (S_ISLNK(status.st_mode)) {
    ::unlinkat(at, step.name.c_str(), 0);
    if (::symlinkat(content.c_str(), at, step.name.c_str()) != 0) fail_errno(step.what.path, errno);
    return;
  }
  const std::string name =
      make_beside(folder, content, status, status.st_mode & 07777u, step.what.path);
  if (::renameat(at, name.c_str(), at, step.name.c_str()) != 0) fail_errno(step.what.path, errno);
}

void DiskReplacement::undo(Step& step) {
  if (step.state == State::untouched) return;
  const bool beside = step.state == State::staged;
  if (!open(beside ? step.stage : step.folder)) fail_errno(step.what.path, errno);
  const int at = opened_.get();
  const auto check = [&](int result) {
    if (result != 0) fail_errno(step.what.path, errno);
  };
  switch (step.state) {
    case State::exchanged:
      check(::renameat2(at, step.temporary.c_str(), at, step.name.c_str(), RENAME_EXCHANGE));
      [[fallthrough]];
    case State::staged:
      return check(::unlinkat(at, step.temporary.c_str(), 0));
    case State::appeared:
      return check(::unlinkat(at, step.name.c_str(), 0));
    case State::aside:
      return check(::renameat(at, step.temporary.c_str(), at, step.name.c_str()));
    case State::rewritten:
      return restore(opened_, step);
    case State::untouched:
      return;
  }
}

/// Those that were made for this step; one that somebody else put a file into meanwhile stays.
void DiskReplacement::take_folders_back(const Step& step) {
  opened_.reset();
  for (auto folder = step.made_folders.rbegin(); folder != step.made_folders.rend(); ++folder) {
    const auto [above, name] = split_name(*folder);
    if (open(above)) ::unlinkat(opened_.get(), name.c_str(), AT_REMOVEDIR);
  }
}

/// What can't be put back, in words.
std::string DiskReplacement::undo_all() {
  std::string lost;
  // What never appeared goes first: that makes room for what has to be written again.
  for (const bool staged : {true, false}) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if ((step->state == State::staged) != staged) continue;
      try {
        undo(*step);
        take_folders_back(*step);
      } catch (const std::exception& error) {
        lost += std::string(" Could not be restored: ") + error.what() + ".";
      }
      if (staged) step->state = State::untouched;
    }
  }
  return lost;
}

/// All is in its place: what was there before goes.
void DiskReplacement::finish() {
  for (const auto& step : steps_) {
    if (step.state != State::exchanged && step.state != State::aside) continue;
    if (open(step.folder)) ::unlinkat(opened_.get(), step.temporary.c_str(), 0);
  }
}

}  // namespace sortie

#include "core/files/disk_replacement.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/files/disk_place.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"

namespace fs = std::filesystem;

namespace sortie {

using namespace disk;

void DiskReplacement::run(const std::vector<Replacement>& replacements) {
  steps_.reserve(replacements.size());
  for (const auto& what : replacements) {
    auto [folder, name] = split_name(what.path);
    steps_.push_back({.what = what, .folder = std::move(folder), .name = std::move(name)});
  }
  auto failure = do_in_parts(0, steps_.size(), &DiskReplacement::stage);
  if (!failure) failure = perform_all();
  if (!failure) {
    do_in_parts(0, steps_.size(), &DiskReplacement::clear_away);
    return;
  }
  const std::string act =
      failure->step->what.content ? "Failed to write file " : "Failed to delete file ";
  const std::string lost = undo_all();
  throw ToolError(act + failure->cause + "." + (lost.empty() ? " No file was changed." : lost),
                  failure->kind);
}

/// In order, since a file has to be removed before a folder takes its place. Only files that
/// replace others in place run concurrently.
std::optional<DiskReplacement::Failure> DiskReplacement::perform_all() {
  for (std::size_t first = 0; first < steps_.size();) {
    std::size_t last = first + 1;
    while (last < steps_.size() && steps_[last].replaces == steps_[first].replaces) ++last;
    std::atomic<bool> failed = false;
    const auto failure = steps_[first].replaces
                             ? do_in_parts(first, last, &DiskReplacement::perform)
                             : do_part(first, last, &DiskReplacement::perform, failed);
    if (failure) return failure;
    first = last;
  }
  return std::nullopt;
}

std::optional<DiskReplacement::Failure> DiskReplacement::do_in_parts(std::size_t first,
                                                                     std::size_t last, Act act) {
  // One folder is never split: two threads in it would wait for each other.
  const auto begins_folder = [&](std::size_t i) {
    return steps_[first + i].folder != steps_[first + i - 1].folder;
  };
  std::atomic<bool> failed = false;
  std::mutex guard;
  std::optional<Failure> soonest;
  parallel_for(last - first, begins_folder, [&](std::size_t begin, std::size_t end) {
    auto failure = do_part(first + begin, first + end, act, failed);
    if (!failure) return;
    const std::lock_guard lock(guard);
    if (!soonest || failure->step < soonest->step) soonest = std::move(failure);
  });
  return soonest;
}

/// @param failed  set by any part that fails: no further step is begun
std::optional<DiskReplacement::Failure> DiskReplacement::do_part(std::size_t first,
                                                                 std::size_t last, Act act,
                                                                 std::atomic<bool>& failed) {
  OpenFolder at(root_);
  for (std::size_t i = first; i < last && !failed; ++i) {
    try {
      (this->*act)(steps_[i], at);
    } catch (const ToolError& error) {
      failed = true;
      return Failure{&steps_[i], error.what(), error.cause()};
    } catch (const std::exception& error) {
      failed = true;
      return Failure{&steps_[i], error.what()};
    }
  }
  return std::nullopt;
}

void DiskReplacement::stage(Step& step, OpenFolder& at) const {
  if (!step.what.content) return;
  // The folder does not exist yet, or a file that will be removed is in its place.
  step.stage = step.folder;
  while (!at.open(step.stage)) {
    if (!is_missing(errno) || step.stage == ".") fail_errno(step.what.path, errno);
    step.stage = split_name(step.stage).first;
  }
  const Fd& folder = at.open(step.stage);
  struct stat there {};
  if (step.stage == step.folder) there = replaced_at(folder, step.name, step.what.path);
  step.replaces = there.st_mode != 0;
  const struct stat owner = owner_of(folder, there, step.what.path);
  step.temporary = make_beside(folder, *step.what.content, owner, step.what.mode, step.what.path);
  step.state = State::staged;
}

void DiskReplacement::perform(Step& step, OpenFolder& at) const {
  if (!step.what.content) return remove(step, at);
  if (step.replaces) return replace(step, at);
  const int folder = at.make(step.folder, step.what.path, step.made_folders).get();
  Fd elsewhere;
  if (step.stage != step.folder) elsewhere = open_beneath(root_, step.stage, O_PATH | O_DIRECTORY);
  const int stage = elsewhere ? elsewhere.get() : folder;
  if (::renameat(stage, step.temporary.c_str(), folder, step.name.c_str()) != 0)
    fail_errno(step.what.path, errno);
  step.state = State::appeared;
}

void DiskReplacement::replace(Step& step, OpenFolder& at) {
  const Fd& folder = at.open(step.folder);
  if (!folder) fail_errno(step.what.path, errno);
  const char* temporary = step.temporary.c_str();
  const char* name = step.name.c_str();
  if (::renameat2(folder.get(), temporary, folder.get(), name, RENAME_EXCHANGE) == 0) {
    step.state = State::exchanged;
    return;
  }
  // Not every file system supports it; an overlay does not for files of an unmapped owner.
  step.saved = save(folder, step);
  if (::renameat(folder.get(), temporary, folder.get(), name) != 0)
    fail_errno(step.what.path, errno);
  step.state = State::rewritten;
}

void DiskReplacement::remove(Step& step, OpenFolder& at) {
  const Fd& folder = at.open(step.folder);
  if (!folder) fail_errno(step.what.path, errno);
  replaced_at(folder, step.name, step.what.path);
  step.stage = step.folder;
  step.temporary = temporary_name();
  const char* name = step.name.c_str();
  if (::renameat(folder.get(), name, folder.get(), step.temporary.c_str()) == 0) {
    step.state = State::aside;
    return;
  }
  step.saved = save(folder, step);
  if (::unlinkat(folder.get(), name, 0) != 0) fail_errno(step.what.path, errno);
  step.state = State::rewritten;
}

/// After all steps succeeded: removes the old files.
void DiskReplacement::clear_away(Step& step, OpenFolder& at) const {
  if (step.state != State::exchanged && step.state != State::aside) return;
  if (const Fd& folder = at.open(step.folder)) ::unlinkat(folder.get(), step.temporary.c_str(), 0);
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

void DiskReplacement::undo(Step& step, OpenFolder& opened) {
  if (step.state == State::untouched) return;
  const bool beside = step.state == State::staged;
  const Fd& folder = opened.open(beside ? step.stage : step.folder);
  if (!folder) fail_errno(step.what.path, errno);
  const int at = folder.get();
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
      return restore(folder, step);
    case State::untouched:
      return;
  }
}

/// Removes the folders made for this step, except those that have got other files meanwhile.
void DiskReplacement::take_folders_back(const Step& step, OpenFolder& at) {
  at.close();
  for (auto folder = step.made_folders.rbegin(); folder != step.made_folders.rend(); ++folder) {
    const auto [above, name] = split_name(*folder);
    if (const Fd& open = at.open(above)) ::unlinkat(open.get(), name.c_str(), AT_REMOVEDIR);
  }
}

/// Undoes all steps. @return a message for each file that could not be restored
std::string DiskReplacement::undo_all() {
  std::string lost;
  OpenFolder at(root_);
  // Staged files go first: that makes room for files that have to be written again.
  for (const bool staged : {true, false}) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if ((step->state == State::staged) != staged) continue;
      try {
        undo(*step, at);
        take_folders_back(*step, at);
      } catch (const std::exception& error) {
        lost += std::string(" Could not be restored: ") + error.what() + ".";
      }
      if (staged) step->state = State::untouched;
    }
  }
  return lost;
}

}  // namespace sortie

#include "core/workspace/start_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <deque>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"
#include "core/git/object_folders.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using StartHeld = StartEntry::Held;

constexpr int kMostLinksFollowed = 40;  // as the kernel (path_resolution(7))

[[noreturn]] void refuse_write() { throw ToolError("the state at the start can't be changed"); }

FileStatus::Kind kind_of_entry(const StartEntry& entry) {
  if (S_ISREG(entry.stamp.mode)) return FileStatus::Kind::file;
  if (S_ISDIR(entry.stamp.mode)) return FileStatus::Kind::folder;
  if (S_ISLNK(entry.stamp.mode)) return FileStatus::Kind::symlink;
  return FileStatus::Kind::other;
}

/// Opens the tree's own folder, also if commands have closed it: its mode is put back with the rest.
Fd open_root(const StartList& list) {
  const StartEntry* const was = list.find("");
  const Fd root(::open(list.root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat now {};
  if (was != nullptr && root && ::fstat(root.get(), &now) == 0 && (now.st_mode & 0700) != 0700 &&
      now.st_mode != was->stamp.mode) {
    const std::string name = "/proc/self/fd/" + std::to_string(root.get());
    ::chmod(name.c_str(), (was->stamp.mode & 07777) | 0700);
  }
  return open_folder(AT_FDCWD, list.root.native(), list.root);
}

}  // namespace

StartFiles::StartFiles(const StartList& list, const fs::path& kept,
                       const std::vector<fs::path>& objects)
    : list_(list),
      kept_(kept),
      root_(open_root(list)),
      tree_(std::make_unique<DiskFiles>(open_folder(AT_FDCWD, list.root.native(), list.root))) {
  if (objects.empty()) return;
  start_libgit2();
  check_git(git_odb_new(GitOut(objects_)), "objects of the start", ExitCode::environment);
  for (const fs::path& folder : objects) add_objects(*objects_, folder, "objects of the start");
}

bool StartFiles::is_untouched(const StartEntry& entry) const {
  struct stat status {};
  return ::fstatat(root_.get(), entry.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         stamp_of(status) == entry.stamp;
}

bool StartFiles::is_known(const StartEntry& entry) const {
  return S_ISDIR(entry.stamp.mode) || entry.held != StartHeld::nowhere || is_untouched(entry);
}

std::string StartFiles::held_content(const StartEntry& entry) const {
  const auto lost = [&entry](const std::string& why) -> ToolError {
    return ToolError(path_text(entry.path) + ": its content at the start is lost: " + why);
  };
  std::string content;
  if (entry.held == StartHeld::kept) {
    try {
      content = read_file(kept_copy(entry));
    } catch (const Error& error) {
      throw lost(error.what());
    }
  } else if (entry.held == StartHeld::object && objects_) {
    git_oid id;
    git_odb_object* object = nullptr;
    if (git_oid_fromstr(&id, entry.place.c_str()) < 0 ||
        git_odb_read(&object, objects_.get(), &id) < 0)
      throw lost("the repository no longer has the object " + entry.place);
    const GitHandle<git_odb_object, git_odb_object_free> owner(object);
    content.assign(static_cast<const char*>(git_odb_object_data(object)),
                   git_odb_object_size(object));
  } else {
    throw lost("it was not kept");
  }
  if (content.size() != entry.stamp.size)
    throw lost("what was kept has " + std::to_string(content.size()) + " bytes, not " +
               std::to_string(entry.stamp.size));
  return content;
}

/// The entry at a path without links on its way; nullptr for none.
const StartEntry* StartFiles::entry_at(const fs::path& path) const {
  const StartEntry* const entry = list_.find(path.native());
  return entry != nullptr && is_known(*entry) ? entry : nullptr;
}

/// @param last  whether a link at the path itself is followed, too
fs::path StartFiles::resolve_parts(const fs::path& path, bool last) const {
  if (path.is_absolute()) disk::fail_outside(path);
  std::deque<fs::path> left(path.begin(), path.end());
  fs::path at;
  for (int followed = 0; !left.empty();) {
    const fs::path part = left.front();
    left.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (at.empty()) disk::fail_outside(path);
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / part;
    const StartEntry* const entry = entry_at(next);
    if (entry == nullptr || entry->held != StartHeld::link || (left.empty() && !last)) {
      at = next;
      continue;
    }
    const fs::path target = entry->place;
    if (target.is_absolute()) disk::fail_outside(path);
    if (++followed > kMostLinksFollowed)
      throw ToolError(path_text(path) + ": too many levels of symbolic links");
    left.insert(left.begin(), target.begin(), target.end());
  }
  return at;
}

fs::path StartFiles::resolve(const fs::path& path) const {
  const fs::path at = resolve_parts(path, true);
  return at.empty() ? fs::path(".") : at;
}

std::optional<FileStatus> StartFiles::status(const fs::path& path) const {
  const fs::path at = resolve_parts(path, false);
  if (at.empty()) return FileStatus{.kind = FileStatus::Kind::folder, .mode = 0755};
  const StartEntry* const entry = entry_at(at);
  if (entry == nullptr) return std::nullopt;
  return FileStatus{
      .kind = kind_of_entry(*entry), .mode = entry->stamp.mode & 07777u, .size = entry->stamp.size};
}

std::optional<std::string> StartFiles::read(const fs::path& path, std::uint64_t max_bytes) const {
  const StartEntry* const entry = entry_at(resolve_parts(path, true));
  if (entry == nullptr) return std::nullopt;
  if (S_ISDIR(entry->stamp.mode)) throw ToolError(path_text(path) + ": is a folder");
  if (!S_ISREG(entry->stamp.mode))
    throw ToolError(path_text(path) + ": is not a regular file (a pipe, socket or device)");
  if (entry->stamp.size > max_bytes)
    throw ToolError(path_text(path) + ": is too large: " + std::to_string(entry->stamp.size) +
                    " bytes, at most " + std::to_string(max_bytes) + " are read");
  if (is_untouched(*entry)) {
    auto content = tree_->read(entry->path, max_bytes);
    if (content && is_untouched(*entry)) return content;  // not changed while it was read
  }
  return held_content(*entry);
}

std::string StartFiles::read_link(const fs::path& path) const {
  const StartEntry* const entry = entry_at(resolve_parts(path, false));
  if (entry == nullptr || entry->held != StartHeld::link)
    throw ToolError(path_text(path) + ": is not a link");
  return entry->place;
}

std::vector<FolderEntry> StartFiles::list(const fs::path& folder) const {
  const fs::path at = resolve_parts(folder, true);
  if (!at.empty()) {
    const StartEntry* const entry = entry_at(at);
    if (entry == nullptr || !S_ISDIR(entry->stamp.mode))
      throw ToolError(path_text(folder) +
                      (entry == nullptr ? ": no such folder" : ": is not a folder"));
  }
  std::vector<FolderEntry> entries;
  for (const StartEntry* child : list_.children(at.native()))
    if (is_known(*child))
      entries.push_back({fs::path(child->path).filename().native(), kind_of_entry(*child)});
  return entries;
}

void StartFiles::write(const fs::path&, std::string_view, unsigned) { refuse_write(); }
void StartFiles::remove(const fs::path&) { refuse_write(); }
bool StartFiles::remove_empty_folder(const fs::path&) { refuse_write(); }
void StartFiles::replace_all(const std::vector<Replacement>&) { refuse_write(); }

}  // namespace sortie

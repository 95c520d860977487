#include "core/workspace/tree_copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// Making files is mostly the kernel's work, which takes a lock of each folder.
constexpr std::size_t kMostThreads = 4;
/// Folders that wait, each with two descriptors: beyond it a thread copies the folders that it finds
/// by itself.
constexpr std::size_t kMostWaiting = 64;
/// A folder with so many entries is worth a thread's start.
constexpr std::size_t kWorthAThread = 32;

Error copy_error(const std::string& path) {
  return system_error("copy of the workspace: " + path_text(path.empty() ? "." : path),
                      ExitCode::environment);
}

bool is_leaf(mode_t mode) { return S_ISREG(mode) || S_ISLNK(mode); }

/// Calls `each(folder, entry, path)` for the entries of a folder; it returns whether to descend.
template <class Each>
void walk(const Fd& folder, const std::string& path, const std::vector<fs::path>& leave_out,
          int depth, const Each& each) {
  if (depth > kDeepestFolder) {
    throw Error("copy of the workspace: " + path_text(path) + ": folders nested too deeply",
                ExitCode::environment);
  }
  for (const NamedStatus& entry : list_folder(folder, path)) {
    const std::string name = child_path(path, entry.name);
    if (is_below_any(name, leave_out)) continue;
    each(folder, entry, name);
    if (!S_ISDIR(entry.status.st_mode)) continue;
    walk(open_folder(folder.get(), entry.name, name), name, leave_out, depth + 1, each);
  }
}

Fd open_tree(const fs::path& tree) { return open_folder(AT_FDCWD, tree.native(), tree); }

/// Copies through this process's memory.
ssize_t copy_piece(int from, int to, off_t at, std::size_t size) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::pread(from, buffer.data(), std::min(buffer.size(), size), at);
  return count <= 0 ? count : ::pwrite(to, buffer.data(), static_cast<std::size_t>(count), at);
}

/// Whether copy_file_range(2) is unsupported here: another file system, or one without the call.
bool needs_reading(int error) {
  return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

void copy_range(int from, int to, off_t begin, off_t end, const std::string& path) {
  bool in_kernel = true;
  for (off_t at = begin; at < end;) {
    const auto size = static_cast<std::size_t>(end - at);
    off_t in = at;
    off_t out = at;
    const ssize_t count = in_kernel ? ::copy_file_range(from, &in, to, &out, size, 0)
                                    : copy_piece(from, to, at, size);
    if (count == 0) return;  // truncated meanwhile; its stamp will differ
    if (count > 0) {
      at += count;
    } else if (in_kernel && needs_reading(errno)) {
      in_kernel = false;
    } else if (errno != EINTR) {
      throw copy_error(path);
    }
  }
}

/// Copies only the data between the holes; the final size makes the holes.
void copy_bytes(int from, int to, off_t size, const std::string& path) {
  struct stat status {};
  if (::fstat(from, &status) != 0) throw copy_error(path);
  // Looking for holes takes a small file's copy as long as its bytes do.
  if (static_cast<std::int64_t>(status.st_blocks) * 512 >= size)
    return copy_range(from, to, 0, size, path);
  if (::ftruncate(to, size) != 0) throw copy_error(path);
  off_t at = 0;
  while (at < size) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) return;  // a hole until the end
    if (data < 0) return copy_range(from, to, at, size, path);
    const off_t hole = ::lseek(from, data, SEEK_HOLE);
    if (hole < 0) throw copy_error(path);
    copy_range(from, to, data, std::min(hole, size), path);
    at = hole;
  }
}

/// Sets owner, mode and times, in this order: chown(2) clears set-id bits, and times are last.
void finish(int file, const struct stat& status, const std::string& path) {
  if (::geteuid() == 0 && ::fchown(file, status.st_uid, status.st_gid) != 0) throw copy_error(path);
  if (::fchmod(file, status.st_mode & 07777) != 0) throw copy_error(path);
  const timespec times[2] = {status.st_atim, status.st_mtim};
  if (::futimens(file, times) != 0) throw copy_error(path);
}

void copy_link(const Fd& from, const Fd& to, const NamedStatus& entry, const std::string& path) {
  std::string target(4096, '\0');
  const char* name = entry.name.c_str();
  const ssize_t size = ::readlinkat(from.get(), name, target.data(), target.size());
  if (size < 0) throw copy_error(path);
  target.resize(static_cast<std::size_t>(size));
  if (::symlinkat(target.c_str(), to.get(), name) != 0) throw copy_error(path);
  const int flags = AT_SYMLINK_NOFOLLOW;
  if (::geteuid() == 0) {
    if (::fchownat(to.get(), name, entry.status.st_uid, entry.status.st_gid, flags) != 0)
      throw copy_error(path);
  }
  const timespec times[2] = {entry.status.st_atim, entry.status.st_mtim};
  if (::utimensat(to.get(), name, times, flags) != 0) throw copy_error(path);
}

FileStamp copy_file(const Fd& from, const Fd& to, const NamedStatus& entry,
                    const std::string& path) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Fd source(::openat(from.get(), entry.name.c_str(), flags));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0) throw copy_error(path);
  if (!S_ISREG(status.st_mode))
    throw Error(path_text(path) + ": changed while it was copied", ExitCode::environment);
  const int made = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Fd copy(::openat(to.get(), entry.name.c_str(), made, 0600));
  if (!copy) throw copy_error(path);
  copy_content(source.get(), copy.get(), status.st_size, path);
  finish(copy.get(), status, path);
  return stamp_of(status);  // from before reading: a later change shows
}

/// A folder that was made, and is to be filled.
struct Folder {
  Fd from;  ///< none: it stays empty
  Fd to;
  std::string path;  ///< "" at the root
  struct stat status {};
  int depth = 0;
};

/// Copies a tree folder by folder, in several threads, and records the stamps of both sides of each
/// file. A folder is one thread's: it gets its times when it has all its entries, and what is done
/// below these does not change them.
class TreeCopy {
 public:
  using Hidden = std::function<bool(const std::string& path)>;

  TreeCopy(const std::vector<fs::path>& leave_out, const Hidden& hidden)
      : leave_out_(leave_out), hidden_(hidden) {}

  CopyManifest run(Folder root) {
    waiting_.push_back(std::move(root));
    work();
    for (std::thread& helper : helpers_) helper.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(manifest_);
  }

 private:
  using Copied = std::vector<std::pair<std::string, CopiedFile>>;

  /// Until no folder waits and none is being filled, or one has failed.
  void work() {
    Copied copied;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return !waiting_.empty() || busy_ == 0 || failure_; });
      if (waiting_.empty() || failure_) break;
      Folder folder = std::move(waiting_.back());
      waiting_.pop_back();
      ++busy_;
      lock.unlock();
      std::exception_ptr failure;
      try {
        fill(std::move(folder), copied);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      --busy_;
      if (failure && !failure_) failure_ = failure;
      if (busy_ == 0 || failure_) wake_.notify_all();
    }
    manifest_.files.insert(std::make_move_iterator(copied.begin()),
                           std::make_move_iterator(copied.end()));
  }

  void fill(Folder folder, Copied& copied) {
    if (folder.depth > kDeepestFolder) {
      throw Error(
          "copy of the workspace: " + path_text(folder.path) + ": folders nested too deeply",
          ExitCode::environment);
    }
    std::vector<NamedStatus> entries;
    if (folder.from) entries = list_folder(folder.from, folder.path);
    for (const NamedStatus& entry : entries) {
      const std::string name = child_path(folder.path, entry.name);
      if (hidden_ && hidden_(name)) continue;
      if (S_ISDIR(entry.status.st_mode)) {
        Folder below = make_folder(folder, entry, name);
        if (!hand_over(below, entries.size())) fill(std::move(below), copied);
      } else if (is_leaf(entry.status.st_mode) && !is_below_any(name, leave_out_)) {
        copied.emplace_back(name, leaf(folder, entry, name));
      }
    }
    finish(folder.to.get(), folder.status, folder.path);
  }

  Folder make_folder(const Folder& in, const NamedStatus& entry, const std::string& path) const {
    if (::mkdirat(in.to.get(), entry.name.c_str(), 0700) != 0) throw copy_error(path);
    Folder folder{.from = {},
                  .to = open_folder(in.to.get(), entry.name, path),
                  .path = path,
                  .status = entry.status,
                  .depth = in.depth + 1};
    if (!is_below_any(path, leave_out_)) folder.from = open_folder(in.from.get(), entry.name, path);
    return folder;
  }

  /// Lets a folder wait for a thread that has time. @return whether it was taken
  bool hand_over(Folder& folder, std::size_t siblings) {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (waiting_.size() >= kMostWaiting) return false;
    waiting_.push_back(std::move(folder));
    if (siblings + waiting_.size() >= kWorthAThread) add_helper();
    wake_.notify_one();
    return true;
  }

  /// Under the lock. What hides paths may be asked by one thread alone.
  void add_helper() {
    const std::size_t most =
        std::min<std::size_t>(kMostThreads, std::thread::hardware_concurrency());
    if (hidden_ || helpers_.size() + 1 >= most) return;
    try {
      helpers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no more threads
    }
  }

  static CopiedFile leaf(const Folder& in, const NamedStatus& entry, const std::string& path) {
    CopiedFile record;
    if (S_ISLNK(entry.status.st_mode)) {
      record.source = stamp_of(entry.status);
      copy_link(in.from, in.to, entry, path);
    } else {
      record.source = copy_file(in.from, in.to, entry, path);
    }
    struct stat copy {};
    if (::fstatat(in.to.get(), entry.name.c_str(), &copy, AT_SYMLINK_NOFOLLOW) != 0)
      throw copy_error(path);
    record.copy = stamp_of(copy);
    return record;
  }

  const std::vector<fs::path>& leave_out_;
  const Hidden& hidden_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Folder> waiting_;
  std::vector<std::thread> helpers_;
  std::size_t busy_ = 0;  ///< threads that fill a folder
  std::exception_ptr failure_;
  CopyManifest manifest_;
};

/// ctime has the resolution of a clock tick: a file written in the tick in which its copy was
/// finished would keep its stamp (git calls such entries racily clean). So this waits for the next
/// tick, 10 ms at most, but not for a clock that was set back.
void pass_tick(const CopyManifest& manifest) {
  std::int64_t newest = 0;
  for (const auto& [path, file] : manifest.files) newest = std::max(newest, file.copy.ctime);
  pass_time(newest);
}

}  // namespace

void copy_content(int from, int to, off_t size, const std::string& path) {
  if (::ioctl(to, FICLONE, from) != 0) copy_bytes(from, to, size, path);
}

void pass_time(std::int64_t stamp) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec > stamp) return;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

TreeSize measure_tree(const fs::path& tree, const std::vector<fs::path>& leave_out) {
  TreeSize size;
  walk(open_tree(tree), "", leave_out, 0,
       [&](const Fd&, const NamedStatus& entry, const std::string&) {
         if (!is_leaf(entry.status.st_mode)) return;
         ++size.files;
         const auto stored = static_cast<std::uint64_t>(entry.status.st_blocks) * 512;
         size.bytes += std::min(stored, static_cast<std::uint64_t>(entry.status.st_size));
       });
  return size;
}

bool can_clone(const fs::path& tree, const fs::path& folder) {
  bool tried = false;
  bool works = false;
  const auto attempt = [&](const Fd& parent, const NamedStatus& entry, const std::string&) {
    if (tried || !S_ISREG(entry.status.st_mode) || entry.status.st_size == 0) return;
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const Fd source(::openat(parent.get(), entry.name.c_str(), flags));
    const Fd copy(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!source || !copy) return;
    tried = true;
    works = ::ioctl(copy.get(), FICLONE, source.get()) == 0;
  };
  // The top levels suffice: files below are on the same file system.
  const Fd top = open_tree(tree);
  for (const NamedStatus& entry : list_folder(top, tree)) {
    attempt(top, entry, "");
    if (tried || !S_ISDIR(entry.status.st_mode)) continue;
    const Fd below = open_folder(top.get(), entry.name, tree / entry.name);
    for (const NamedStatus& inner : list_folder(below, tree / entry.name)) {
      attempt(below, inner, "");
    }
  }
  return works;
}

CopyManifest copy_tree(const fs::path& tree, const fs::path& to,
                       const std::vector<fs::path>& leave_out,
                       const std::function<bool(const std::string& path)>& hidden) {
  Folder root{.from = open_folder(AT_FDCWD, tree.native(), tree), .to = {}, .path = {}};
  if (::fstat(root.from.get(), &root.status) != 0 || ::mkdir(to.c_str(), 0700) != 0)
    throw copy_error("");
  root.to = open_folder(AT_FDCWD, to.native(), to);
  CopyManifest manifest = TreeCopy(leave_out, hidden).run(std::move(root));
  pass_tick(manifest);
  return manifest;
}

}  // namespace sortie

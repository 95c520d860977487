#include "core/git/git_repository.h"

#include <fcntl.h>
#include <git2/sys/repository.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/config/git_config_files.h"
#include "core/git/object_folders.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigest = 20;
constexpr std::uint64_t kMostOfIndex = 1ull << 30;

/// Whether the index has no checksum: all zeros (gitformat-index(5)).
bool lacks_checksum(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, kDigest> end{};
  const off_t at = status.st_size - static_cast<off_t>(kDigest);
  if (at < 0 || ::pread(file.get(), end.data(), end.size(), at) != static_cast<ssize_t>(kDigest))
    return false;
  return end == std::array<char, kDigest>{};
}

/// The bytes of a hex string.
std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// The index with a checksum, read from a file in memory.
bool open_with_checksum(GitIndex& index, const fs::path& path) {
  std::string bytes;
  try {
    bytes = read_file(path, kMostOfIndex);
  } catch (const Error&) {
    return false;
  }
  if (bytes.size() < kDigest) return false;
  bytes.resize(bytes.size() - kDigest);
  bytes += bytes_of(sha1_hex(bytes));
  const Fd memory(::memfd_create("index", MFD_CLOEXEC));
  if (!memory || !write_all(memory.get(), bytes)) return false;
  // libgit2 reads the whole file here, and never again.
  const std::string name = "/proc/self/fd/" + std::to_string(memory.get());
  return git_index_open(GitOut(index), name.c_str()) == 0;
}

bool names(const GitConfigFiles& config, std::string_view key) {
  return std::any_of(config.settings.begin(), config.settings.end(),
                     [&](const GitSetting& setting) { return setting.key == key; });
}

void open_at(FoundRepository& found) {
  const fs::path& toplevel = found.place.toplevel;
  const GitConfigFiles config = read_git_config(found.place);  // libgit2 would block on a pipe
  if (const std::string reason = unsupported_format(config.settings); !reason.empty()) {
    found.place.refused = path_text(toplevel / ".git") + " can't be read here: " + reason;
    return;
  }
  const int result = git_repository_open_ext(GitOut(found.handle), toplevel.c_str(),
                                             GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  const std::string step = "git repository at " + path_text(toplevel);
  if (result == GIT_ENOTFOUND) {
    found.place.refused = path_text(toplevel / ".git") + " is not a complete repository";
    return;
  }
  check_git(result, step, ExitCode::environment);
  check_git(git_repository_set_workdir(found.handle.get(), toplevel.c_str(), 0), step,
            ExitCode::environment);
  const bool synced = names(config, "core.fsyncobjectfiles") &&
                      switch_of(*found.handle, "core.fsyncObjectFiles").value_or(false);
  const GitOdb objects = open_objects(found.place, synced);
  check_git(git_repository_set_odb(found.handle.get(), objects.get()), step, ExitCode::environment);
  git_oid head;
  if (git_reference_name_to_id(&head, found.handle.get(), "HEAD") == 0) {
    if (const fs::path file = blocking_object(found.place, head); !file.empty()) {
      found.place.refused =
          path_text(file) + " is not a regular file, and git would block on it: remove it";
      found.handle.reset();
      return;
    }
  }
  give_readable_index(*found.handle, found.place.git_dir / "index");
  found.toplevel = toplevel;
}

/// From which of the two a commit is reachable.
enum Reached : unsigned { by_first = 1, by_second = 2, by_both = 3 };

class Painting {
 public:
  Painting(git_repository& repository, const std::function<void()>& check_cancel)
      : repository_(repository), check_cancel_(check_cancel) {}

  /// @return  false if the commit is missing
  bool reach(const git_oid& id, unsigned from) {
    const std::string key(reinterpret_cast<const char*>(id.id), sizeof id.id);
    const auto [found, is_new] = seen_.try_emplace(key);
    Seen& seen = found->second;
    if ((seen.reached & from) == from) return true;
    if (is_new) {
      GitCommit commit;
      if (git_commit_lookup(GitOut(commit), &repository_, &id) < 0) return false;
      seen.time = git_commit_time(commit.get());
      for (unsigned i = 0; i < git_commit_parentcount(commit.get()); ++i)
        seen.parents.push_back(*git_commit_parent_id(commit.get(), i));
    }
    if (seen.reached != by_both) open_ -= seen.waits;
    seen.reached |= from;
    ++seen.waits;
    if (seen.reached != by_both) open_ += seen.waits;
    waiting_.push({seen.time, &seen});
    return true;
  }

  /// Newest first, until all queued commits are reachable from both: then their ancestors are, too.
  bool run() {
    while (open_ > 0) {
      if (check_cancel_) check_cancel_();
      Seen& seen = *waiting_.top().seen;
      waiting_.pop();
      --seen.waits;
      if (seen.reached != by_both) --open_;
      for (const git_oid& parent : seen.parents)
        if (!reach(parent, seen.reached)) return false;
    }
    return true;
  }

  GitDistance count() const {
    GitDistance distance;
    for (const auto& [id, seen] : seen_) {
      distance.ahead += seen.reached == by_first ? 1 : 0;
      distance.behind += seen.reached == by_second ? 1 : 0;
    }
    return distance;
  }

 private:
  struct Seen {
    git_time_t time = 0;
    std::vector<git_oid> parents{};
    unsigned reached = 0;
    std::size_t waits = 0;  ///< how often it is queued
  };
  struct Waiting {
    git_time_t time;
    Seen* seen;
    bool operator<(const Waiting& other) const { return time < other.time; }
  };

  git_repository& repository_;
  const std::function<void()>& check_cancel_;
  std::unordered_map<std::string, Seen> seen_;  ///< by the bytes of the commit ids
  std::priority_queue<Waiting> waiting_;
  std::size_t open_ = 0;  ///< queued commits that are not reachable from both
};

}  // namespace

git_oid blob_id(std::string_view content) {
  git_oid id;
  check_git(git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB), "hash");
  return id;
}

std::string blob_text(const GitBlob& blob) {
  return {static_cast<const char*>(git_blob_rawcontent(blob.get())),
          static_cast<std::size_t>(git_blob_rawsize(blob.get()))};
}

std::optional<std::string> setting_of(git_repository& repository, const char* name) {
  GitConfig config;
  const char* value = nullptr;
  if (git_repository_config_snapshot(GitOut(config), &repository) < 0) return std::nullopt;
  if (git_config_get_string(&value, config.get(), name) < 0) return std::nullopt;
  return value;
}

std::optional<bool> switch_of(git_repository& repository, const char* name) {
  GitConfig config;
  int value = 0;
  if (git_repository_config_snapshot(GitOut(config), &repository) < 0) return std::nullopt;
  if (git_config_get_bool(&value, config.get(), name) < 0) return std::nullopt;
  return value != 0;
}

std::string prefix_in(const fs::path& toplevel, const fs::path& folder) {
  return folder == toplevel ? "" : folder.lexically_relative(toplevel).native() + "/";
}

void give_readable_index(git_repository& repository, const fs::path& path) {
  GitIndex index;
  if (lacks_checksum(path) && open_with_checksum(index, path))
    git_repository_set_index(&repository, index.get());
}

bool open_index_file(GitIndex& index, const fs::path& path) {
  if (lacks_checksum(path)) return open_with_checksum(index, path);
  return git_index_open(GitOut(index), path.c_str()) == 0;
}

FoundRepository find_repository(const fs::path& folder) {
  start_libgit2();
  FoundRepository found;
  found.place = find_git_place(folder);
  if (!found.place.toplevel.empty() && found.place.refused.empty()) open_at(found);
  return found;
}

std::shared_ptr<const FoundRepository> look_at_repository(const fs::path& folder) {
  std::shared_ptr<const void>* const kept = GitPlacesOnce::kept_for(folder);
  if (kept == nullptr) return std::make_shared<const FoundRepository>(find_repository(folder));
  if (*kept == nullptr) *kept = std::make_shared<const FoundRepository>(find_repository(folder));
  return std::static_pointer_cast<const FoundRepository>(*kept);
}

std::string head_commit(git_repository& repository) {
  git_oid id;
  const int result = git_reference_name_to_id(&id, &repository, "HEAD");
  if (result == GIT_ENOTFOUND) return "";
  check_git(result, "HEAD", ExitCode::environment);
  return id_text(id);
}

GitTree head_tree(git_repository& repository) {
  GitTree tree;
  const std::string commit = head_commit(repository);
  if (commit.empty()) return tree;
  GitObject object;
  const int result = git_revparse_single(GitOut(object), &repository, "HEAD^{tree}");
  if (result == GIT_ENOTFOUND || result == GIT_EINVALIDSPEC)
    throw Error("HEAD's tree, or its commit " + commit + ", is missing in the repository " +
                    path_text(git_repository_path(&repository)) +
                    ": run `git fsck` to see what is missing, and restore it by `git fetch` from a "
                    "complete clone, or clone again",
                ExitCode::environment);
  check_git(result, "HEAD's tree (run `git fsck` to see what is wrong)", ExitCode::environment);
  tree.reset(reinterpret_cast<git_tree*>(object.release()));
  return tree;
}

std::optional<GitDistance> git_distance(git_repository& repository, const git_oid& first,
                                        const git_oid& second,
                                        const std::function<void()>& check_cancel) {
  if (git_oid_equal(&first, &second) != 0) return GitDistance{};
  Painting painting(repository, check_cancel);
  if (!painting.reach(first, by_first) || !painting.reach(second, by_second) || !painting.run())
    return {};
  return painting.count();
}

}  // namespace sortie

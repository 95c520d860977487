#include "core/workspace/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/disk_place.h"
#include "core/files/file_name.h"
#include "core/files/open_beneath.h"
#include "core/files/path_below.h"
#include "core/workspace/checkpoint/base_list.h"
#include "core/workspace/checkpoint/content_mark.h"
#include "core/workspace/own_changes.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kVersion = 2;
constexpr std::string_view kBase = "base/";
constexpr std::string_view kTree = "tree/";

/// Whether a run's tree can hold a file of that name.
bool is_tree_path(const std::string& path) {
  return !path.empty() && is_plain_path(path) && !in_git_folder(path) &&
         path.find('\0') == std::string::npos;
}

Json json_of(std::string_view text) {
  try {
    return parse_json(std::string(text));
  } catch (const JsonError&) {
    return {};
  }
}

void set_time(const DiskFiles& view, const std::string& path, std::int64_t time) {
  const auto [above, name] = disk::split_name(path);
  const Fd folder = open_beneath(view.root(), above, O_RDONLY | O_DIRECTORY);
  const timespec both[2] = {{time / 1'000'000'000, time % 1'000'000'000},
                            {time / 1'000'000'000, time % 1'000'000'000}};
  // What a build makes of the times is the same, or it is made again.
  if (folder) ::utimensat(folder.get(), name.c_str(), both, AT_SYMLINK_NOFOLLOW);
}

}  // namespace

struct Checkpoint::Mapped {
  explicit Mapped(const fs::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size <= 0)
      return;
    const auto length = static_cast<std::size_t>(status.st_size);
    void* const at = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at != MAP_FAILED) bytes = {static_cast<const char*>(at), length};
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (!bytes.empty()) ::munmap(const_cast<char*>(bytes.data()), bytes.size());
  }
  std::string_view bytes;
};

std::optional<Checkpoint> Checkpoint::find(const fs::path& file, const std::string& run_id,
                                           std::uint64_t records) {
  Checkpoint found;
  auto mapped = std::make_shared<const Mapped>(file);
  const std::string_view bytes = mapped->bytes;
  found.file_ = mapped;
  TarReader reader(bytes);
  std::map<std::string, TarMember> since;
  std::size_t begin = 0;
  bool any = false;
  for (;;) {
    const std::size_t at = reader.offset();
    auto member = reader.next();
    if (!member) break;
    const std::string& name = member->entry.name;
    if (name == "base.json" && at == 0) {
      const Json base = json_of(member->content);
      if (base.integer_at("version") != kVersion || base.string_at("run_id") != run_id) break;
      found.in_place_ = base["in_place"].boolean();
    } else if (name.starts_with(kBase) && since.empty() && !any) {
      found.base_.push_back(member->content);
    } else if (name.starts_with(kTree)) {
      const std::string path = name.substr(kTree.size());
      since.insert_or_assign(path, std::move(*member));
    } else if (name == "checkpoint.json") {
      const Json mark = json_of(member->content);
      if (mark.string_at("sha256") != sha256_hex(bytes.substr(begin, at - begin)) ||
          mark.integer_at("records") > static_cast<std::int64_t>(records))
        break;
      found.take(mark, since);
      begin = reader.offset();
      any = true;
    } else {
      break;
    }
  }
  if (!any) return std::nullopt;
  return found;
}

void Checkpoint::take(const Json& mark, std::map<std::string, TarMember>& since) {
  mark_ = {static_cast<int>(mark.integer_at("turn")),
           static_cast<std::uint64_t>(mark.integer_at("records"))};
  for (const Json& name : mark["as_before"].items()) {
    const std::string path = path_named(name.text());
    files_.erase(path);
    removed_.erase(path);
    was_.erase(path);
  }
  for (auto& [path, member] : since) {
    removed_.erase(path);
    files_.insert_or_assign(path, std::move(member));
  }
  since.clear();
  for (const Json& name : mark["removed"].items()) {
    files_.erase(path_named(name.text()));
    removed_.insert(path_named(name.text()));
  }
  for (const auto& [name, was] : mark["was"].members()) was_[path_named(name)] = was.text();
  left_out_.clear();
  for (const Json& name : mark["left_out"].items()) left_out_.push_back(path_named(name.text()));
}

std::vector<std::string> Checkpoint::base_differences(const fs::path& root,
                                                      const std::vector<fs::path>& apart) const {
  std::set<std::string> differing;
  const DiskFiles now(open_folder(AT_FDCWD, root.native(), root));
  for (const auto& [path, was] : was_)
    if (content_mark(now, path) != was) differing.insert(path);
  BaseComparison how{.apart = {}, .without_folders = in_place_};
  for (const fs::path& path : apart)
    if (const auto below = path_below(path, root)) how.apart.push_back(*below);
  const auto changes = own_changes_since(root, -1, apart, kAllOwnChanges);
  for (std::string& path : base_list_differences(base_, changes, now, how))
    differing.insert(std::move(path));
  return {differing.begin(), differing.end()};
}

void Checkpoint::restore(const fs::path& root_shown, DiskFiles& view) const {
  for (const std::string& path : removed_) {
    if (!is_tree_path(path))
      throw Error("the checkpoint names " + path_text(path) + " in " + path_text(root_shown),
                  ExitCode::integrity);
    const auto status = view.status(path);
    if (status && status->kind != FileStatus::Kind::folder) view.remove(path);
  }
  for (const auto& [path, member] : files_) {
    if (!is_tree_path(path))
      throw Error("the checkpoint names " + path_text(path) + " in " + path_text(root_shown),
                  ExitCode::integrity);
    const auto there = view.status(path);
    if (there && there->kind == FileStatus::Kind::folder) disk::remove_hollow(view, path);
    if (member.entry.is_link)
      disk::write_link(view.root(), path, member.entry.target);
    else
      view.write(path, member.content, member.entry.mode & 07777u);
    set_time(view, path, member.entry.mtime);
  }
}

}  // namespace sortie

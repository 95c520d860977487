#include "tools/patch/applier.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "tools/patch/parser.h"
#include "tools/patch/update.h"

namespace sortie::patch {
namespace {

namespace fs = std::filesystem;

/// A tree with pending changes, which commit() writes completely or not at all.
class Changes {
 public:
  using File = RegularFile;

  explicit Changes(const Files& files) : files_(files) {}

  /// The path with links in its folders resolved: for removing or moving away.
  fs::path entry(const fs::path& path);
  /// The path with all links resolved: for reading and writing.
  fs::path target(const fs::path& path);

  /// Reads the regular files at these entries in parallel, for later calls. Others are skipped.
  void read_ahead(std::vector<fs::path> entries);
  /// The file at a target, with the changes so far. Valid until the target changes.
  /// @throws ToolError  for a folder, or an unreadable file
  const std::optional<File>& read(const fs::path& target);
  /// The kind of an entry, with the changes so far.
  std::optional<FileStatus::Kind> kind(const fs::path& entry);

  void write(const fs::path& target, File file);
  void remove(const fs::path& entry);

  /// Writes all changes or none, to the same files that were read.
  /// @throws ToolError  which path could not be written or removed, and why
  void commit(Files& files) const;

 private:
  /// A path that was read or changed.
  struct Node {
    std::optional<File> now{};  ///< with the changes so far
    bool exists = false;        ///< there is something on disk
    bool is_link = false;       ///< a link on disk
    bool changed = false;
  };

  /// By the bytes of the name: comparing paths part by part costs ten times as much.
  struct ByName {
    bool operator()(const fs::path& a, const fs::path& b) const { return a.native() < b.native(); }
  };
  using PathSet = std::set<fs::path, ByName>;

  const std::optional<FileStatus>& status(const fs::path& path);
  Node& load(const fs::path& path);
  bool lacks_folder(const fs::path& path) const;
  std::vector<Replacement> in_order() const;

  const Files& files_;
  fs::path last_path_;  ///< last status query: mostly repeated at once
  std::optional<FileStatus> last_status_;
  std::map<fs::path, Node, ByName> nodes_;
  std::map<fs::path, fs::path, ByName> folders_;  ///< resolved
};

fs::path Changes::entry(const fs::path& path) {
  fs::path parent = path.parent_path();
  if (parent.empty()) return path;
  auto known = folders_.find(parent);
  if (known == folders_.end()) {
    fs::path resolved = files_.resolve(parent);
    known = folders_.emplace(std::move(parent), std::move(resolved)).first;
  }
  const auto& [folder, resolved] = *known;
  if (folder.native() == resolved.native()) return path;
  return resolved.empty() || resolved == "." ? path.filename() : resolved / path.filename();
}

fs::path Changes::target(const fs::path& path) {
  const fs::path place = entry(path);
  if (nodes_.contains(place)) return place;
  const auto& there = status(place);
  if (!there || there->kind != FileStatus::Kind::symlink) return place;
  return files_.resolve(place);
}

void Changes::read_ahead(std::vector<fs::path> entries) {
  // Sorted, so that each folder is opened once.
  std::sort(entries.begin(), entries.end(), ByName());
  auto files = files_.read_many(entries);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i])
      nodes_.try_emplace(nodes_.end(), std::move(entries[i]),
                         Node{.now = std::move(files[i]), .exists = true});
}

const std::optional<FileStatus>& Changes::status(const fs::path& path) {
  if (last_path_.native() != path.native()) {
    last_status_ = files_.status(path);
    last_path_ = path;
  }
  return last_status_;
}

Changes::Node& Changes::load(const fs::path& path) {
  const auto [known, is_new] = nodes_.try_emplace(path);
  Node& node = known->second;
  if (!is_new) return node;
  try {
    const auto& there = status(path);
    node.exists = there.has_value();
    node.is_link = there && there->kind == FileStatus::Kind::symlink;
    if (!there || node.is_link) return node;
    if (there->kind == FileStatus::Kind::folder) throw ToolError("it is a folder");
    if (there->kind != FileStatus::Kind::file) throw ToolError("it is not a regular file");
    if (auto content = files_.read(path)) node.now = File{std::move(*content), there->mode};
  } catch (...) {
    nodes_.erase(known);
    throw;
  }
  return node;
}

const std::optional<Changes::File>& Changes::read(const fs::path& target) {
  return load(target).now;
}

std::optional<FileStatus::Kind> Changes::kind(const fs::path& entry) {
  if (const auto known = nodes_.find(entry); known != nodes_.end()) {
    if (!known->second.now) return std::nullopt;
    return FileStatus::Kind::file;
  }
  const auto& there = status(entry);
  if (!there) return std::nullopt;
  return there->kind;
}

void Changes::write(const fs::path& target, File file) {
  Node& node = load(target);
  if (node.now == file) return;
  node.now = std::move(file);
  node.changed = true;
}

void Changes::remove(const fs::path& entry) {
  // Only its name goes: nothing is opened, so a pipe or a socket may go too.
  const bool special = kind(entry) == FileStatus::Kind::other;
  Node& node =
      special ? nodes_.try_emplace(entry, Node{.exists = true}).first->second : load(entry);
  node.now.reset();
  node.changed = true;
}

bool Changes::lacks_folder(const fs::path& path) const {
  return path.has_parent_path() && !files_.status(path.parent_path());
}

/// Files in the way of a new folder are removed first, then all is written, then the rest is
/// removed. A file that was added and removed again leaves the folders made for it.
std::vector<Replacement> Changes::in_order() const {
  PathSet parents;
  for (const auto& [path, node] : nodes_)
    if (node.changed && node.now)
      for (fs::path parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
        if (!parents.insert(parent).second) break;
  std::vector<Replacement> in_the_way, written, removed;
  for (const auto& [path, node] : nodes_) {
    if (!node.changed) continue;
    if (node.now)
      written.push_back({path, node.now->content, node.now->mode});
    else if (node.exists)
      (parents.contains(path) ? in_the_way : removed).push_back({.path = path});
    else if (lacks_folder(path)) {
      written.push_back({path, ""});
      removed.push_back({.path = path});
    }
  }
  std::vector<Replacement> order = std::move(in_the_way);
  for (auto* group : {&written, &removed})
    order.insert(order.end(), std::make_move_iterator(group->begin()),
                 std::make_move_iterator(group->end()));
  return order;
}

void Changes::commit(Files& files) const {
  const auto order = in_order();
  if (!order.empty()) files.replace_all(order);
}

[[noreturn]] void refuse_outside(const std::string& written) {
  throw ToolError("Path outside the workspace: " + written +
                  ". Use a path relative to the workspace");
}

/// The path relative to the root. Links are not resolved here.
fs::path place_of(const std::string& written, const Place& place) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (written.empty()) throw ToolError("Invalid patch: a path is empty");
  if (std::any_of(written.begin(), written.end(), is_control))
    throw ToolError("Invalid patch: a path contains control characters");
  const fs::path path(written);
  if (place.folder.empty() && is_plain_path(written)) return path;
  fs::path inside = (place.folder / path).lexically_normal();
  if (path.is_absolute()) {
    inside = path.lexically_normal().lexically_relative(place.root);
    if (place.root.empty() || inside.empty()) refuse_outside(written);
  }
  if (*inside.begin() == "..") refuse_outside(written);
  if (!inside.has_filename()) inside = inside.parent_path();  // "a/" is "a"
  if (inside.empty() || inside == ".") throw ToolError("Not a file but a folder: " + written);
  return inside;
}

class Application {
 public:
  Application(Files& files, const Place& place) : files_(files), place_(place), changes_(files) {}

  /// Reads several files at once. A failure is ignored here: it comes up again with its hunk.
  void read_ahead(const std::vector<Hunk>& hunks) {
    constexpr std::size_t kMany = 64;
    if (hunks.size() < kMany) return;
    std::vector<fs::path> entries;
    for (const auto& hunk : hunks) {
      if (hunk.kind != Hunk::Kind::update) continue;
      try {
        entries.push_back(changes_.entry(place_of(hunk.path, place_)));
      } catch (const ToolError&) {
        break;
      }
    }
    changes_.read_ahead(std::move(entries));
  }

  void apply(const Hunk& hunk) {
    if (place_.stop.stop_requested()) throw_stopped();
    switch (hunk.kind) {
      case Hunk::Kind::add:
        return add(hunk);
      case Hunk::Kind::remove:
        return remove(hunk);
      case Hunk::Kind::update:
        return update(hunk);
    }
  }

  Applied finish() {
    changes_.commit(files_);
    Applied applied;
    applied.text = "Success. Updated the following files:\n";
    for (const char letter : {'A', 'M', 'D'})
      for (std::size_t i = 0; i < effects_.size(); ++i)
        if (effects_[i].letter == letter) applied.text += letter + (" " + written_[i]) + "\n";
    applied.effects = std::move(effects_);
    return applied;
  }

 private:
  void add(const Hunk& hunk) {
    const fs::path target = changes_.target(place_of(hunk.path, place_));
    const auto& before = read_to_replace(target, hunk.path);
    write({.letter = 'A', .path = target}, hunk.path, before,
          {hunk.content, before ? before->mode : 0644u});
  }

  void remove(const Hunk& hunk) {
    const auto fail = [&](const std::string& why) {
      throw ToolError("Failed to delete file " + hunk.path + ": " + why);
    };
    const fs::path path = place_of(hunk.path, place_);
    const fs::path entry = changes_.entry(path);
    const auto kind = changes_.kind(entry);
    if (!kind) fail("no such file" + hint(entry));
    if (*kind == FileStatus::Kind::folder) fail("it is a folder");
    const fs::path target = changes_.target(path);
    refuse_protected(entry, hunk.path);
    if (changes_.kind(target) == FileStatus::Kind::other) {
      note({.letter = 'D', .path = entry}, hunk.path, std::nullopt, std::nullopt);
      return changes_.remove(entry);
    }
    const auto& before = read_target(target, "Failed to delete file " + hunk.path + ": ");
    if (!before) fail("it is a dangling link");
    note({.letter = 'D', .path = entry, .mode = before->mode}, hunk.path, before, std::nullopt);
    changes_.remove(entry);
  }

  void update(const Hunk& hunk) {
    const fs::path source = place_of(hunk.path, place_);
    const std::string failure = "Failed to read file to update " + hunk.path + ": ";
    const fs::path target = changes_.target(source);
    const auto& before = read_target(target, failure);
    if (!before) throw ToolError(failure + "no such file" + hint(target));
    Changes::File after{update_content(before->content, hunk, place_.stop), before->mode};
    if (!hunk.move_to)
      return write({.letter = 'M', .path = target}, hunk.path, before, std::move(after));

    const fs::path moved = place_of(*hunk.move_to, place_);
    const fs::path destination = changes_.target(moved);
    const fs::path entry = changes_.entry(source);
    // A move onto itself, even through links, is an update.
    if (destination == entry || changes_.entry(moved) == entry)
      return write({.letter = 'M', .path = target}, *hunk.move_to, before, std::move(after));
    read_to_replace(destination, *hunk.move_to);
    refuse_protected(entry, hunk.path);
    write({.letter = 'M', .path = destination, .moved_from = entry}, *hunk.move_to, before,
          std::move(after));
    changes_.remove(entry);
  }

  const std::optional<Changes::File>& read_target(const fs::path& target,
                                                  const std::string& failure) {
    try {
      return changes_.read(target);
    } catch (const ToolError& error) {
      throw ToolError(failure + error.what());
    }
  }

  const std::optional<Changes::File>& read_to_replace(const fs::path& target,
                                                      const std::string& written) {
    return read_target(target, "Failed to write file " + written + ": ");
  }

  std::string hint(const fs::path& path) const { return place_.hint ? place_.hint(path) : ""; }

  void refuse_protected(const fs::path& path, const std::string& written) const {
    if (place_.refused && place_.refused(path))
      throw ToolError("Protected file, it must not be changed: " + written);
  }

  void write(FileEffect effect, const std::string& written,
             const std::optional<Changes::File>& before, Changes::File after) {
    refuse_protected(effect.path, written);
    effect.mode = after.mode;
    note(std::move(effect), written, before, after);
    changes_.write(effects_.back().path, std::move(after));
  }

  void note(FileEffect effect, const std::string& written,
            const std::optional<Changes::File>& before, const std::optional<Changes::File>& after) {
    if (place_.digests && before) effect.sha256_before = sha256_hex(before->content);
    if (place_.digests && after) effect.sha256_after = sha256_hex(after->content);
    effects_.push_back(std::move(effect));
    written_.push_back(written);
  }

  Files& files_;
  const Place& place_;
  Changes changes_;
  std::vector<FileEffect> effects_;
  std::vector<std::string> written_;  ///< the path of each effect, as in the patch
};

}  // namespace

std::vector<fs::path> touched_paths(const std::vector<Hunk>& hunks, const Files& files,
                                    const Place& place) {
  Changes changes(files);  // only resolves links, never committed
  std::vector<fs::path> paths;
  std::set<fs::path> known;
  const auto add = [&](const fs::path& path) {
    if (known.insert(path).second) paths.push_back(path);
  };
  const auto add_written = [&](const std::string& written) {
    const fs::path path = place_of(written, place);
    add(changes.entry(path));
    add(changes.target(path));
  };
  for (const auto& hunk : hunks) {
    if (hunk.kind == Hunk::Kind::remove)
      add(changes.entry(place_of(hunk.path, place)));
    else
      add_written(hunk.path);
    if (hunk.move_to) add_written(*hunk.move_to);
  }
  return paths;
}

Applied apply_patch(std::string_view text, Files& files, const Place& place) {
  const std::vector<Hunk> hunks = parse_patch(text);
  Application application(files, place);
  try {
    application.read_ahead(hunks);
    for (const auto& hunk : hunks) application.apply(hunk);
  } catch (const ToolError& error) {
    // Models know tools that write some files before one fails.
    throw ToolError(error.what() + std::string("\nNo file was changed."));
  }
  return application.finish();
}

}  // namespace sortie::patch

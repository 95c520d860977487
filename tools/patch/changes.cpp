#include "tools/patch/changes.h"

#include <algorithm>

#include "core/base/error.h"

namespace sortie::patch {
namespace fs = std::filesystem;

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
  Node& node = load(entry);
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

}  // namespace sortie::patch

#include "tools/patch/changes.h"

#include "core/base/error.h"

namespace sortie::patch {
namespace fs = std::filesystem;

fs::path Changes::entry(const fs::path& path) {
  const fs::path parent = path.parent_path();
  if (parent.empty()) return path;
  auto known = folders_.find(parent);
  if (known == folders_.end()) known = folders_.emplace(parent, files_.resolve(parent)).first;
  return known->second.empty() || known->second == "." ? path.filename()
                                                       : known->second / path.filename();
}

fs::path Changes::target(const fs::path& path) {
  const fs::path place = entry(path);
  if (changes_.contains(place)) return place;
  const auto status = files_.status(place);
  if (!status || status->kind != FileStatus::Kind::symlink) return place;
  return files_.resolve(place);
}

std::optional<Changes::File> Changes::read(const fs::path& target) const {
  if (const auto change = changes_.find(target); change != changes_.end())
    return change->second.after;
  const auto status = files_.status(target);
  if (!status) return std::nullopt;
  if (status->kind == FileStatus::Kind::folder) throw ToolError("it is a folder");
  if (status->kind != FileStatus::Kind::file) throw ToolError("it is not a regular file");
  auto content = files_.read(target);
  if (!content) return std::nullopt;
  return File{std::move(*content), status->mode};
}

std::optional<FileStatus::Kind> Changes::kind(const fs::path& entry) const {
  if (const auto change = changes_.find(entry); change != changes_.end()) {
    if (!change->second.after) return std::nullopt;
    return FileStatus::Kind::file;
  }
  const auto status = files_.status(entry);
  if (!status) return std::nullopt;
  return status->kind;
}

void Changes::note_before(const fs::path& path) {
  if (changes_.contains(path)) return;
  const auto status = files_.status(path);
  Change change;
  if (status && status->kind == FileStatus::Kind::symlink)
    change.is_link = true;
  else if (status)
    change.before = read(path);
  changes_.emplace(path, std::move(change));
}

void Changes::write(const fs::path& target, File file) {
  note_before(target);
  changes_[target].after = std::move(file);
}

void Changes::remove(const fs::path& entry) {
  note_before(entry);
  changes_[entry].after.reset();
}

/// A file in the way of a folder goes first, then all is written, then the rest goes; links last,
/// since they can't be made again.
std::vector<fs::path> Changes::order() const {
  PathSet parents;
  for (const auto& [path, change] : changes_)
    if (change.after)
      for (fs::path parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
        if (!parents.insert(parent).second) break;
  std::vector<fs::path> in_the_way, written, removed, links;
  for (const auto& [path, change] : changes_) {
    if (!change.is_link && change.before == change.after) continue;
    if (change.after)
      written.push_back(path);
    else if (parents.contains(path))
      in_the_way.push_back(path);
    else
      (change.is_link ? links : removed).push_back(path);
  }
  std::vector<fs::path> order = std::move(in_the_way);
  for (const auto* group : {&written, &removed, &links})
    order.insert(order.end(), group->begin(), group->end());
  return order;
}

void Changes::note_missing_folders(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (present_folders_.contains(folder)) break;
    const auto status = files_.status(folder);
    present_folders_.insert(folder);
    if (status && status->kind == FileStatus::Kind::folder) break;
    missing.push_back(folder);
  }
  made_folders_.insert(made_folders_.end(), missing.rbegin(), missing.rend());
}

void Changes::perform(Files& files, const fs::path& path, const Change& change) {
  if (change.after) {
    if (!change.before) note_missing_folders(path);
    files.write(path, change.after->content, change.after->mode);
  } else {
    files.remove(path);
  }
}

std::string Changes::take_back(Files& files, const std::vector<fs::path>& done) {
  std::string lost;
  const auto attempt = [&](const fs::path& path, const auto& act) {
    try {
      act();
    } catch (const std::exception& error) {
      lost += " " + path.string() + " could not be restored: " + error.what() + ".";
    }
  };
  for (auto path = done.rbegin(); path != done.rend(); ++path) {
    const Change& change = changes_.at(*path);
    attempt(*path, [&] {
      if (change.is_link) throw ToolError("it was a link");
      if (change.before)
        files.write(*path, change.before->content, change.before->mode);
      else
        files.remove(*path);
    });
  }
  for (auto folder = made_folders_.rbegin(); folder != made_folders_.rend(); ++folder)
    attempt(*folder, [&] { files.remove_empty_folder(*folder); });
  return lost;
}

void Changes::commit(Files& files) {
  std::vector<fs::path> done;
  for (const auto& path : order()) {
    const Change& change = changes_.at(path);
    try {
      perform(files, path, change);
    } catch (const std::exception& error) {
      const std::string what = change.after ? "Failed to write file " : "Failed to delete file ";
      const std::string cause = error.what();
      throw ToolError(what + path.string() + ": " + cause + ". No file was changed." +
                      take_back(files, done));
    }
    done.push_back(path);
  }
}

}  // namespace sortie::patch

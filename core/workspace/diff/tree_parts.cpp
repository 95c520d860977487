#include "core/workspace/diff/tree_parts.h"

#include <map>
#include <utility>

#include "core/files/files_below.h"

namespace sortie {
namespace {

/// Shows the changes of a larger tree that are about it.
class PartOfTree : public Workspace {
 public:
  PartOfTree(const Workspace& whole, const StartRecord& record, std::unique_ptr<Files> start,
             std::vector<ChangedPath> changes)
      : Workspace(whole, record), start_(std::move(start)), changes_(std::move(changes)) {}
  const Files& start() const override { return *start_; }

 private:
  std::vector<ChangedPath> find_changes(const Files&, const CancelCheck&) const override {
    return changes_;
  }

  std::unique_ptr<Files> start_;
  std::vector<ChangedPath> changes_;
};

/// The innermost of the submodules that the path is in, or "".
std::string submodule_of(const std::string& path, const std::vector<SubmoduleStart>& modules) {
  std::string found;
  for (const SubmoduleStart& one : modules)
    if (path.size() > one.path.size() + 1 && path.starts_with(one.path + "/") &&
        one.path.size() > found.size())
      found = one.path;
  return found;
}

}  // namespace

std::vector<TreePart> parts_of(const Workspace& workspace, const Files& view,
                               const std::filesystem::path& root, const CancelCheck& check_cancel) {
  const auto& modules = workspace.submodules();
  if (modules.empty()) return {};
  std::map<std::string, std::vector<ChangedPath>> changes;
  for (ChangedPath& changed : workspace.changed_paths(view, check_cancel)) {
    const std::string module = submodule_of(changed.path, modules);
    if (!module.empty()) changed.path.erase(0, module.size() + 1);
    changes[module].push_back(std::move(changed));
  }
  std::vector<TreePart> parts;
  const auto add = [&](const std::string& path, const StartRecord& record) {
    parts.push_back({path,
                     std::make_unique<PartOfTree>(
                         workspace, record, std::make_unique<FilesBelow>(workspace.start(), path),
                         std::move(changes[path])),
                     std::make_unique<FilesBelow>(view, path), path.empty() ? root : root / path});
  };
  add("", workspace.record());
  for (const SubmoduleStart& one : modules)
    if (changes.contains(one.path)) add(one.path, one.record);
  return parts;
}

DiffOptions options_within(const TreePart& part, const DiffOptions& options) {
  if (part.submodule.empty()) return options;
  DiffOptions own = options;
  own.within = part.within();
  own.patched.clear();
  for (const std::string& path : options.patched)
    if (path.starts_with(own.within)) own.patched.insert(path.substr(own.within.size()));
  return own;
}

}  // namespace sortie

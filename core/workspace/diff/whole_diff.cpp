#include "core/workspace/diff/whole_diff.h"

#include <algorithm>
#include <utility>

namespace sortie {
namespace {

void take_paths(std::vector<std::string>& to, std::vector<std::string>& from,
                const std::string& within) {
  for (std::string& path : from) to.push_back(within + path);
  from.clear();
  std::sort(to.begin(), to.end());
}

template <class Listed>
void take_listed(std::vector<Listed>& to, std::vector<Listed>& from, const std::string& within) {
  for (Listed& one : from) {
    one.path = within + one.path;
    to.push_back(std::move(one));
  }
  from.clear();
  std::stable_sort(to.begin(), to.end(),
                   [](const Listed& a, const Listed& b) { return a.path < b.path; });
}

}  // namespace

std::string within(const Diff& diff) { return diff.submodule.empty() ? "" : diff.submodule + "/"; }

void add_submodule(Diff& whole, Diff part) {
  const std::string above = within(part);
  for (const auto list :
       {&Diff::ignored_changes, &Diff::patched_but_ignored, &Diff::conflicts, &Diff::already,
        &Diff::line_ends, &Diff::lfs, &Diff::outward_links, &Diff::bound_to_place})
    take_paths(whole.*list, part.*list, above);
  take_listed(whole.too_large, part.too_large, above);
  take_listed(whole.left_out, part.left_out, above);
  for (auto& [path, entry] : part.effect.makes)
    whole.effect.makes.emplace(above + path, std::move(entry));
  for (const std::string& path : part.effect.removes) whole.effect.removes.insert(above + path);
  part.effect = {};
  if (whole.index_problem.empty() && !part.index_problem.empty())
    whole.index_problem = "of the submodule " + part.submodule + ": " + part.index_problem;
  whole.bytes += part.bytes;
  if (!part.text.empty()) whole.submodules.push_back(std::move(part));
}

std::vector<DiffFile> all_files(const Diff& diff) {
  std::vector<DiffFile> files = diff.files;
  for (const Diff& one : diff.submodules) {
    for (DiffFile file : one.files) {
      file.path = within(one) + file.path;
      if (!file.old_path.empty()) file.old_path = within(one) + file.old_path;
      files.push_back(std::move(file));
    }
  }
  return files;
}

bool is_empty(const Diff& diff) { return diff.text.empty() && diff.submodules.empty(); }

}  // namespace sortie

#include "app/in_place.h"

#include <stdlib.h>

#include <algorithm>
#include <system_error>

#include "core/base/error.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/support.h"

namespace sortie {

namespace fs = std::filesystem;

InPlace::InPlace(const Policy& policy, const fs::path& workspace, const Environment& own)
    : policy_(policy), workspace_(workspace) {
  const bool namespaces = namespaces_available(nullptr);
  if (!namespaces) {
    std::string pattern = (fs::temp_directory_path() / "sortie-state-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw system_error("make a private folder " + pattern, ExitCode::environment);
    private_folder_ = pattern;
  }
  names_before_ = protected_names();
  MountPlan plan;
  plan.kind = namespaces ? MountPlan::Kind::bind : MountPlan::Kind::direct;
  plan.in_place = true;
  plan.workspace = workspace;
  plan.source = workspace;
  confinement_ = std::make_unique<Confinement>(
      ConfinementInputs{
          policy, policy.approval, workspace, {}, {}, plan, namespaces, private_folder_},
      own);
}

InPlace::~InPlace() {
  confinement_.reset();
  if (!private_folder_.empty()) remove_tree(private_folder_);
}

std::vector<std::string> InPlace::protected_names() const {
  std::vector<std::string> names;
  for (const auto& glob : policy_.protect) {
    std::error_code error;
    if (glob.find_first_of("*?[") == std::string::npos &&
        fs::exists(fs::symlink_status(workspace_ / glob, error)))
      names.push_back(glob);
  }
  return names;
}

std::vector<std::string> InPlace::new_protected_names() const {
  std::vector<std::string> fresh;
  for (const auto& name : protected_names())
    if (std::find(names_before_.begin(), names_before_.end(), name) == names_before_.end())
      fresh.push_back(name);
  return fresh;
}

}  // namespace sortie

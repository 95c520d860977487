#include "app/confinement/in_place.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/config/git_place.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/keeper/support.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// "the protected path a was", "the protected paths a, b were"
template <class List>
std::string protected_ones(const List& names) {
  const bool one = names.size() == 1;
  return "the protected path" + std::string(one ? " " : "s ") + some_of(names) +
         (one ? " was" : " were");
}

/// Files of a folder that have another name outside of it (hard links): writing to them changes the
/// other file too.
struct LinkedFiles {
  std::vector<std::filesystem::path> paths;  ///< absolute, in their order
  bool complete = true;  ///< false: the folder has more entries than are checked
};

constexpr int kMostEntries = 20'000;

/// A file with several names: their number, and the ones that were found.
struct Names {
  nlink_t count = 0;
  std::vector<fs::path> found;
};

/// Checks the first 20,000 entries, without `.git`. A file whose names were all found does not
/// count.
/// @param folder  absolute
LinkedFiles find_linked_files(const fs::path& folder) {
  LinkedFiles linked;
  std::map<std::pair<dev_t, ino_t>, Names> files;
  int seen_entries = 0;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    if (++seen_entries > kMostEntries) {
      linked.complete = false;
      break;
    }
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode) && it->path().filename() == ".git") it.disable_recursion_pending();
    if (!S_ISREG(status.st_mode) || status.st_nlink < 2) continue;
    Names& names = files[{status.st_dev, status.st_ino}];
    names.count = status.st_nlink;
    names.found.push_back(it->path());
  }
  for (auto& [file, names] : files)
    if (names.found.size() < names.count)
      linked.paths.insert(linked.paths.end(), names.found.begin(), names.found.end());
  std::sort(linked.paths.begin(), linked.paths.end());
  return linked;
}

/// More files would need too many mounts for one command.
constexpr std::size_t kMostLinked = 256;

}  // namespace

InPlace::InPlace(const Policy& policy, const fs::path& workspace, const Environment& own)
    : workspace_(workspace), aside_(workspace) {
  let_git_read(folders_to_read(policy, workspace, own));
  const GitPlacesOnce once;
  const bool namespaces =
      policy.sandbox != SandboxMode::none && namespaces_available(&no_namespaces_);
  if (!namespaces) {
    private_folder_ = make_temporary_folder("sortie-state");
  }
  MountPlan plan;
  plan.kind = namespaces ? MountPlan::Kind::bind : MountPlan::Kind::direct;
  plan.in_place = true;
  plan.workspace = workspace;
  plan.source = workspace;
  confinement_ = std::make_unique<Confinement>(ConfinementInputs{policy,
                                                                 policy.approval,
                                                                 workspace,
                                                                 {},
                                                                 linked_files_to_protect(policy),
                                                                 plan,
                                                                 namespaces,
                                                                 no_namespaces_,
                                                                 private_folder_},
                                               own);
  keep_protected();
  keep_made();
  note_reach();
  leads_at_start_ = leads_of_links();
  if (!leads_at_start_.beyond.empty()) notes_.push_back("WARNING: " + beyond_text(leads_at_start_));
}

InPlace::~InPlace() {
  confinement_.reset();
  if (!private_folder_.empty()) remove_tree(private_folder_);
}

/// The files with a name outside of the folder, which are protected if the command may write.
std::vector<fs::path> InPlace::linked_files_to_protect(const Policy& policy) {
  if (policy.sandbox != SandboxMode::workspace_write) return {};
  LinkedFiles linked = find_linked_files(workspace_);
  if (!linked.complete)
    notes_.push_back(
        "WARNING: the folder has more than 20,000 entries: files that have another name outside of "
        "it (hard links) are not looked for beyond them, and the command can write through such a "
        "file to what lies outside");
  if (linked.paths.empty()) return {};
  const std::string first = linked.paths.front().lexically_relative(workspace_).string();
  const std::string which =
      std::to_string(linked.paths.size()) +
      (linked.paths.size() == 1 ? " file has" : " files have") +
      " another name outside of this folder (hard links; the first: " + one_line(first, 200) + ")";
  if (linked.paths.size() > kMostLinked) {
    notes_.push_back(
        "WARNING: " + which +
        ", more than can be made read-only: the command can write through them to what "
        "lies outside; run it in a copy of the folder, or with --mode read-only");
    return {};
  }
  notes_.push_back(which +
                   (no_namespaces_.empty()
                        ? ": read-only for the command"
                        : ": a change is found after the command, and the other name has it"));
  return linked.paths;
}

void InPlace::keep_protected() {
  if (confinement_->keeper().layers().namespaces) return;
  protected_paths_ =
      std::make_unique<ProtectedPaths>(workspace_, workspace_, confinement_->profile().protect);
  if (private_folder_.empty()) return;
  const fs::path folder = private_folder_ / "protected";
  fs::create_directory(folder);
  protected_paths_->keep_in(folder);
}

void InPlace::keep_made() {
  if (MadePaths* made = confinement_->made_paths())
    made->keep_by([this](const fs::path& path) {
      aside_.move(path);
      return MadePaths::Kept::moved;
    });
}

/// Notes how far the globs of paths.protect are searched.
void InPlace::note_reach() {
  TreeNames::Reach reach = TreeNames::Reach::everywhere;
  if (protected_paths_)
    reach = protected_paths_->reach();
  else if (MadePaths* made = confinement_->made_paths())
    reach = made->reach();
  if (reach == TreeNames::Reach::everywhere) return;
  notes_.push_back(
      std::string("WARNING: the folder has more than 300,000 files and folders: what globs of "
                  "paths.protect match is looked for ") +
      (reach == TreeNames::Reach::nowhere ? "nowhere" : "on its upper three levels alone") +
      " once the command has run; name what matters by plain paths");
}

LinkLeads InPlace::leads_of_links() {
  std::set<fs::path> links;
  if (protected_paths_)
    links = protected_paths_->links();
  else if (MadePaths* made = confinement_->made_paths())
    links = made->links();
  else
    return {};  // nothing can be changed
  return ProtectedLinks({workspace_}, confinement_->profile().protect)
      .look(confinement_->view(), links);
}

std::string InPlace::restore_changed() {
  ProtectedPaths::Restored restored;
  if (protected_paths_)
    restored = protected_paths_->restore_and_keep(aside_);
  else if (MadePaths* made = confinement_->made_paths())
    restored.put_back = made->take();
  // After restoring: a new link under a protected name has been removed by then.
  const auto led = names_led_elsewhere(leads_at_start_, leads_of_links());
  std::string text;
  if (!restored.put_back.empty())
    text += protected_ones(restored.put_back) + " changed while the command ran, and put back";
  if (!restored.left.empty())
    text += (text.empty() ? "" : ". ") + protected_ones(restored.left) +
            " changed while the command ran, by it or by somebody else, and left as found";
  if (!led.empty())
    text += (text.empty() ? "" : ". ") + protected_ones(led) +
            " led through a link to other content than before the command, and left as found";
  if (!text.empty() && !aside_.name().empty())
    text +=
        ". Nothing was erased: what was found (.found) and what stood there at the start "
        "(.start) is in " +
        aside_.name() + "/";
  return text;
}

}  // namespace sortie

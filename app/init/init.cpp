#include "app/init/init.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "app/init/init_files.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/git/config/git_place.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostIgnoreFile = 1 << 20;
/// Behind the cause of a failure, in place of what a patch is told.
constexpr std::string_view kNothingChanged = " No file was changed.";

/// Whether something is at the path, a link that leads nowhere included.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool has_content(const fs::path& path, const std::string& content) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return false;
  const TextFile found = read_bytes_file(path, kMostIgnoreFile);
  return found.problem.empty() && found.text == content;
}

void choose_toolchain(const fs::path& folder, const InitOptions& options, InitPlan& plan) {
  std::vector<Toolchain> found = find_toolchains(folder);
  if (!options.toolchain.empty()) {
    plan.toolchain = toolchain_of(options.toolchain, folder);
  } else if (!found.empty()) {
    plan.toolchain = found.front();
  } else {
    plan.toolchain = toolchain_of("plain", folder);
    plan.below = find_projects_below(folder);
  }
  for (Toolchain& one : found)
    if (one.name != plan.toolchain.name) plan.others.push_back(std::move(one));
}

void choose_ci(const GitPlace& place, const InitOptions& options, InitPlan& plan) {
  const std::string obstacle = ci_obstacle(plan.project);
  if (!options.ci.empty() && options.ci != "none" && !obstacle.empty())
    throw InputError("--ci " + options.ci + ": no workflow can be made here: " + obstacle);
  if (!options.ci.empty())
    plan.ci = {value_named<CiSystem>(options.ci).value_or(CiSystem::none), "--ci"};
  else if (!obstacle.empty())
    plan.ci = {CiSystem::none, obstacle};
  else if (!place.git_dir.empty())
    plan.ci = find_ci(plan.top, place.common_dir);
  else
    plan.ci = {CiSystem::none,
               place.refused.empty()
                   ? "the folder is in no git repository; --ci makes one all the same"
                   : "the repository is not used: " + place.refused};
}

InitFile ignore_file(const InitPlan& plan) {
  const fs::path path = plan.project / ".gitignore";
  const fs::path place = plan.top / path;
  std::error_code error;
  if (is_there(place) && !fs::is_regular_file(fs::symlink_status(place, error)))
    throw InputError(path.string() + " is no regular file");
  const TextFile found = read_bytes_file(place, kMostIgnoreFile);
  if (!found.problem.empty() && is_there(place))
    throw InputError(path.string() + ": " + found.problem);
  return {path, with_ignored_output(found.text), "leaves sortie-out out of commits", false, true};
}

/// The files for which there is no room: something else is there.
void check_existing(const InitPlan& plan, const InitOptions& options) {
  std::vector<std::string> existing;
  for (const InitFile& file : plan.files) {
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(plan.top / file.path, error)))
      throw InputError(file.path.string() + " is a folder; nothing was written");
    if (!file.extends && is_there(plan.top / file.path)) existing.push_back(file.path.string());
  }
  if (existing.empty() || options.force) return;
  throw InputError(joined(existing, ", ") + (existing.size() == 1 ? " exists" : " exist") +
                   " already, and nothing was written; --force replaces " +
                   (existing.size() == 1 ? "it" : "them"));
}

/// A folder that can't be written to is found before anything is tried: its cause is then known.
void check_writable(const fs::path& top, const fs::path& file) {
  fs::path folder = (top / file).parent_path();
  while (!is_there(folder) && folder != top) folder = folder.parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw InputError(folder.string() + " is no folder; nothing was written");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    const int number = errno;
    throw path_error("can't write to the folder " + folder.string(), number);
  }
}

}  // namespace

InitPlan plan_init(const fs::path& folder, const InitOptions& options) {
  if (folder == "/") throw InputError("/: the whole machine can't be a workspace");
  const GitPlace place = find_git_place(folder);
  InitPlan plan{.top = place.git_dir.empty() ? folder : place.toplevel};
  if (folder != plan.top) plan.project = folder.lexically_relative(plan.top);
  if (!plan.project.empty() && *plan.project.begin() == ".git")
    throw InputError("the folder is inside of .git");
  choose_toolchain(folder, options, plan);
  choose_ci(place, options, plan);
  std::vector<InitFile> all = {
      {plan.project / ".sortie/task.yaml", first_task(plan.toolchain, options.model),
       "a first task"},
      {plan.project / ".sortie/policy.yaml",
       first_policy(plan.toolchain, options.model, ci_folder(plan.ci.system)),
       "what the agent may do"}};
  for (InitFile& file : ci_files(plan.ci.system, plan.top, plan.project, options.model))
    all.push_back(std::move(file));
  if (!place.git_dir.empty()) all.push_back(ignore_file(plan));
  for (InitFile& file : all)
    (has_content(plan.top / file.path, file.content) ? plan.unchanged : plan.files)
        .push_back(std::move(file));
  check_existing(plan, options);
  return plan;
}

void write_init(const InitPlan& plan) {
  for (const InitFile& file : plan.files) check_writable(plan.top, file.path);
  Fd top(::open(plan.top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) throw path_error(plan.top.string(), errno);
  DiskFiles files(std::move(top), plan.top);
  const unsigned mode = new_file_mode();
  std::vector<Replacement> replacements;
  for (const InitFile& file : plan.files) {
    const auto found = file.extends ? files.status(file.path) : std::nullopt;
    const unsigned usual = file.program ? mode | ((mode >> 2) & 0111u) : mode;
    replacements.push_back({file.path, file.content, found ? found->mode : usual});
  }
  try {
    files.replace_all(replacements);
  } catch (const ToolError& error) {
    std::string what = error.what();
    if (what.ends_with(kNothingChanged)) what.resize(what.size() - kNothingChanged.size());
    throw Error(what + " Nothing was written.",
                error.cause() == Cause::no_room ? ExitCode::environment : ExitCode::usage,
                error.cause());
  }
}

}  // namespace sortie

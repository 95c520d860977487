#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/artifacts/leaks.h"
#include "app/confinement/protected_links.h"
#include "app/run/run_steps.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "policies/engine/engine.h"

namespace sortie {
namespace {

bool has_a_time_of(const std::filesystem::path& file, const std::set<std::int64_t>& times) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) == 0 &&
         times.count(status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec) != 0;
}

}  // namespace

/// What was moved under a protected name is gone from its own place too, and was taken away there:
/// that the diff deletes it is nothing that the agent meant.
void Run::check_taken() const {
  std::set<std::string> digests;
  for (const auto& [name, digest] : taken_.digests) digests.insert(digest);
  if (digests.empty() && taken_.not_kept.empty()) return;
  const std::string nothing = "sha256:" + sha256_hex("");
  const auto prefix = git_.toplevel.empty() ? std::filesystem::path(".")
                                            : inputs_.workspace.lexically_relative(git_.toplevel);
  for (const auto& file : diff_->files) {
    if (file.kind != ChangedPath::Kind::deleted) continue;
    const auto path = std::filesystem::path(file.path).lexically_relative(prefix);
    const auto status = workspace_->start().status(path);
    const bool link = status && status->kind == FileStatus::Kind::symlink;
    const auto content =
        link ? workspace_->start().read_link(path) : workspace_->start().read(path).value_or("");
    const std::string digest = "sha256:" + sha256_hex(content);
    // One empty file is as the other: a moved one is told by its time.
    const bool moved = digest == nothing ? has_a_time_of(inputs_.workspace / path, taken_empty_)
                                         : !taken_.not_kept.empty() || digests.count(digest) != 0;
    if (!moved) continue;
    throw RunEnds{ExitCode::integrity,
                  "the diff deletes " + path_text(file.path) +
                      ", which a command moved under a protected name, where it was taken away; " +
                      "what was found there is in " + kKeptFolder + "/"};
  }
}

/// Of paths.protect, those that lead through links elsewhere than at the start.
std::vector<std::string> Run::find_led_elsewhere() {
  const ProtectedLinks links({inputs_.workspace, confinement_->workspace()},
                             confinement_->profile().protect);
  const auto& before = confinement_->links_at_start();
  if (!leads_at_start_) {
    leads_at_start_ = links.look(workspace_->start(), before);
    if (!leads_at_start_->beyond.empty()) result_.warnings.push_back(beyond_text(*leads_at_start_));
  }
  std::set<std::filesystem::path> now = before;
  if (MadePaths* made = confinement_->made_paths()) now.merge(made->links());
  if (protected_paths_)
    now.insert(protected_paths_->links().begin(), protected_paths_->links().end());
  return names_led_elsewhere(*leads_at_start_, links.look(confinement_->view(), now));
}

/// A protected name is what it leads to: behind a link that may be another path's content.
void Run::check_links() {
  const auto changed = find_led_elsewhere();
  if (!changed.empty())
    throw RunEnds{ExitCode::integrity, "the protected path " + path_text(changed.front()) +
                                           " leads through a link to other content than at the "
                                           "start"};
}

/// What must hold of a diff before it may be called a success.
void Run::check_diff() {
  for (const auto& file : diff_->files) {
    for (const auto& path : {file.path, file.old_path}) {
      if (!path.empty() && confinement_->engine().is_protected(path))
        throw RunEnds{ExitCode::integrity, "the protected path " + path + " was changed"};
    }
  }
  check_taken();
  check_links();
  check_leaks();
}

/// What must not leave with the diff or the message; by the policy it ends the run or is only told.
void Run::check_leaks() {
  // A diff's paths begin at the repository's toplevel.
  const auto prefix = git_.toplevel.empty() ? std::filesystem::path(".")
                                            : inputs_.workspace.lexically_relative(git_.toplevel);
  const auto content = [&](const std::string& path) -> std::optional<std::string> {
    return confinement_->view().read(std::filesystem::path(path).lexically_relative(prefix));
  };
  const auto leaks = find_leaks(redactor_, diff_->text, content);
  leaks_in_binary_ =
      std::any_of(leaks.begin(), leaks.end(), [](const Leak& leak) { return leak.in_binary; });
  std::vector<std::string> found;
  for (const auto kind : {Leak::Kind::value, Leak::Kind::marker})
    if (const std::string leak = describe_leaks(leaks, kind); !leak.empty())
      found.push_back("the diff holds " + leak);
  if (agent_)
    if (const auto name = redactor_.find(agent_->loop().last_message()); !name.empty())
      found.push_back("the final message holds the value of " + name);
  if (const auto shape = describe_leaks(leaks, Leak::Kind::shape); !shape.empty())
    result_.warnings.push_back("the diff adds " + shape);
  if (found.empty()) return;
  if (inputs_.policy.on_leak == OnLeak::fail) {
    std::string reason = found.front();
    for (std::size_t i = 1; i < found.size(); ++i) reason += "; " + found[i];
    throw RunEnds{ExitCode::leak, reason};
  }
  for (const std::string& leak : found) {
    result_.warnings.push_back("LEAK: " + leak);
    progress_->say("WARNING: LEAK: " + leak);
  }
}

}  // namespace sortie

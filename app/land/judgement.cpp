#include "app/land/judgement.h"

#include <strings.h>

#include <algorithm>
#include <set>

#include "app/artifacts/leaks.h"
#include "ci/expectations.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/apply/tree_path.h"
#include "policies/rules/path_rules.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kLinkMode = 0120000;
constexpr unsigned kProgramMode = 0100755;

/// Whether a target climbs after it went down: what it goes through may be a link itself, so where it
/// ends can't be told from its words.
bool climbs_behind_a_name(const fs::path& target) {
  bool named = false;
  for (const fs::path& part : target) {
    if (part == ".." && named) return true;
    named = named || (part != ".." && part != "." && !part.empty());
  }
  return false;
}

/// Why a link must not be made, or "".
std::string link_problem(const std::string& path, const std::string& target) {
  if (target.empty() || target.find('\0') != target.npos) return "has no valid target";
  if (target.front() == '/') return "leads out of the tree";
  if (climbs_behind_a_name(target)) return "goes down and up again, so that it may lead anywhere";
  const fs::path end = (fs::path(path).parent_path() / target).lexically_normal();
  if (!end.empty() && *end.begin() == "..") return "leads out of the tree";
  std::string inside = end.generic_string();
  while (!inside.empty() && inside.back() == '/') inside.pop_back();
  if (inside == "." || inside.empty()) return "";
  // Names in the target itself count as well: "x/../.git" is ".git" only if x is no link.
  for (const fs::path& part : fs::path(target))
    if (part != ".." && part != "." && !part.empty() && !path_problem(part.string()).empty())
      return "leads into the repository itself";
  return path_problem(inside).empty() ? "" : "leads into the repository itself";
}

void judge_files(const LandedChange& change, const Policy& policy) {
  for (const auto& [path, entry] : change.after) {
    const auto was = change.before.find(path);
    if (was != change.before.end() && was->second == entry) continue;
    if (entry.mode == kLinkMode) {
      if (const std::string problem = link_problem(path, entry.content); !problem.empty())
        throw Error(
            "the link " + path_text(path) + " -> " + path_text(entry.content) + " " + problem,
            ExitCode::denied);
    } else if (entry.content.size() > policy.limits.diff_file_size) {
      throw Error(path_text(path) + " has " + std::to_string(entry.content.size()) +
                      " bytes, and the policy's limits.diff_file_size is " +
                      std::to_string(policy.limits.diff_file_size),
                  ExitCode::task_failed);
    }
  }
}

void judge_leaks(const LandedChange& change, const LandedRun& run, const Policy& policy,
                 const Redactor& redactor, std::vector<std::string>& attention) {
  const auto leaks = find_leaks(redactor, change.patch.text,
                                [&](const std::string& path) -> std::optional<std::string> {
                                  const auto found = change.after.find(path);
                                  if (found == change.after.end()) return std::nullopt;
                                  return found->second.content;
                                });
  std::vector<std::string> found;
  for (const auto kind : {Leak::Kind::value, Leak::Kind::marker})
    if (const std::string leak = describe_leaks(leaks, kind); !leak.empty())
      found.push_back("the diff holds " + leak);
  if (const auto name = redactor.find(run.message); !name.empty())
    found.push_back("the final message holds the value of " + name);
  if (const auto name = redactor.find(write_json(run.findings)); !name.empty())
    found.push_back("a finding holds the value of " + name);
  if (!found.empty() && policy.on_leak == OnLeak::fail) throw Error(found.front(), ExitCode::leak);
  for (const std::string& leak : found) attention.push_back("LEAK: " + leak);
  if (const auto shape = describe_leaks(leaks, Leak::Kind::shape); !shape.empty())
    attention.push_back("the diff adds " + shape);
}

/// What a reviewer should not overlook.
std::vector<std::string> worth_a_look(const LandedChange& change) {
  std::vector<std::string> lines;
  for (const auto& [path, entry] : change.after) {
    const auto was = change.before.find(path);
    const unsigned mode = was == change.before.end() ? 0 : was->second.mode;
    if (entry.mode == kProgramMode && mode != kProgramMode)
      lines.push_back(path_text(path) + " becomes executable");
    if (entry.mode == kLinkMode)
      lines.push_back(path_text(path) + " is a link to " + path_text(entry.content));
    const std::string name = fs::path(path).filename().string();
    if (::strcasecmp(name.c_str(), ".gitattributes") == 0)
      lines.push_back(path_text(path) + " changes how git treats files");
  }
  return lines;
}

}  // namespace

void judge_paths(const std::vector<FilePatch>& patches, const Policy& policy,
                 const LandPlace& place) {
  const PathRules rules(policy, {.workspace = place.workspace,
                                 .out = place.run,
                                 .protected_files = policy.files,
                                 .home = own_variable("HOME"),
                                 .tracked = place.tracked});
  std::vector<std::string> protects;
  std::vector<std::string> refused;
  std::string why;
  std::set<std::string> paths;
  for (const FilePatch& patch : patches) {
    paths.insert(patch.header.old_path);
    paths.insert(patch.header.new_path);
  }
  for (const std::string& path : paths) {
    const fs::path whole = place.toplevel / path;
    if (rules.is_protected(whole)) {
      protects.push_back(path);
    } else if (const Decision decision = rules.decide_write(whole);
               decision.effect != Effect::allow) {
      refused.push_back(path);
      why = decision.reason;
    }
  }
  const std::string name = policy.name.empty() ? "the policy" : "the policy " + policy.name;
  if (!protects.empty())
    throw Error("the diff changes what " + name + " protects: " + some_of(protects),
                ExitCode::integrity);
  if (!refused.empty())
    throw Error(
        name + " does not let these paths be written: " + some_of(refused) + " (" + why + ")",
        ExitCode::denied);
}

LandedChange change_of(const std::vector<PathChange>& changes) {
  LandedChange change;
  for (const PathChange& one : changes) {
    if (one.before)
      change.before.emplace(
          one.path, TreeEntry{one.before->mode, one.stored_before.value_or(one.before->content)});
    if (one.after)
      change.after.emplace(
          one.path, TreeEntry{one.after->mode, one.stored_after.value_or(one.after->content)});
  }
  change.patch = make_patch(change.before, change.after, 3, true);
  return change;
}

std::vector<std::string> judge_change(const LandedChange& change, const LandedRun& run,
                                      const Policy& policy, const Redactor& redactor) {
  judge_files(change, policy);
  Diff diff;
  diff.files = change.patch.files;
  if (const std::string problem = judge_diff(run.expected, diff); !problem.empty())
    throw Error(problem, ExitCode::task_failed);
  std::vector<std::string> attention = worth_a_look(change);
  judge_leaks(change, run, policy, redactor, attention);
  return attention;
}

}  // namespace sortie

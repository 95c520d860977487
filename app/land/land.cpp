#include "app/land/land.h"

#include <git2.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "app/land/commit_target.h"
#include "app/land/judgement.h"
#include "app/land/landed_parts.h"
#include "app/land/landed_run.h"
#include "app/land/mailbox.h"
#include "app/land/pull_request.h"
#include "app/land/review_comments.h"
#include "app/land/tree_target.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/text.h"
#include "core/workspace/apply/recover_tree.h"
#include "policies/environment/environment.h"
#include "policies/environment/known_secrets.h"
#include "policies/file/policy_loader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMessageFile = "commit-message.txt";
constexpr const char* kMailFile = "change.mbox";
constexpr const char* kRequestFile = "pr.json";
constexpr const char* kReviewFile = "review.json";

/// A diff or a JSON text may be small and unpack to more than the machine has.
void limit_memory() {
#ifndef __SANITIZE_ADDRESS__
  constexpr rlim_t kMost = 3ull << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur <= kMost) return;
  limit.rlim_cur = kMost;
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

fs::path folder_of(const std::string& name, const char* what) {
  std::error_code error;
  fs::path folder = fs::canonical(name, error);
  if (error || !fs::is_directory(folder, error))
    throw Error(std::string(what) + " " + one_line(name, 300) + ": not a folder", ExitCode::usage);
  return folder;
}

/// One landing.
class Landing {
 public:
  Landing(const LandOptions& options, bool quiet)
      : options_(options),
        quiet_(quiet),
        folder_(folder_of(options.folder, "-C")),
        run_folder_(folder_of(options.run, "RUN_DIR")),
        out_(options.out.empty() ? run_folder_ : make_out(options.out)),
        policy_(load_policy(options.policy)),
        repository_(find_repository(folder_)) {
    if (!repository_.handle)
      throw Error(folder_.string() + ": no git repository that can be used" +
                      (repository_.place.refused.empty()
                           ? " (one without a work tree is none: name a clone of it with -C)"
                           : ": " + repository_.place.refused),
                  ExitCode::environment);
    learn(redactor_, policy_, known_secrets(policy_, own_environment()).values);
  }

  ExitCode land() {
    for (const std::string& text : recover_trees(folder_, repository_.toplevel)) say(text);
    const LandedRun run = read_landed_run(run_folder_);
    remove_stale_files();  // whoever made the folder may have put them there
    if (!options_.onto.empty()) refuse_submodules(run);
    const std::vector<LandedPart> parts = parts_of_run(run, repository_);
    const std::vector<FilePatch> patches = all_patches(parts);
    judge_paths(patches, policy_, place());
    const std::unique_ptr<LandTarget> target = make_target();
    const std::vector<PathChange> changes = plan(parts, *target);
    const LandedChange change = change_of(changes);
    std::vector<std::string> attention = judge_change(change, run, policy_, redactor_);
    for (const LandedRun::Submodule& one : run.submodules)
      attention.push_back("the submodule " + path_text(one.path) +
                          " has changes in the work tree alone: commit them there, and then its "
                          "new commit here");
    if (changes.empty())
      report_nothing(patches.empty(), run, change, attention, *target);
    else
      apply(run, change, changes, attention, *target);
    return ExitCode::success;
  }

 private:
  static fs::path make_out(const std::string& name) {
    std::error_code error;
    fs::create_directories(name, error);
    return folder_of(name, "--out");
  }

  void say(const std::string& text) const {
    if (!quiet_) print_error("sortie: " + redactor_.text(text, Audience::people) + "\n");
  }

  LandPlace place() const {
    std::shared_ptr<git_tree> head(head_tree(*repository_.handle).release(), git_tree_free);
    const std::string prefix = prefix_in(repository_.toplevel, folder_);
    return {.workspace = folder_,
            .toplevel = repository_.toplevel,
            .run = run_folder_,
            .tracked = [head, prefix](const std::string& path) {
              GitTreeEntry entry;
              return head &&
                     git_tree_entry_bypath(GitOut(entry), head.get(), (prefix + path).c_str()) == 0;
            }};
  }

  std::unique_ptr<LandTarget> make_target() const {
    if (options_.onto.empty()) return std::make_unique<TreeTarget>(repository_.toplevel);
    return std::make_unique<CommitTarget>(*repository_.handle, options_.onto);
  }

  /// A commit can only name another commit of a submodule, which is not ours to make.
  static void refuse_submodules(const LandedRun& run) {
    if (run.submodules.empty()) return;
    std::vector<std::string> names;
    for (const LandedRun::Submodule& one : run.submodules) names.push_back(one.path);
    throw Error(
        "--onto: the run changed submodules, which a commit of this repository can't hold: " +
            some_of(names) +
            "; without --onto the changes are landed in the work tree, where they can be "
            "committed in each; nothing was changed",
        ExitCode::usage);
  }

  std::vector<PathChange> plan(const std::vector<LandedPart>& parts,
                               const LandTarget& target) const {
    PlannedChanges planned;
    for (const LandedPart& part : parts) {
      PlannedChanges own =
          plan_part(part, repository_, target,
                    {.three_way = options_.three_way, .in_tree = options_.onto.empty()});
      std::move(own.changes.begin(), own.changes.end(), std::back_inserter(planned.changes));
      std::move(own.conflicts.begin(), own.conflicts.end(), std::back_inserter(planned.conflicts));
    }
    if (!planned.conflicts.empty())
      throw Error(
          (options_.onto.empty() ? "the work tree" : "--onto " + one_line(options_.onto, 100)) +
              " is not as the diff needs it: " + some_of(planned.conflicts) +
              "; nothing was changed",
          ExitCode::conflict);
    std::sort(planned.changes.begin(), planned.changes.end(),
              [](const PathChange& a, const PathChange& b) { return a.path < b.path; });
    return std::move(planned.changes);
  }

  /// A mail is for this repository alone.
  void write_mail(const LandedRun& run, const std::vector<PathChange>& changes,
                  const std::string& commit, const std::string& message) const {
    std::vector<PathChange> own;
    for (const PathChange& change : changes)
      if (std::none_of(run.submodules.begin(), run.submodules.end(),
                       [&](const auto& one) { return change.path.starts_with(one.path + "/"); }))
        own.push_back(change);
    if (own.empty()) return;
    const LandedChange change = change_of(own);
    write(kMailFile, mailbox({.commit = commit,
                              .from = identity_of(*repository_.handle),
                              .date = mail_date(),
                              .message = message,
                              .patch = change.patch}));
  }

  void write(const char* name, const std::string& text) const {
    write_file(out_ / name, text, new_file_mode());
  }

  void remove_stale_files() const {
    std::error_code error;
    for (const char* name : {kMessageFile, kMailFile, kRequestFile, kReviewFile})
      fs::remove(out_ / name, error);
  }

  void write_review(const LandedRun& run, const LandedChange& change) const {
    if (run.findings.is_array())
      write(kReviewFile, write_json_pretty(review_json(run.findings, change)) + "\n");
  }

  void write_request(const PullRequest& request) const {
    write(kRequestFile, write_json_pretty(pull_request_json(request)) + "\n");
  }

  /// There is no commit to write a message for. Findings are a result of their own.
  void report_nothing(bool unchanged, const LandedRun& run, const LandedChange& change,
                      const std::vector<std::string>& attention, const LandTarget& target) const {
    if (run.findings.is_array()) {
      write_review(run, change);
      write_request({.run = run,
                     .change = change,
                     .attention = attention,
                     .base = target.branch(),
                     .base_commit = target.commit(),
                     .head_commit = {}});
    }
    say(std::string(unchanged ? "the run changed nothing" : "everything is there already") +
        ", so nothing was landed" +
        (run.findings.is_array() ? "; its findings are in " + path_text(out_ / kReviewFile) : ""));
  }

  void apply(const LandedRun& run, const LandedChange& change,
             const std::vector<PathChange>& changes, const std::vector<std::string>& attention,
             LandTarget& target) const {
    const std::string message = commit_message(run);
    const std::string base = target.commit();
    const std::string commit = target.land(changes, message);
    try {
      // Before it counts: whoever finds the change landed finds them, too.
      write(kMessageFile, message);
      write_mail(run, changes, commit, message);
      write_review(run, change);
      write_request({.run = run,
                     .change = change,
                     .attention = attention,
                     .base = target.branch(),
                     .base_commit = base,
                     .head_commit = commit});
      if (!commit.empty()) print_out(commit + "\n");
      target.settle();
    } catch (...) {
      remove_stale_files();  // nothing is landed
      throw;
    }
    for (const std::string& line : attention) say("look at: " + line);
    const auto files = change.patch.files.size();
    say("landed " + std::to_string(files) + (files == 1 ? " file" : " files") +
        (commit.empty() ? " in " + path_text(repository_.toplevel) : " as commit " + commit) +
        "; see " + path_text(out_ / kRequestFile));
  }

  const LandOptions& options_;
  const bool quiet_;
  fs::path folder_;
  fs::path run_folder_;
  fs::path out_;
  Policy policy_;
  FoundRepository repository_;
  Redactor redactor_;
};

/// What to do about a run that was refused; "" where the caller of land() says it.
std::string next_of(ExitCode code, const LandOptions& options) {
  const std::string again = "run the task again on the tree as it is now";
  switch (code) {
    case ExitCode::task_failed:
      return "look at the run's changes.diff; if it may be so, widen expect.diff in the task, or "
             "limits.diff_file_size in the policy";
    case ExitCode::denied:
      return "look at the run's changes.diff; if these paths may be written, say so in paths.write "
             "of the policy (--policy)";
    case ExitCode::integrity:
      return "find out who made this folder before you use it; if it only changes what the policy "
             "protects, and may, paths.protect is the place to allow it";
    case ExitCode::leak:
      return "replace the secret by a new one, and keep it out of what the agent can read";
    case ExitCode::conflict:
      return options.three_way ? again : "the same command with --three-way, or " + again;
    default:
      return "";
  }
}

}  // namespace

ExitCode land(const LandOptions& options, bool quiet) {
  ::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is an error like a full disk
  limit_memory();
  try {
    return Landing(options, quiet).land();
  } catch (const Error& error) {
    const std::string next = next_of(error.code(), options);
    if (next.empty()) throw;
    throw Error(error.what() + ("; next: " + next), error.code(), error.cause());
  }
}

}  // namespace sortie

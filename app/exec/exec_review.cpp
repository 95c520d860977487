#include <string>
#include <vector>

#include "app/exec/exec_prompt.h"
#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kHow =
    "\n\nReport what its author should mend before it is merged: faults, security, tests that are "
    "missing; no matters of taste. For each finding give the file and the line, how serious it is, "
    "why it is wrong, and what to write instead; the most serious one first. If there is none, say "
    "so. Change nothing.";

std::string task_of(const ReviewTarget& target) {
  if (target.uncommitted)
    return "Review the changes of this work tree that are not committed: staged, unstaged and "
           "untracked files. `git status` and `git diff HEAD` show them.";
  if (!target.base.empty())
    return "Review the changes of this branch since it left " + in_quotes(target.base) +
           ". `git diff " + target.base + "...HEAD` shows them.";
  return "Review the change of the commit " + target.commit +
         (target.title.empty() ? "" : ", " + in_quotes(target.title)) + ". `git show " +
         target.commit + "` shows it.";
}

}  // namespace

std::string review_prompt(const ReviewTarget& target, const std::string& own) {
  const int targets = (target.uncommitted ? 1 : 0) + (target.base.empty() ? 0 : 1) +
                      (target.commit.empty() ? 0 : 1) + (trimmed(own).empty() ? 0 : 1);
  if (targets != 1)
    throw InputError(
        "review: give it one of --uncommitted, --base BRANCH, --commit SHA and a prompt of your own");
  if (!target.title.empty() && target.commit.empty())
    throw InputError("review: --title is that of --commit");
  return (trimmed(own).empty() ? task_of(target) : own) + kHow;
}

std::vector<std::string> with_exec_first(std::vector<std::string> words) {
  std::size_t at = 0;
  while (at < words.size() && words[at] != "exec" && words[at] != "e") {
    const std::string& word = words[at];
    const bool valued =
        is_one_of(word, {"-a", "--ask-for-approval", "-c", "--config", "-m", "--model", "-p",
                         "--profile", "-s", "--sandbox", "-C", "--cd", "--add-dir",
                         "--local-provider", "--enable", "--disable"});
    const bool plain = is_one_of(
        word.substr(0, word.find('=')),
        {"--ask-for-approval", "--config", "--model", "--profile", "--sandbox", "--cd", "--add-dir",
         "--local-provider", "--enable", "--disable", "--search", "--oss", "--full-auto", "--yolo",
         "--dangerously-bypass-approvals-and-sandbox", "--strict-config"});
    if (!valued && !plain) return words;
    at += valued ? 2 : 1;
  }
  if (at >= words.size()) return words;
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  words.insert(words.begin(), "exec");
  return words;
}

}  // namespace sortie

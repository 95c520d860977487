#include "app/inputs/expected_inputs.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"

namespace sortie {
namespace {

constexpr std::string_view kPrefix = "sha256:";

[[noreturn]] void refuse(const char* flag, const std::string& what, const std::string& found,
                         const std::string& expected) {
  throw InputError(std::string(flag) + ": " + what + " has the digest " + found + ", expected " +
                   expected);
}

}  // namespace

bool is_digest(const std::string& word) noexcept {
  return word.starts_with(kPrefix) && word.size() == kPrefix.size() + 64 &&
         std::all_of(word.begin() + kPrefix.size(), word.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void check_expected(const RunOptions& options, const RunInputs& inputs) {
  const std::string& task = options.expect_task;
  if (!task.empty() && task != inputs.digest_of_file && task != inputs.task.digest)
    refuse("--expect-task", "the task", inputs.digest_of_file, task);
  const std::string& policy = options.expect_policy;
  if (!policy.empty() && policy != inputs.policy.digest)
    refuse("--expect-policy", "the policy", inputs.policy.digest, policy);
}

}  // namespace sortie

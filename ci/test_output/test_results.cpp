#include "ci/test_output/test_results.h"

#include <algorithm>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kShownNames = 10;
constexpr std::size_t kShownBytes = 160;  ///< of one name

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShownNames); ++i)
    text += (i == 0 ? "" : ", ") + one_line(names[i], kShownBytes);
  if (names.size() > kShownNames)
    text += " and " + std::to_string(names.size() - kShownNames) + " more";
  return text;
}

}  // namespace

void TestResults::add(const std::string& name, bool passed) {
  std::string own = name;
  for (int count = 2; !tests.emplace(own, passed).second; ++count)
    own = name + " (" + std::to_string(count) + ")";
  if (passed) ++passes;
}

std::int64_t TestResults::failures() const {
  return std::count_if(tests.begin(), tests.end(), [](const auto& test) { return !test.second; });
}

std::string new_failures(const TestResults& before, const TestResults& after) {
  if (after.kind != TestResults::Kind::complete || after.format != before.format)
    return "the output has no complete results of " + before.format + " tests, as it had before" +
           (after.problem.empty() ? "" : " (" + after.problem + ")");
  std::vector<std::string> failed;
  std::vector<std::string> lost;
  for (const auto& [name, passed] : after.tests) {
    const auto known = before.tests.find(name);
    if (!passed && (known == before.tests.end() || known->second)) failed.push_back(name);
  }
  if (before.names_passes && after.names_passes) {
    for (const auto& [name, passed] : before.tests)
      if (passed && !after.tests.contains(name)) lost.push_back(name);
  } else if (failed.empty() && after.passes < before.passes) {
    return std::to_string(after.passes) + " tests pass, and " + std::to_string(before.passes) +
           " did before";
  }
  std::string text;
  if (!failed.empty()) text = "new failures: " + names_text(failed);
  if (!lost.empty())
    text += std::string(text.empty() ? "" : "; ") +
            "passed before, and now skipped or missing: " + names_text(lost);
  return text;
}

}  // namespace sortie

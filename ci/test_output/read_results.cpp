#include "ci/test_output/read_results.h"

#include <optional>
#include <utility>

#include "ci/test_output/formats.h"
#include "core/text/text.h"

namespace sortie {
namespace {

std::optional<TestResults> read_any(std::string_view output) {
  const OutputLines lines = split_lines(output);
  if (auto results = read_junit(output)) return results;
  for (const auto& read : {read_go_json, read_tap, read_pytest, read_cargo, read_go})
    if (auto results = read(lines)) return results;
  return {};
}

}  // namespace

TestResults read_test_results(std::string_view output) {
  auto results = read_any(output);
  if (!results) return {};
  if (results->kind == TestResults::Kind::incomplete) return std::move(*results);
  const bool any = !results->tests.empty() || results->passes > 0;
  results->kind = any ? TestResults::Kind::complete : TestResults::Kind::incomplete;
  if (!any) results->problem = "no test ran";
  return std::move(*results);
}

}  // namespace sortie

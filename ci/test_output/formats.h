#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ci/test_output/test_results.h"

namespace sortie {

using OutputLines = std::vector<std::string_view>;

/// Results that can't be relied on.
inline TestResults incomplete_results(std::string format, std::string problem) {
  return {.kind = TestResults::Kind::incomplete,
          .format = std::move(format),
          .problem = std::move(problem)};
}

// Each reads one format; nothing if the output has another one.

std::optional<TestResults> read_tap(const OutputLines& lines);
std::optional<TestResults> read_pytest(const OutputLines& lines);
std::optional<TestResults> read_go(const OutputLines& lines);       ///< go test -v
std::optional<TestResults> read_go_json(const OutputLines& lines);  ///< go test -json
std::optional<TestResults> read_cargo(const OutputLines& lines);
std::optional<TestResults> read_junit(std::string_view output);

}  // namespace sortie

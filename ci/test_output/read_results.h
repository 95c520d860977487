#pragma once

#include <string_view>

#include "ci/test_output/test_results.h"

namespace sortie {

/// Reads an output of pytest, of `go test -v` or `-json`, of cargo test, in TAP, or as JUnit XML.
TestResults read_test_results(std::string_view output);

}  // namespace sortie

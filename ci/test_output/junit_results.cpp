// JUnit XML, as Ant's task for JUnit began it and other tools go on with it: testsuites, testsuite,
// testcase, and in it failure, error, skipped.
#include "ci/test_output/formats.h"
#include "ci/test_output/xml_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// The test that is read.
struct Case {
  std::string name;
  bool failed = false;
  bool skipped = false;
};

}  // namespace

std::optional<TestResults> read_junit(std::string_view output) {
  output = trimmed(output);
  const bool is_xml = output.starts_with("<?xml") && output.find("<testsuite") < 4096;
  if (!is_xml && !output.starts_with("<testsuite")) return {};
  TestResults results{.format = "JUnit"};
  std::vector<std::string> suites;
  std::optional<Case> open;
  const auto begin = [&](const std::string& element,
                         const std::map<std::string, std::string>& attributes) {
    const auto value = [&](const char* name) {
      const auto found = attributes.find(name);
      return found == attributes.end() ? std::string() : found->second;
    };
    if (element == "testsuite") {
      suites.push_back(value("name"));
    } else if (element == "testcase") {
      open =
          Case{.name = joined(suites, " > ") + " > " + value("classname") + " > " + value("name")};
    } else if (open) {
      open->failed = open->failed || element == "failure" || element == "error";
      open->skipped = open->skipped || element == "skipped";
    }
  };
  const auto end = [&](const std::string& element) {
    if (element == "testsuite" && !suites.empty()) suites.pop_back();
    if (element != "testcase" || !open) return;
    if (!open->skipped) results.add(open->name, !open->failed);
    open.reset();
  };
  const std::string problem = read_xml(output, {.begin = begin, .end = end});
  return problem.empty() ? results : incomplete_results(results.format, problem);
}

}  // namespace sortie

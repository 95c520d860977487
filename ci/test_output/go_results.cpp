// `go test -v` and `go test -json` (go doc test2json).
#include <algorithm>
#include <map>

#include "ci/test_output/formats.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

// The tests behind it are not run.
constexpr std::string_view kPanic = "panic: ";
constexpr const char* kPanicked = "a test panicked";

/// The tests of a package while its output is read.
struct Package {
  std::map<std::string, int> open;  ///< tests that were started, less those that have a result
  std::vector<std::pair<std::string, bool>> results;
  bool fits = true;  ///< no test has two results, or one without having been started

  void start(std::string_view test) { ++open[std::string(test)]; }
  void end(std::string_view test) { fits = --open[std::string(test)] >= 0 && fits; }
  bool is_whole() const {
    return fits &&
           std::all_of(open.begin(), open.end(), [](const auto& test) { return test.second == 0; });
  }
  /// @return  why its tests don't count, or ""
  std::string add_to(TestResults& to, const std::string& name, bool passed) const {
    if (!is_whole()) return "the package " + one_line(name, 80) + " did not run to its end";
    bool any_failed = false;
    for (const auto& [test, test_passed] : results) {
      to.add(name + " " + test, test_passed);
      any_failed = any_failed || !test_passed;
    }
    // It can't be built, or failed outside of its tests.
    if (!passed && !any_failed) to.add(name, false);
    return "";
  }
};

/// The word up to the next tab or blank.
std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of("\t "));
}

/// "--- FAIL: TestX/sub (0.00s)", at any depth.
bool read_result(std::string_view line, Package& package) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view word : {"--- PASS: ", "--- FAIL: ", "--- SKIP: "}) {
    if (!line.starts_with(word) || !line.ends_with("s)")) continue;
    const std::string_view test = first_word(line.substr(word.size()));
    package.end(test);
    if (word[4] != 'S') package.results.emplace_back(test, word[4] == 'P');
    return true;
  }
  return false;
}

}  // namespace

std::optional<TestResults> read_go(const OutputLines& lines) {
  constexpr std::string_view kRun = "=== RUN   ";
  TestResults results{.format = "go test -v"};
  Package package;
  bool ran = false;
  bool ended = false;
  std::string problem;
  for (const std::string_view line : lines) {
    if (line.starts_with(kPanic)) {
      problem = kPanicked;
    } else if (line.starts_with(kRun)) {
      ran = true;
      package.start(first_word(line.substr(kRun.size())));
    } else if (!read_result(line, package)) {
      const bool failed = line.starts_with("FAIL\t");
      if (!failed && !line.starts_with("ok  \t")) continue;
      ended = true;
      const std::string name(first_word(line.substr(line.find('\t') + 1)));
      if (std::string why = package.add_to(results, name, !failed); !why.empty()) problem = why;
      package = {};
    }
  }
  if (!ran || (!ended && package.results.empty())) return {};
  if (problem.empty() && (!package.results.empty() || !package.is_whole()))
    problem = "the last package has no result";
  return problem.empty() ? results : incomplete_results(results.format, problem);
}

std::optional<TestResults> read_go_json(const OutputLines& lines) {
  TestResults results{.format = "go test -json"};
  std::map<std::string, Package> packages;
  std::string problem;
  bool any = false;
  for (const std::string_view line : lines) {
    if (without_blanks(line).empty()) continue;
    Json event;
    if (line.front() == '{' && line.back() == '}') try {
        event = parse_json(line);
      } catch (const JsonError&) {
      }
    const std::string action = event.string_at("Action");
    if (action.empty()) {
      if (!any) return {};
      problem = "not all of its lines are events";
      continue;
    }
    any = true;
    const std::string name = event.string_at("Package");
    const std::string test = event.string_at("Test");
    const bool is_end = is_one_of(action, {"pass", "fail", "skip"});
    if (event.string_at("Output").starts_with(kPanic)) problem = kPanicked;
    if (name.empty() || (!is_end && action != "run" && action != "start")) continue;
    Package& package = packages[name];
    if (test.empty()) {
      if (!is_end) {
        package.start("");
        continue;
      }
      if (package.open.contains("")) package.end("");
      std::string why = package.add_to(results, name, action != "fail");
      if (!why.empty()) problem = why;
      packages.erase(name);
    } else if (is_end) {
      package.end(test);
      if (action != "skip") package.results.emplace_back(test, action == "pass");
    } else {
      package.start(test);
    }
  }
  if (!any) return {};
  if (problem.empty() && !packages.empty())
    problem = "the package " + one_line(packages.begin()->first, 80) + " has no result";
  return problem.empty() ? results : incomplete_results(results.format, problem);
}

}  // namespace sortie

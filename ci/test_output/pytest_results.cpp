// pytest's terminal report: its last line with the counts, the short summary with the names of
// failures, and with -v a line a test.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>

#include "ci/test_output/formats.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// The text without the `=` and blanks around it.
std::string_view unframed(std::string_view line) {
  while (line.starts_with('=')) line.remove_prefix(1);
  while (line.ends_with('=')) line.remove_suffix(1);
  return without_blanks(line);
}

/// The counts of "2 failed, 3 passed in 0.12s", by their words in the singular; nothing for other
/// lines.
std::optional<std::map<std::string, std::int64_t>> read_counts(std::string_view line) {
  line = unframed(line);
  const std::size_t in = line.rfind(" in ");
  if (in == std::string_view::npos) return {};
  const std::string_view time = line.substr(in + 4);
  const std::size_t unit = time.find('s');
  if (unit == std::string_view::npos || unit == 0 ||
      time.substr(0, unit).find_first_not_of("0123456789.") != std::string_view::npos)
    return {};
  std::map<std::string, std::int64_t> counts;
  for (std::string_view rest = line.substr(0, in); !rest.empty();) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 2, rest.size()));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    std::string word(one.substr(static_cast<std::size_t>(end - one.data())));
    if (word == " errors" || word == " warnings") word.pop_back();
    if (error != std::errc() ||
        !is_one_of(word, {" passed", " failed", " error", " skipped", " deselected", " xfailed",
                          " xpassed", " warning", " rerun"}) ||
        !counts.emplace(word.substr(1), number).second)
      return {};
  }
  return counts;
}

/// The test of "FAILED test_a.py::test_b[x - y] - AssertionError": a bracket of parameters may hold
/// what the name else ends with.
std::string name_in(std::string_view text) {
  std::size_t end = text.find(" - ");
  const auto is_open = [&] {
    const std::string_view name = text.substr(0, end);
    return std::count(name.begin(), name.end(), '[') > std::count(name.begin(), name.end(), ']');
  };
  while (end != std::string_view::npos && is_open()) end = text.find(" - ", end + 1);
  return std::string(text.substr(0, end));
}

/// The tests that passed, by the lines of -v: "test_a.py::test_b PASSED      [ 12%]".
std::set<std::string> passes_named(const OutputLines& lines) {
  std::set<std::string> names;
  for (const std::string_view line : lines) {
    const std::size_t word = line.rfind(" PASSED ");
    if (word == std::string_view::npos || line.find("::") > word || !line.ends_with("%]")) continue;
    names.emplace(without_blanks(line.substr(0, word)));
  }
  return names;
}

}  // namespace

std::optional<TestResults> read_pytest(const OutputLines& lines) {
  auto last = lines.rbegin();
  while (last != lines.rend() && without_blanks(*last).empty()) ++last;
  if (last == lines.rend()) return {};
  const auto counts = read_counts(*last);
  if (!counts) return {};
  const auto count = [&counts](const char* word) {
    const auto found = counts->find(word);
    return found == counts->end() ? 0 : found->second;
  };

  TestResults results{.format = "pytest"};
  std::int64_t headers = 0;
  std::int64_t failed = 0;
  std::int64_t errors = 0;
  for (std::string_view line : lines) {
    if (line.starts_with("====") && unframed(line) == "short test summary info") ++headers;
    if (line.starts_with("!!!!")) return incomplete_results("pytest", "it was stopped early");
    if (headers == 0) continue;
    const bool is_error = line.starts_with("ERROR ");
    if (!is_error && !line.starts_with("FAILED ")) continue;
    ++(is_error ? errors : failed);
    const std::string name = name_in(line.substr(line.find(' ') + 1));
    results.add((is_error ? "error at " : "") + name, false);
  }
  if (headers > 1 || failed != count("failed") || errors != count("error"))
    return incomplete_results("pytest", "its summary does not fit its counts");
  if (count("passed") + count("failed") == 0) return incomplete_results("pytest", "no test ran");
  const std::set<std::string> passes = passes_named(lines);
  results.names_passes = static_cast<std::int64_t>(passes.size()) == count("passed");
  if (results.names_passes)
    for (const std::string& name : passes) results.add(name, true);
  results.passes = count("passed");
  return results;
}

}  // namespace sortie

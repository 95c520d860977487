// The Test Anything Protocol, versions 12 to 14: https://testanything.org/tap-version-14-specification.html
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "ci/test_output/formats.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kIndent = 4;  // of a subtest
constexpr std::size_t kMaxDepth = 32;

/// A number at the beginning, which is taken away.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !is_ascii_digit(text.front())) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

/// The tests of one indentation, since the one that they belong to began.
struct Level {
  std::int64_t last = 0;
  std::optional<std::int64_t> plan;
  std::vector<std::pair<std::string, bool>> results;
};

class TapReader {
 public:
  std::optional<TestResults> read(const OutputLines& lines) {
    for (const std::string_view line : lines) {
      if (!line.empty() && !begun_ && !begin(line)) return {};
      if (begun_ && problem_.empty()) read_line(line);
    }
    if (!begun_) return {};
    if (problem_.empty()) close_level(0);
    if (problem_.empty() && levels_.size() > 1) problem_ = "subtests without their test";
    if (!problem_.empty()) return incomplete_results("TAP", problem_);
    TestResults results{.format = "TAP"};
    for (const auto& [name, passed] : levels_.front().results) results.add(name, passed);
    return results;
  }

 private:
  /// Whether the first line is one of TAP's.
  bool begin(std::string_view line) {
    begun_ = line.starts_with("TAP version 1") || read_plan(line).has_value();
    return begun_;
  }

  static std::optional<std::int64_t> read_plan(std::string_view line) {
    if (!take(line, "1..") || line.empty()) return {};
    const auto count = take_number(line);
    line = without_blanks(line);
    return line.empty() || line.front() == '#' ? count : std::nullopt;
  }

  void read_line(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = line.substr(indent);
    if (block_) {
      if (text == "..." && indent == *block_) block_.reset();
      return;
    }
    if (text == "---") block_ = indent;
    if (indent % kIndent != 0 || indent / kIndent > kMaxDepth) return;
    const std::size_t depth = indent / kIndent;
    if (text.starts_with("Bail out!")) {
      problem_ = "it bailed out";
    } else if (const auto plan = read_plan(text)) {
      Level& level = at(depth);
      if (level.plan) problem_ = "two plans";
      level.plan = plan;
    } else {
      read_test(text, depth);
    }
  }

  void read_test(std::string_view text, std::size_t depth) {
    const bool failed = take(text, "not ");
    if (!take(text, "ok") || (!text.empty() && text.front() != ' ')) return;
    Level& level = at(depth);
    text = without_blanks(text);
    if (!text.empty())
      if (const auto number = take_number(text); number && *number != level.last + 1)
        problem_ = "its tests are not numbered in order";
    ++level.last;
    text = without_blanks(text);
    if (take(text, "- ")) text = without_blanks(text);
    const std::size_t mark = text.find(" # ");
    const std::string directive =
        ascii_lower(mark == std::string_view::npos ? (text.starts_with("# ") ? text.substr(2) : "")
                                                   : text.substr(mark + 3));
    std::string name(text.substr(0, mark));
    if (name.empty() || name.starts_with("# ")) name = "test " + std::to_string(level.last);
    take_subtests(depth, name);
    if (directive.starts_with("skip") || directive.starts_with("todo")) return;
    at(depth).results.emplace_back(name, !failed);
  }

  /// Adds the tests that were read one level deeper to the one that they belong to.
  void take_subtests(std::size_t depth, const std::string& name) {
    if (levels_.size() <= depth + 1) return;
    close_level(depth + 1);
    for (const auto& [inner, passed] : levels_[depth + 1].results)
      levels_[depth].results.emplace_back(name + " > " + inner, passed);
    if (levels_.size() > depth + 2) problem_ = "subtests without their test";
    levels_.resize(depth + 1);
  }

  void close_level(std::size_t depth) {
    const Level& level = at(depth);
    if (!problem_.empty()) return;
    if (!level.plan)
      problem_ = "its plan is missing";
    else if (*level.plan != level.last)
      problem_ = std::to_string(level.last) + " of " + std::to_string(*level.plan) +
                 " tests have a result";
  }

  Level& at(std::size_t depth) {
    if (levels_.size() <= depth) levels_.resize(depth + 1);
    return levels_[depth];
  }

  bool begun_ = false;
  std::string problem_;
  std::optional<std::size_t> block_;  ///< indentation of the YAML block that is open
  std::vector<Level> levels_;
};

}  // namespace

std::optional<TestResults> read_tap(const OutputLines& lines) { return TapReader().read(lines); }

}  // namespace sortie

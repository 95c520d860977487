// cargo test: a section for each test program, with a line a test and a line with their counts.
#include <algorithm>
#include <charconv>
#include <cstdint>

#include "ci/test_output/formats.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kFormat = "cargo test";

/// The number between the two texts; nothing if there is none.
std::optional<std::int64_t> number_in(std::string_view line, std::string_view before,
                                      std::string_view behind) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + before.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() ||
      !std::string_view(end, static_cast<std::size_t>(line.data() + line.size() - end))
           .starts_with(behind))
    return {};
  return number;
}

/// "Running unittests src/lib.rs (target/debug/deps/m-81c9f5d764ef8bf2)" → "unittests src/lib.rs m":
/// the digest changes with the build.
std::string program_name(std::string_view line) {
  const std::size_t open = line.find(" (");
  std::string name(line.substr(0, open));
  if (open == std::string_view::npos) return name;
  std::string_view path = line.substr(open + 2);
  path = path.substr(0, path.find(')'));
  path.remove_prefix(path.rfind('/') + 1);
  return name + " " + std::string(path.substr(0, path.rfind('-')));
}

struct Section {
  std::int64_t announced = 0;
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t ignored = 0;
};

class CargoReader {
 public:
  std::optional<TestResults> read(const OutputLines& lines) {
    for (const std::string_view line : lines) read_line(line);
    if (!begun_) return {};
    if (section_ && problem_.empty()) problem_ = "a test program did not run to its end";
    if (!problem_.empty()) return incomplete_results(kFormat, problem_);
    return std::move(results_);
  }

 private:
  void read_line(std::string_view line) {
    const std::string_view text = without_blanks(line);
    if (const auto count = announced(line)) {
      if (section_) problem_ = "a test program did not run to its end";
      begun_ = true;
      section_ = Section{.announced = *count};
    } else if (line.starts_with(' ') && text.starts_with("Running ")) {
      program_ = program_name(text.substr(8));
    } else if (line.starts_with(' ') && text.starts_with("Doc-tests ")) {
      program_ = text;
    } else if (section_ && line.starts_with("test result: ")) {
      end_section(line);
    } else if (section_ && line.starts_with("test ")) {
      read_test(line.substr(5));
    }
  }

  /// The number of "running 4 tests".
  static std::optional<std::int64_t> announced(std::string_view line) {
    if (!line.starts_with("running ") || !(line.ends_with(" tests") || line.ends_with(" test")))
      return {};
    return number_in(line, "running ", " test");
  }

  void read_test(std::string_view line) {
    const std::size_t dots = line.rfind(" ... ");
    if (dots == std::string_view::npos) return;
    const std::string_view result = line.substr(dots + 5);
    const std::string name =
        (program_.empty() ? "" : program_ + ": ") + std::string(line.substr(0, dots));
    if (result == "ok") ++section_->passed;
    if (result == "FAILED") ++section_->failed;
    if (result == "ignored" || result.starts_with("ignored, ")) ++section_->ignored;
    if (result == "ok" || result == "FAILED") results_.add(name, result == "ok");
  }

  void end_section(std::string_view line) {
    const Section& found = *section_;
    const bool fits = number_in(line, ". ", " passed;") == found.passed &&
                      number_in(line, " passed; ", " failed;") == found.failed &&
                      number_in(line, " failed; ", " ignored;") == found.ignored &&
                      found.announced == found.passed + found.failed + found.ignored;
    if (!fits) problem_ = "the lines of its tests do not fit its counts";
    section_.reset();
  }

  bool begun_ = false;
  std::string problem_;
  std::string program_;
  std::optional<Section> section_;
  TestResults results_{.format = kFormat};
};

}  // namespace

std::optional<TestResults> read_cargo(const OutputLines& lines) {
  return CargoReader().read(lines);
}

}  // namespace sortie

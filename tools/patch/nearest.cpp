#include "tools/patch/nearest.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "core/text/text.h"

namespace sortie::patch {
namespace {

constexpr std::size_t kShownDifferences = 5;
constexpr std::size_t kLongestCompared = 200;  ///< bytes of a line
constexpr std::size_t kMostCompared = 20'000;  ///< lines of a file
constexpr std::size_t kMostRepeats = 20;       ///< of one line in a pattern: more say no more

struct Window {
  std::size_t start = 0;
  std::size_t equal_lines = 0;
};

/// The place that shares the most lines with the pattern, blank ones not counted.
std::optional<Window> by_equal_lines(const FileLines& file,
                                     const std::vector<std::string_view>& pattern) {
  std::unordered_map<std::string, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < pattern.size() && i < 1000; ++i) {
    std::string text = comparable(pattern[i], Leniency::signs);
    if (text.empty()) continue;
    auto& places = wanted[std::move(text)];
    if (places.size() < kMostRepeats) places.push_back(i);
  }
  std::vector<std::uint32_t> votes(file.size());
  Window best;
  for (std::size_t line = 0; line < file.size(); ++line) {
    const auto found = wanted.find(comparable(file.text(line), Leniency::signs));
    if (found == wanted.end()) continue;
    for (const std::size_t i : found->second) {
      if (i > line) continue;
      const std::size_t start = line - i;
      if (++votes[start] > best.equal_lines) best = {start, votes[start]};
    }
  }
  if (best.equal_lines == 0) return std::nullopt;
  return best;
}

/// The place of the line that is most like the pattern's longest; none where more than a third of
/// it differs.
std::optional<Window> by_similar_line(const FileLines& file,
                                      const std::vector<std::string_view>& pattern) {
  if (file.size() > kMostCompared) return std::nullopt;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i].size() > pattern[longest].size()) longest = i;
  const std::string wanted =
      comparable(pattern[longest].substr(0, kLongestCompared), Leniency::signs);
  std::size_t least = wanted.size() / 3 + 1;
  std::optional<Window> best;
  for (std::size_t line = longest; line < file.size(); ++line) {
    const std::string text =
        comparable(file.text(line).substr(0, kLongestCompared), Leniency::signs);
    const std::size_t apart =
        text.size() > wanted.size() ? text.size() - wanted.size() : wanted.size() - text.size();
    if (apart >= least) continue;
    const std::size_t distance = edit_distance(wanted, text);
    if (distance >= least) continue;
    least = distance;
    best = Window{line - longest, 0};
  }
  return best;
}

std::string differences(const FileLines& file, const std::vector<std::string_view>& pattern,
                        std::size_t start) {
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t line = start + i;
    const bool beyond = line >= file.size();
    if (!beyond &&
        comparable(file.text(line), Leniency::signs) == comparable(pattern[i], Leniency::signs))
      continue;
    if (++shown > kShownDifferences) return text + "  …\n";
    text += "  line " + std::to_string(line + 1) + " is ";
    text += beyond ? "beyond the file's end" : in_quotes(file.text(line), kLongestCompared);
    text += ", the patch has " + in_quotes(pattern[i], kLongestCompared) + "\n";
  }
  return text;
}

}  // namespace

std::string nearest_place(const FileLines& file, const std::vector<std::string_view>& pattern,
                          std::size_t from, const std::string& path) {
  if (pattern.empty()) return "";
  if (file.size() == 0) return path + " is empty.\n";
  auto window = by_equal_lines(file, pattern);
  if (!window) window = by_similar_line(file, pattern);
  if (!window)
    return (pattern.size() == 1 ? "No such line stands in " : "None of these lines stands in ") +
           path + ", which has " + std::to_string(file.size()) +
           (file.size() == 1 ? " line" : " lines") + ": read it again.\n";
  const std::size_t end = std::min(window->start + pattern.size(), file.size());
  std::string text = "The nearest place is " + path + ", line" +
                     (end - window->start > 1
                          ? "s " + std::to_string(window->start + 1) + "–" + std::to_string(end)
                          : " " + std::to_string(end));
  const std::string apart = differences(file, pattern, window->start);
  if (!apart.empty()) return text + ":\n" + apart;
  if (window->start < from)
    return text +
           ", but that is before where this chunk may stand: chunks and anchors go forward "
           "through the file.\n";
  return text + ", but it does not end the file, as '*** End of File' asks for.\n";
}

}  // namespace sortie::patch

#include "core/config/diagnostic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxShown = 200;  // findings; more would flood the terminal
constexpr int kGutter = 5;              // width of the line number
constexpr int kShownBefore = 60;        // characters of an overlong line shown before the place
constexpr int kShownColumns = 120;      // and altogether

bool starts_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// The byte at which character number `index` (from 0) begins.
std::size_t byte_of(std::string_view line, int index) noexcept {
  std::size_t at = 0;
  for (; at < line.size(); ++at)
    if (starts_character(line[at]) && index-- == 0) break;
  return at;
}

int characters(std::string_view text) noexcept {
  return static_cast<int>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string_view line_of(std::string_view text, int number) noexcept {
  for (int i = 1; i < number; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// The line with the place underlined. Each character takes one column; a line longer than a
/// screen is shown around the place.
void render_line(std::string_view line, const TextPlace& place, std::string& to) {
  const int length = characters(line);
  int first = 0;
  if (length > kShownColumns) first = std::max(0, place.column - 1 - kShownBefore);
  const int last = std::min(length, first + kShownColumns);
  const std::size_t begin = byte_of(line, first);
  const std::string_view part = line.substr(begin, byte_of(line, last) - begin);

  const std::string number = std::to_string(place.line);
  const std::size_t pad = number.size() < kGutter ? kGutter - number.size() : 0;
  to += "\n" + std::string(pad, ' ') + number + " | ";
  if (first > 0) to += "…";
  to += one_line(part, part.size());
  if (last < length) to += "…";
  to += "\n" + std::string(std::max<std::size_t>(kGutter, number.size()), ' ') + " | ";
  to += std::string(place.column - 1 - first + (first > 0 ? 1 : 0), ' ') + "^";
  const int room = std::max(0, last - place.column);
  to += std::string(std::clamp(place.length - 1, 0, room), '~');
}

}  // namespace

std::size_t Diagnostics::add_source(std::string name, std::string text) {
  sources_.push_back({std::move(name), std::move(text)});
  return sources_.size() - 1;
}

void Diagnostics::add(Finding finding) { findings_.push_back(std::move(finding)); }

void Diagnostics::error(const TextPlace& place, std::string message, std::string nearest) {
  add({.place = place, .message = std::move(message), .nearest = std::move(nearest)});
}

std::vector<Finding> Diagnostics::findings() const {
  std::vector<Finding> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  return sorted;
}

void Diagnostics::render(const Finding& finding, std::string& to) const {
  const TextPlace& place = finding.place;
  const Source* source = place.source < sources_.size() ? &sources_[place.source] : nullptr;
  if (!to.empty()) to += '\n';
  if (source != nullptr && !source->name.empty()) {
    to += source->name;
    if (place.line > 0) to += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
    to += ": ";
  }
  to += finding.severity == Severity::error ? "error: " : "note: ";
  to += finding.message;
  if (!finding.nearest.empty()) to += "; did you mean '" + finding.nearest + "'?";
  if (source != nullptr && place.line > 0 && !source->text.empty())
    render_line(line_of(source->text, place.line), place, to);
  for (const auto& note : finding.notes) render(note, to);
}

std::string Diagnostics::render() const {
  std::string text;
  const std::vector<Finding> sorted = findings();
  const std::size_t shown = std::min(sorted.size(), kMaxShown);
  for (std::size_t i = 0; i < shown; ++i) render(sorted[i], text);
  if (shown < sorted.size())
    text += "\nand " + std::to_string(sorted.size() - shown) + " more findings";
  return text;
}

void Diagnostics::throw_if_any() const {
  if (!empty()) throw InputError(render());
}

TextPlace place_at(std::string_view text, std::size_t source, std::size_t offset,
                   std::size_t length) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
  std::string_view rest = text.substr(offset, length);
  rest = rest.substr(0, rest.find_first_of("\r\n"));
  return {.source = source,
          .line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          .column = characters(before.substr(line_start)) + 1,
          .length = std::max(1, characters(rest))};
}

}  // namespace sortie

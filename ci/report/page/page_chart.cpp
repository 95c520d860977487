#include <algorithm>
#include <vector>

#include "ci/report/page/page_parts.h"

namespace sortie {
namespace {

constexpr std::size_t kBars = 240;
constexpr std::size_t kFewestColumns = 16;  ///< so that three bars are no walls
constexpr std::int64_t kHeight = 1000;

/// Some turns in a row, shown by one bar: their average.
struct Bar {
  int first = 0;  ///< number of a turn
  int last = 0;
  std::int64_t cached = 0;  ///< tokens
  std::int64_t fresh = 0;
  std::int64_t output = 0;
  std::int64_t ms = 0;
  std::string stage{};           ///< of its first turn
  std::int64_t tokens() const {  ///< as far as they are known
    return std::max(cached, std::int64_t{0}) + std::max(fresh, std::int64_t{0}) +
           std::max(output, std::int64_t{0});
  }
};

std::vector<Bar> bars_of(const std::vector<StoryTurn>& turns) {
  const std::size_t each = (turns.size() + kBars - 1) / kBars;
  std::vector<Bar> bars;
  for (std::size_t from = 0; from < turns.size(); from += each) {
    const auto to = std::min(turns.size(), from + each);
    const auto count = static_cast<std::int64_t>(to - from);
    Bar bar{.first = turns[from].number, .last = turns[to - 1].number};
    bar.stage = turns[from].stage;
    for (auto i = from; i < to; ++i) {
      bar.cached = known_sum(bar.cached, turns[i].usage.cached);
      bar.fresh = known_sum(bar.fresh, turns[i].usage.fresh());
      bar.output = known_sum(bar.output, turns[i].usage.output);
      bar.ms = known_sum(bar.ms, turns[i].times.total().count());
    }
    for (std::int64_t* sum : {&bar.cached, &bar.fresh, &bar.output, &bar.ms})
      if (*sum > 0) *sum /= count;
    bars.push_back(bar);
  }
  return bars;
}

void write_bar_title(Html& html, const Bar& bar) {
  html << "<title>Turn " << bar.first;
  if (bar.last != bar.first) html << " to " << bar.last << ", average";
  if (!bar.stage.empty()) html << ", stage " << bar.stage;
  html << ": " << bar.cached << " cached, " << bar.fresh << " new, " << bar.output << " output, "
       << std::chrono::milliseconds(bar.ms) << "</title>";
}

/// Numbers of an SVG attribute have no marks of thousands.
std::string plain(std::int64_t number) { return std::to_string(number); }

std::int64_t scaled(std::int64_t value, std::int64_t most) {
  return most <= 0 ? 0 : std::max<std::int64_t>(0, value) * kHeight / most;
}

template <std::size_t N>
void write_part(Html& html, const char (&kind)[N], std::size_t column, std::int64_t top,
                std::int64_t height) {
  if (height <= 0) return;
  html << "<rect class=\"b-" << kind << "\" x=\""
       << plain(static_cast<std::int64_t>(column) * 10 + 1) << "\" width=\"8\" y=\"" << plain(top)
       << "\" height=\"" << plain(height) << "\"/>";
}

template <std::size_t N>
void open_picture(Html& html, const char (&kind)[N], std::size_t columns) {
  html << "<svg class=\"" << kind
       << "\" aria-hidden=\"true\" preserveAspectRatio=\"none\" viewBox=\"0 0 "
       << plain(static_cast<std::int64_t>(std::max(columns, kFewestColumns)) * 10) << " 1000\">";
}

void write_tokens(Html& html, const std::vector<Bar>& bars, std::int64_t most) {
  open_picture(html, "tokens", bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& bar = bars[i];
    const auto cached = scaled(bar.cached, most);
    const auto fresh = scaled(bar.fresh, most);
    const auto output = scaled(bar.output, most);
    html << "<g>";
    if (i > 0 && bar.stage != bars[i - 1].stage) {
      html << "<path class=\"b-stage\" d=\"M" << plain(static_cast<std::int64_t>(i) * 10)
           << " 0V1000\"/>";
    }
    write_bar_title(html, bar);
    write_part(html, "cached", i, kHeight - cached, cached);
    write_part(html, "new", i, kHeight - cached - fresh, fresh);
    write_part(html, "output", i, kHeight - cached - fresh - output, output);
    html << "</g>";
  }
  html << "</svg>";
}

void write_times(Html& html, const std::vector<Bar>& bars, std::int64_t most) {
  open_picture(html, "times", bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto height = scaled(bars[i].ms, most);
    html << "<g>";
    write_bar_title(html, bars[i]);
    write_part(html, "time", i, kHeight - height, height);
    html << "</g>";
  }
  html << "</svg>";
}

/// The chart's content for those who don't see it.
void write_numbers(Html& html, const std::vector<Bar>& bars) {
  html
      << "<details class=\"box\"><summary><span class=\"grow\">The chart's numbers</span></summary><div "
         "class=\"in\"><table><thead><tr><th scope=\"col\">Turn</th><th scope=\"col\" class=\"r\">Cached"
         "</th><th scope=\"col\" class=\"r\">New</th><th scope=\"col\" class=\"r\">Output</th><th "
         "scope=\"col\" class=\"r\">Time</th></tr></thead><tbody>";
  for (const auto& bar : bars) {
    html << "<tr><th scope=\"row\">" << bar.first;
    if (bar.last != bar.first) html << "–" << bar.last;
    html << "</th><td class=\"r\">" << bar.cached << "</td><td class=\"r\">" << bar.fresh
         << "</td><td class=\"r\">" << bar.output << "</td><td class=\"r\">"
         << std::chrono::milliseconds(bar.ms) << "</td></tr>";
  }
  html << "</tbody></table></div></details>\n";
}

}  // namespace

void write_chart(Html& html, const RunStory& story) {
  if (story.turns.empty()) return;
  const auto bars = bars_of(story.turns);
  std::int64_t most_tokens = 0;
  std::int64_t most_ms = 0;
  for (const auto& bar : bars) {
    most_tokens = std::max(most_tokens, bar.tokens());
    most_ms = std::max(most_ms, bar.ms);
  }
  html
      << "<figure class=\"chart\"><figcaption class=\"key\"><span class=\"cached\">cached tokens</span>"
         "<span class=\"new\">new</span><span class=\"out\">output</span><span class=\"time\">time</span>"
         "</figcaption><p class=\"scale\">Tokens a turn, at most "
      << most_tokens << "</p>";
  write_tokens(html, bars, most_tokens);
  html << "<p class=\"scale\">Time a turn, at most " << std::chrono::milliseconds(most_ms)
       << "</p>";
  write_times(html, bars, most_ms);
  html << "</figure>\n";
  write_numbers(html, bars);
}

}  // namespace sortie

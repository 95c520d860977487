#include "ci/report/page/page_parts.h"

namespace sortie {
namespace {

/// What the turns of a stage took together.
struct StageSum {
  std::int64_t tokens = 0;
  std::chrono::milliseconds time{0};
};

StageSum sum_of(const std::string& stage, const std::vector<StoryTurn>& turns) {
  StageSum sum;
  for (const auto& turn : turns) {
    if (turn.stage != stage) continue;
    sum.tokens = known_sum(sum.tokens, turn.usage.total());
    sum.time = known_sum(sum.time, turn.times.total());
  }
  return sum;
}

void write_ending(Html& html, const std::string& ended) {
  html << "<span class=\"tag";
  if (ended == "completed") {
    html << " good";
  } else if (ended == "failed") {
    html << " bad";
  } else if (ended != "not-started") {
    html << " warn";
  }
  html << "\">" << words_of_status(ended) << "</span>";
}

}  // namespace

void write_stages(Html& html, const RunStory& story) {
  if (story.stages.empty()) return;
  html << "<div class=\"box\"><div class=\"in\"><table><thead><tr><th scope=\"col\">Stage</th>"
          "<th scope=\"col\">Result</th><th scope=\"col\" class=\"r\">Turns</th><th scope=\"col\" "
          "class=\"r\">Tokens</th><th scope=\"col\" class=\"r\">Time</th></tr></thead><tbody>";
  for (const auto& stage : story.stages) {
    const auto sum = sum_of(stage.name, story.turns);
    html << "<tr><th scope=\"row\"><bdi>" << stage.name << "</bdi></th><td>";
    write_ending(html, stage.ended);
    html << "</td><td class=\"r\">" << stage.turns << "</td><td class=\"r\">" << sum.tokens
         << "</td><td class=\"r\">" << sum.time << "</td></tr>";
  }
  html << "</tbody></table></div></div>\n";
}

}  // namespace sortie

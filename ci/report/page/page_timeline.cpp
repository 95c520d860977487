#include <algorithm>
#include <string>
#include <vector>

#include "ci/report/page/page_parts.h"
#include "ci/report/page/page_room.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostTurnBytes = 512u << 10;

bool is_denied(const StoryCall& call) {
  return call.ruling.has_value() && *call.ruling != Ruling::allow;
}
bool is_failed(const StoryCall& call) { return call.ran && !(call.done && call.success); }

std::string_view decision_words(const StoryCall& call) {
  if (call.audited) return "denied, but run all the same: the approval mode is audit";
  switch (*call.ruling) {
    case Ruling::allow:
      return "allowed";
    case Ruling::deny:
      return "denied";
    case Ruling::forbid:
      return "forbidden, which ends the run";
  }
  return "";
}

void write_decision(Html& html, const StoryCall& call) {
  if (call.audited) {
    html << "<span class=\"tag warn\">audited</span>";
  } else if (is_denied(call)) {
    html << "<span class=\"tag bad\">"
         << (*call.ruling == Ruling::forbid ? std::string_view("forbidden")
                                            : std::string_view("denied"))
         << "</span>";
  }
  if (!call.ran) return;
  if (!call.done) {
    html << "<span class=\"tag warn\">cut off</span>";
  } else if (!call.success) {
    html << "<span class=\"tag bad\">" << (call.ending.empty() ? "failed" : call.ending)
         << "</span>";
  }
}

void write_line(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  html << "<p class=\"small\"><span class=\"soft\">" << name << "</span> <bdi>" << value
       << "</bdi></p>";
}

void write_call(Html& html, const StoryCall& call) {
  html << "<details class=\"call\"><summary><span class=\"grow\"><b class=\"small\">";
  if (!call.server.empty()) html << call.server << ": ";
  html << call.tool << "</b> <code>"
       << (call.what.empty() ? one_line(call.arguments.head) : call.what) << "</code></span>";
  write_decision(html, call);
  html << "<span class=\"num soft small\">" << call.duration
       << "</span></summary><div class=\"in\">";
  if (call.ruling) {
    html << "<p class=\"small\"><span class=\"soft\">Decision:</span> " << decision_words(call)
         << "</p>";
  }
  write_line(html, "Rule:", call.rule);
  write_line(html, "Reason:", call.reason);
  write_line(html, "Approver:", call.approver);
  if (!call.arguments.empty()) html << "<pre>" << call.arguments << "</pre>";
  for (const auto& path : call.changed) write_line(html, "Changed:", path);
  html << "</div>";
  if (!call.output.empty()) html << "<pre class=\"output\">" << call.output << "</pre>";
  html << "</details>";
}

void write_turn_summary(Html& html, const StoryTurn& turn, std::size_t denied, std::size_t failed) {
  html << "<summary><b class=\"num\">Turn " << turn.number
       << "</b><span class=\"grow soft small\"><bdi>";
  if (turn.aside) html << "(aside) ";
  std::string line = one_line(turn.words.head, 140);
  if (line.empty()) {
    const auto shown = std::min<std::size_t>(turn.calls.size(), 4);
    for (std::size_t i = 0; i < shown; ++i) line += (i > 0 ? ", " : "") + turn.calls[i].tool;
  }
  html << line << "</bdi></span>";
  if (!turn.answered) html << "<span class=\"tag warn\">no answer</span>";
  if (denied > 0) html << "<span class=\"tag bad\">" << denied << " denied</span>";
  if (failed > 0) html << "<span class=\"tag bad\">" << failed << " failed</span>";
  html << "<span class=\"num soft small\">" << turn.usage.total() << " tokens, "
       << turn.times.total() << "</span></summary>";
}

void write_turn(Html& html, const StoryTurn& turn) {
  const auto denied =
      static_cast<std::size_t>(std::count_if(turn.calls.begin(), turn.calls.end(), is_denied));
  const auto failed =
      static_cast<std::size_t>(std::count_if(turn.calls.begin(), turn.calls.end(), is_failed));
  html << "<details class=\"box turn";
  if (denied > 0) html << " has-denied";
  if (failed > 0) html << " has-failed";
  html << "\" id=\"turn-" << std::to_string(turn.number) << "\">";
  write_turn_summary(html, turn, denied, failed);
  html << "<div class=\"in\">";
  if (!turn.reasoning.empty()) {
    html << "<p class=\"label\">Reasoning</p><div class=\"said soft small\"><bdi>" << turn.reasoning
         << "</bdi></div>";
  }
  if (!turn.words.empty()) {
    html << "<p class=\"label\">The agent</p><div class=\"said\"><bdi>" << turn.words
         << "</bdi></div>";
  }
  PageRoom room(kMostTurnBytes);
  std::size_t left_out = 0;
  for (const auto& call : turn.calls)
    if (!room.write(html, [&call](Html& part) { write_call(part, call); })) ++left_out;
  if (left_out > 0)
    html << "<p class=\"soft\">" << counted(left_out, "more call is", "more calls are")
         << " in the transcript.</p>";
  html << "<p class=\"soft small\">" << turn.usage.cached << " cached, " << turn.usage.fresh()
       << " new, " << turn.usage.output << " output tokens; model " << turn.times.model
       << ", tools " << turn.times.tools;
  if (turn.usage.usd) html << "; " << dollars(turn.usage.usd);
  if (!turn.model.empty()) html << "; <bdi>" << turn.model << "</bdi>";
  if (!turn.stop_reason.empty()) html << "; stopped: <bdi>" << turn.stop_reason << "</bdi>";
  html << "</p></div></details>\n";
}

void write_round(Html& html, const StoryRound& round) {
  html << "<details class=\"box turn\"><summary><b>" << std::string_view(phase_words(round.phase))
       << "</b><span class=\"grow soft small\">round " << round.number << "</span>";
  if (round.passed) {
    html << "<span class=\"tag good\">passed</span>";
  } else {
    html << "<span class=\"tag bad\">failed</span>";
  }
  html << "</summary><div class=\"in\">";
  write_commands(html, round, false);
  html << "</div></details>\n";
}

void write_note(Html& html, const StoryNote& note) {
  if (note.kind == StoryNote::Kind::stage) {
    html << "<h3 class=\"stage\"><bdi>" << capitalized(note.text) << "</bdi></h3>\n";
    if (!note.detail.empty()) {
      html << "<details class=\"event\"><summary>Its prompt</summary><pre>" << note.detail
           << "</pre></details>\n";
    }
    return;
  }
  // The next stage, and the table of them, say it too.
  if (note.kind == StoryNote::Kind::stage_end && !note.problem) return;
  if (note.detail.empty()) {
    html << "<div class=\"event";
    if (note.problem) html << " warn";
    html << "\"><bdi>" << note.text << "</bdi></div>\n";
    return;
  }
  html << "<details class=\"event";
  if (note.problem) html << " warn";
  html << "\"><summary><bdi>" << note.text << "</bdi></summary><pre>" << note.detail
       << "</pre></details>\n";
}

void write_step(Html& html, const RunStory& story, const StoryStep& step) {
  switch (step.kind) {
    case StoryStep::Kind::turn:
      return write_turn(html, story.turns[step.index]);
    case StoryStep::Kind::round:
      return write_round(html, story.rounds[step.index]);
    case StoryStep::Kind::note:
      return write_note(html, story.notes[step.index]);
  }
}

/// The first steps, and the last ones, which say most about an end.
void write_steps(Html& html, const RunStory& story, std::size_t most_bytes) {
  const auto& steps = story.timeline;
  const auto part = [&](std::size_t i) {
    return part_of_page([&](Html& one) { write_step(one, story, steps[i]); });
  };
  PageRoom head(most_bytes / 3);
  std::size_t first = 0;
  for (; first < steps.size(); ++first) {
    const std::string one = part(first);
    if (!head.take(one.size())) break;
    html.own(one);
  }
  PageRoom tail(most_bytes - most_bytes / 3);
  std::vector<std::string> last;
  for (std::size_t i = steps.size(); i > first; --i) {
    last.push_back(part(i - 1));
    if (!tail.take(last.back().size())) {
      last.pop_back();
      break;
    }
  }
  const std::size_t left_out = steps.size() - first - last.size();
  if (left_out > 0)
    html << "<p class=\"event warn\" id=\"left-out\">" << counted(left_out, "step is", "steps are")
         << " left out here, so that this page stays small. transcript.jsonl has them: "
            "<code>sortie show</code> prints it.</p>\n";
  for (auto one = last.rbegin(); one != last.rend(); ++one) html.own(*one);
}

}  // namespace

void write_timeline(Html& html, const RunStory& story, std::size_t most_bytes) {
  if (story.timeline.empty()) return;
  html << "<section id=\"timeline\" data-folds=\".turn\"><h2>Timeline</h2>\n";
  write_stages(html, story);
  write_chart(html, story);
  write_steps(html, story, most_bytes);
  html << "</section>\n";
}

}  // namespace sortie

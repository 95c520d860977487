#include <algorithm>
#include <utility>

#include "ci/report/page/page_parts.h"
#include "ci/report/page/page_room.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostCommandBytes = 512u << 10;
constexpr std::size_t kMostDenialBytes = 1u << 20;
constexpr std::size_t kMostWarningBytes = 256u << 10;

void write_fact(Html& html, std::string_view name, std::string_view value, std::string_view more) {
  html << "<div><dt>" << name << "</dt><dd><bdi>" << value << "</bdi>";
  if (!more.empty()) html << "<small><bdi>" << more << "</bdi></small>";
  html << "</dd></div>";
}

void write_command(Html& html, const StoryCommand& command, bool open) {
  html << "<details class=\"box\"";
  if (open && !command.passed) html << " open";
  html << "><summary>";
  if (command.passed) {
    html << "<span class=\"tag good\">passed</span>";
  } else {
    html << "<span class=\"tag bad\">" << (command.done ? command.ending : "cut off") << "</span>";
  }
  html << "<code class=\"grow\">" << command.command << "</code><span class=\"num soft small\">"
       << command.duration << "</span></summary>";
  if (!command.compared.empty()) {
    html << "<div class=\"in small\"><bdi>" << command.compared << "</bdi></div>";
  }
  if (command.output.empty()) {
    html << "<div class=\"in soft small\">It printed nothing.</div>";
  } else {
    html << "<pre class=\"output\">" << command.output << "</pre>";
  }
  html << "</details>\n";
}

void write_row(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  html << "<tr><th scope=\"row\">" << name << "</th><td><bdi>" << value << "</bdi></td></tr>";
}

/// ", or add to its list `commands`": a policy has each key once.
void write_lists(Html& html, const std::vector<std::string>& lists) {
  for (const std::string& list : lists) {
    if (&list == &lists.front()) {
      html << (lists.size() == 1 ? std::string_view(", or add to its list ")
                                 : std::string_view(", or add to its lists "));
    } else {
      html << (&list == &lists.back() ? std::string_view(" and ") : std::string_view(", "));
    }
    html << "<code>" << list << "</code>";
  }
}

void write_denial(Html& html, const StoryDenial& denial, bool open) {
  html << "<details class=\"box\"";
  if (open) html << " open";
  html << "><summary><span class=\"tag ";
  if (denial.audited) {
    html << "warn\">audited";
  } else if (denial.ruling == Ruling::forbid) {
    html << "bad\">forbidden";
  } else {
    html << "bad\">denied";
  }
  html << "</span>";
  if (denial.count > 1) html << "<span class=\"num small\">" << denial.count << " times</span>";
  html << "<span class=\"grow\"><span class=\"soft small\">" << denial.tool << "</span> <code>"
       << denial.what << "</code></span></summary><div class=\"in\">";
  if (!denial.reason.empty()) html << "<p><bdi>" << denial.reason << "</bdi></p>";
  if (!denial.part.empty() && denial.part != denial.what)
    html << "<p class=\"small\">The denied part: <code>" << denial.part << "</code></p>";
  if (!denial.rule.empty()) {
    html << "<p class=\"soft small\">Rule: <code>" << denial.rule << "</code></p>";
  }
  html << "</div>";
  if (!denial.yaml.empty()) {
    html << "<div class=\"in small\">To allow it, write in the policy";
    write_lists(html, denial.lists);
    html << ":</div><pre class=\"output\" data-copy=\"YAML\">" << denial.yaml << "</pre>";
  }
  html << "</details>\n";
}

std::string with_digest(const std::string& path, const std::string& digest) {
  return path.empty() ? digest : path + "  " + digest.substr(0, 19);
}

/// Those that were not proved, by name.
void write_guarantees(Html& html, const std::vector<StorySetting::Guarantee>& guarantees) {
  if (guarantees.empty()) return;
  std::size_t proved = 0;
  std::string missing;
  for (const auto& each : guarantees) {
    if (each.proved)
      ++proved;
    else
      missing += (missing.empty() ? "not " : ", ") + each.name;
  }
  html << "<div><dt>Guarantees</dt><dd";
  if (!missing.empty()) html << " class=\"short\"";
  html << ">" << proved << " of " << guarantees.size() << " proved";
  if (!missing.empty()) html << "<small><bdi>" << missing << "</bdi></small>";
  html << "</dd></div>";
}

/// "Not before 2 min 5 s have passed."
void write_retry_after(Html& html, const StoryVerdict& verdict) {
  if (!verdict.retry_after_s || *verdict.retry_after_s <= 0) return;
  html << " Not before " << std::chrono::milliseconds(std::chrono::seconds(*verdict.retry_after_s))
       << " have passed, says the provider.";
}

/// A command in it stands as one.
void write_next(Html& html, std::string_view next) {
  const std::size_t command = command_in_next(next);
  if (command > 0) html << "<code>" << next.substr(0, command) << "</code>";
  if (command < next.size()) html << "<bdi>" << next.substr(command) << "</bdi>";
}

/// "replay": who served the model, or, where another one was served than asked for, what was asked.
std::string model_note(const StorySetting& setting) {
  const std::string& asked = setting.model_requested;
  const std::string& served = setting.model_served;
  if (served.empty() || served == asked) return {};
  return asked.ends_with(" " + served) ? asked.substr(0, asked.size() - served.size() - 1)
                                       : "asked for: " + asked;
}

}  // namespace

std::string words_of_status(std::string status) {
  std::replace(status.begin(), status.end(), '-', ' ');
  return capitalized(std::move(status));
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return with_thousands(static_cast<std::int64_t>(count)) + " " +
         std::string(count == 1 ? one : many);
}

void write_verdict(Html& html, const RunStory& story) {
  const auto& verdict = story.verdict;
  html << "<section class=\"verdict ";
  if (verdict.code == 0) {
    html << "good";
  } else if (!verdict.ended) {
    html << "warn";
  } else {
    html << "bad";
  }
  html << "\" aria-label=\"Verdict\"><h1>" << words_of_status(verdict.status);
  if (verdict.verified == true) html << ", verified";
  if (verdict.ended && verdict.code != 0) html << " (exit code " << verdict.code << ")";
  html << "</h1>";
  if (!verdict.cause.empty()) html << "<p class=\"cause\"><bdi>" << verdict.cause << "</bdi></p>";
  if (!story.problem.empty()) html << "<p class=\"cause\"><bdi>" << story.problem << "</bdi></p>";
  if (!verdict.next.empty()) {
    html << "<p class=\"next\"><b>Next:</b> ";
    write_next(html, verdict.next);
    write_retry_after(html, verdict);
    html << "</p>";
  } else if (verdict.retryable) {
    html << "<p class=\"next\"><b>Next:</b> the same command may succeed later.";
    write_retry_after(html, verdict);
    html << "</p>";
  }
  html << "</section>\n";
}

void write_lines(Html& html, std::int64_t added, std::int64_t removed) {
  if (added < 0 || removed < 0) {
    html << "lines unknown";
  } else {
    html << "<span class=\"add\">+" << added << "</span> <span class=\"del\">−" << removed
         << "</span>";
  }
}

void write_facts(Html& html, const RunStory& story) {
  const auto& usage = story.usage;
  html << "<dl class=\"facts\">";
  write_fact(html, "Cost", dollars(usage.usd), usage.estimated ? "estimated" : "");
  html << "<div><dt>Turns</dt><dd>" << story.turns.size() << "<small>"
       << counted(static_cast<std::size_t>(story.tool_calls), "call", "calls");
  if (story.retries > 0)
    html << ", " << counted(static_cast<std::size_t>(story.retries), "retry", "retries");
  html << "</small></dd></div>";
  html << "<div><dt>Time</dt><dd>" << story.times.total() << "<small>model " << story.times.model
       << ", tools " << story.times.tools;
  if (story.times.verification.count() > 0) html << ", verification " << story.times.verification;
  html << "</small></dd></div>";
  html << "<div><dt>Tokens</dt><dd>" << usage.total() << "<small>" << usage.cached << " cached, "
       << usage.output << " output</small></dd></div>";
  const auto& setting = story.setting;
  write_fact(html, "Model",
             setting.model_served.empty() ? setting.model_requested : setting.model_served,
             model_note(setting));
  write_fact(html, "Policy",
             std::string_view(setting.policy_name).substr(setting.policy_name.rfind('/') + 1),
             setting.policy_digest.substr(0, 16));
  write_guarantees(html, setting.guarantees);
  html << "<div><dt>Changed</dt><dd>"
       << counted(story.changes.files.size() + story.changes.more_files, "file", "files")
       << "<small>";
  write_lines(html, story.changes.added, story.changes.removed);
  html << "</small></dd></div>";
  html << "</dl>\n";
}

void write_attempts(Html& html, const StoryBestOf& best_of) {
  if (best_of.attempts.empty()) return;
  html
      << "<section id=\"attempts\"><h2>Attempts</h2>\n<div class=\"box\"><div class=\"in\"><table>"
         "<thead><tr><th scope=\"col\">Attempt</th><th scope=\"col\">Status</th><th scope=\"col\" "
         "class=\"r\">Lines</th><th scope=\"col\" class=\"r\">Turns</th><th scope=\"col\" class=\"r\">"
         "Tokens</th><th scope=\"col\" class=\"r\">Cost</th><th scope=\"col\" class=\"r\">Time</th><th "
         "scope=\"col\">Why</th></tr></thead><tbody>";
  for (const auto& one : best_of.attempts) {
    html << "<tr><th scope=\"row\">" << one.number;
    if (one.picked) html << " <span class=\"tag good\">picked</span>";
    html << "</th><td><bdi>" << one.status << "</bdi></td><td class=\"r\">" << one.lines
         << "</td><td class=\"r\">" << one.turns << "</td><td class=\"r\">" << one.tokens
         << "</td><td class=\"r\">" << dollars(one.usd) << "</td><td class=\"r\">" << one.duration
         << "</td><td><bdi>" << one.why << "</bdi></td></tr>";
  }
  html << "</tbody></table></div></div>\n<p class=\"soft small\">Picked by <code>" << best_of.pick
       << "</code>. All of them: " << best_of.tokens << " tokens, " << dollars(best_of.usd) << ", "
       << best_of.duration << ". The rest of this page is about the picked one.</p></section>\n";
}

const char* phase_words(VerificationPhase phase) noexcept {
  switch (phase) {
    case VerificationPhase::before:
      return "Verification of the start state";
    case VerificationPhase::after:
      return "Verification";
    case VerificationPhase::run_tests:
      return "Tests that the agent ran";
  }
  return "Verification";
}

void write_commands(Html& html, const StoryRound& round, bool open) {
  PageRoom room(kMostCommandBytes);
  std::size_t left_out = 0;
  // What failed is what a reader looks for.
  for (const bool passed : {false, true})
    for (const auto& command : round.commands)
      if (command.passed == passed &&
          !room.write(html, [&](Html& part) { write_command(part, command, open); }))
        ++left_out;
  if (left_out > 0)
    html << "<p class=\"soft\">" << left_out << " more commands are in the transcript.</p>\n";
}

void write_verification(Html& html, const RunStory& story) {
  const StoryRound* round = last_round(story);
  if (round == nullptr) return;
  html << "<section id=\"verification\"><h2>Verification "
       << (round->passed ? std::string_view("passed") : std::string_view("failed"));
  if (round->number > 1) html << " in round " << round->number;
  html << "</h2>\n";
  write_commands(html, *round, true);
  html << "</section>\n";
}

void write_denials(Html& html, const RunStory& story) {
  if (story.denials.empty()) return;
  html << "<section id=\"denials\"><h2>Denied: " << story.denied_words() << "</h2>\n";
  if (!story.allowing_all.empty())
    html
        << "<details class=\"box\"><summary><span class=\"grow\">The lines of all of them as "
           "one block</span></summary>"
           "<div class=\"in small\">Read them before you write them into the policy, or add them to its lists:</div>"
           "<pre class=\"output\" data-copy=\"YAML\">"
        << story.allowing_all << "</pre></details>\n";
  PageRoom room(kMostDenialBytes);
  std::size_t left_out = 0;
  for (const auto& denial : story.denials) {
    const bool open = &denial - story.denials.data() < 3;
    if (!room.write(html, [&](Html& part) { write_denial(part, denial, open); })) ++left_out;
  }
  if (left_out > 0)
    html << "<p class=\"soft\">" << left_out << " more kinds are in result.json.</p>\n";
  html << "</section>\n";
}

void write_setting(Html& html, const RunStory& story) {
  const auto& setting = story.setting;
  html << "<section id=\"setting\"><h2>Setting and guarantees</h2>\n<div class=\"box\"><div "
          "class=\"in\"><table><tbody>";
  write_row(html, "Task", with_digest(setting.task_path, setting.task_digest));
  write_row(html, "Policy", with_digest(setting.policy_name, setting.policy_digest));
  write_row(html, "Approval", setting.approval);
  write_row(html, "Model asked for", setting.model_requested);
  write_row(html, "Model served", setting.model_served);
  write_row(html, "Workspace", setting.workspace);
  write_row(html, "Base commit", setting.base_commit);
  write_row(html, "Isolation",
            setting.isolation +
                (setting.isolation_reason.empty() ? "" : ": " + setting.isolation_reason));
  write_row(html, "Sandbox", setting.sandbox_mode);
  write_row(html, "Network", setting.network);
  for (const auto& layer : setting.missing_layers) write_row(html, "Missing layer", layer);
  if (setting.resumed > 0)
    write_row(html, "Resumed",
              setting.resumed == 1 ? "once" : std::to_string(setting.resumed) + " times");
  PageRoom room(kMostWarningBytes);
  std::size_t left_out = 0;
  for (const auto& warning : story.warnings)
    if (!room.write(html, [&warning](Html& row) { write_row(row, "Warning", warning); }))
      ++left_out;
  if (left_out > 0)
    write_row(html, "Warnings", counted(left_out, "more is", "more are") + " in result.json");
  html << "</tbody></table></div></div>\n";
  for (const auto& each : setting.guarantees) {
    html << "<details class=\"box\"><summary><span class=\"tag ";
    if (each.proved) {
      html << "good\">proved";
    } else {
      html << "warn\">not proved";
    }
    html << "</span><span class=\"grow\">" << each.name
         << "</span></summary><div class=\"in small\"><bdi>" << each.detail
         << "</bdi></div></details>\n";
  }
  html << "</section>\n";
}

}  // namespace sortie

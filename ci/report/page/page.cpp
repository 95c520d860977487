#include "ci/report/page/page.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "ci/report/page/html.h"
#include "ci/report/page/page_files.h"
#include "ci/report/page/page_parts.h"
#include "core/base/hash.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

/// With the limits of the other sections it is a page of 10 MB.
constexpr std::size_t kMostTimelineBytes = 4u << 20;

/// "sha256-…" as a content policy has it (CSP Level 3).
std::string policy_digest(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return "sha256-" + base64_encoded(bytes);
}

const std::string& name_of_run(const RunStory& story) {
  const auto& setting = story.setting;
  return setting.task_name.empty() ? setting.run_id : setting.task_name;
}

/// "2026-11-23 05:00 UTC" for "2026-11-23T05:00:53.955Z"
std::string moment(const std::string& timestamp) {
  if (timestamp.size() < 20 || timestamp[10] != 'T' || timestamp.back() != 'Z') return timestamp;
  return timestamp.substr(0, 10) + " " + timestamp.substr(11, 5) + " UTC";
}

void write_head(Html& html, const RunStory& story) {
  html << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '"
       << policy_digest(page_style()) << "'; script-src '" << policy_digest(page_script())
       << "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<meta name=\"robots\" content=\"noindex\">\n<title>"
       << name_of_run(story) << ": " << story.verdict.status << " – sortie</title>\n<style>";
  html.own(page_style());
  html << "</style>\n</head>\n";
}

void write_links(Html& html, const RunStory& story) {
  html << "<nav aria-label=\"Sections\"><ul>";
  if (last_round(story) != nullptr) html << "<li><a href=\"#verification\">Verification</a></li>";
  if (!story.denials.empty()) html << "<li><a href=\"#denials\">Denials</a></li>";
  html << "<li><a href=\"#changes\">Changes</a></li>";
  if (!story.message.empty()) html << "<li><a href=\"#message\">Final message</a></li>";
  if (!story.timeline.empty()) html << "<li><a href=\"#timeline\">Timeline</a></li>";
  html << "<li><a href=\"#setting\">Setting and guarantees</a></li></ul></nav>\n";
}

void write_message(Html& html, const Excerpt& message) {
  if (message.empty()) return;
  html << "<section id=\"message\"><h2>Final message of the agent</h2><div class=\"box\">"
          "<div class=\"in message\"><bdi>"
       << message << "</bdi></div></div></section>\n";
}

}  // namespace

const StoryRound* last_round(const RunStory& story) noexcept {
  const auto last = std::find_if(story.rounds.rbegin(), story.rounds.rend(), [](const auto& round) {
    return round.phase == VerificationPhase::after;
  });
  return last == story.rounds.rend() ? nullptr : &*last;
}

void write_page(std::ostream& out, const RunStory& story) {
  Html html(out);
  write_head(html, story);
  html << "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<div class=\"page\">\n";
  html << "<header class=\"top\"><b>sortie</b><bdi>" << name_of_run(story) << "</bdi><span>"
       << moment(story.setting.started) << "</span></header>\n<main id=\"main\">\n";
  write_verdict(html, story);
  write_facts(html, story);
  write_links(html, story);
  write_attempts(html, story.best_of);
  write_verification(html, story);
  write_denials(html, story);
  write_changes(html, story.changes);
  write_message(html, story.message);
  write_timeline(html, story, kMostTimelineBytes);
  write_setting(html, story);
  html
      << "</main>\n<footer>Run <code>" << story.setting.run_id << "</code>, "
      << static_cast<std::int64_t>(story.records) << " records, made by sortie "
      << story.setting.sortie
      << ". This page loads nothing and sends nothing. <code>sortie verify</code> checks it against "
         "the transcript.</footer>\n</div>\n<script>";
  html.own(page_script());
  html << "</script>\n</body>\n</html>\n";
}

std::string page_text(const RunStory& story) {
  std::ostringstream out;
  write_page(out, story);
  return std::move(out).str();
}

}  // namespace sortie

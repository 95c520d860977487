#include <sstream>

#include "ci/batch/batch_report.h"
#include "ci/report/page/html.h"
#include "core/base/hash.h"
#include "core/text/base64.h"
#include "core/text/display_width.h"

namespace sortie {
namespace {

constexpr std::string_view kStyle = R"(:root { color-scheme: light dark;
  --page: #fbfaf8; --card: #fff; --ink: #1d1f23; --soft: #5a6069; --line: #e3e1dc;
  --link: #1f5d8c; --good: #1a6b3c; --bad: #a3261d; --warn: #7a5000; }
@media (prefers-color-scheme: dark) { :root {
  --page: #15171a; --card: #1c1f23; --ink: #e4e5e7; --soft: #a3a9b2; --line: #32363c;
  --link: #8cc0ec; --good: #7fd6a0; --bad: #ff9e94; --warn: #eec273; } }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
a { color: var(--link); } h1 { font-size: 1.5rem; margin: 0 0 .4rem; }
.verdict { background: var(--card); border: 1px solid var(--line); border-left: 5px solid var(--edge);
  border-radius: 8px; padding: 1.2rem 1.4rem; overflow-wrap: anywhere; }
.verdict h1 { color: var(--edge); } .good { --edge: var(--good); } .bad { --edge: var(--bad); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; } .n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.pass { color: var(--good); } .fail { color: var(--bad); } .wait { color: var(--warn); }
footer { color: var(--soft); font-size: .85rem; margin-top: 2rem; }
)";

std::string policy_digest(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return "sha256-" + base64_encoded(bytes);
}

void fact(Html& html, std::string_view name, const std::string& value) {
  html << "<div><dt>" << name << "</dt><dd>" << value << "</dd></div>";
}

void write_row(Html& html, const BatchRow& row) {
  html << "<tr><td>";
  if (row.run_id.empty())
    html << "<bdi>" << row.name << "</bdi>";
  else
    html << "<a href=\"" << row.out << "/report.html\">" << row.name << "</a>";
  html << "</td><td class=\"";
  if (row.passed())
    html << "pass";
  else if (row.may_be_retried())
    html << "wait";
  else
    html << "fail";
  html << "\">" << row.status << "</td><td><bdi>" << row.reason << "</bdi></td><td class=\"n\">"
       << row.turns << "</td><td class=\"n\">" << with_thousands(row.tokens)
       << "</td><td class=\"n\">" << (row.cost ? row.cost->text() : std::string("–"))
       << "</td><td class=\"n\">" << row.duration << "</td><td class=\"n\">";
  if (row.diff.empty())
    html << "–";
  else
    html << "<a href=\"" << row.diff << "\">" << with_thousands(row.diff_lines) << "</a>";
  html << "</td></tr>\n";
}

}  // namespace

std::string batch_page(const BatchStory& story) {
  std::vector<BatchRow> rows = story.rows;
  sort_for_people(rows);
  const BatchSum sum = sum_of(rows);
  std::ostringstream out;
  Html html(out);
  html << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '"
       << policy_digest(kStyle)
       << "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<meta name=\"robots\" content=\"noindex\">\n<title>"
       << story.name << ": " << std::string(status_word(story.end.code))
       << " – sortie batch</title>\n<style>";
  html.own(kStyle);
  html << "</style>\n</head>\n<body>\n<main>\n<section class=\"verdict ";
  if (story.end.code == ExitCode::success)
    html << "good";
  else
    html << "bad";
  html << "\"><h1>" << std::string(status_word(story.end.code)) << "</h1><p>" << story.end.cause
       << "</p>";
  if (!story.end.next.empty()) html << "<p><b>Next</b> " << story.end.next << "</p>";
  html << "</section>\n<dl>";
  fact(html, "Manifest", story.name);
  if (!story.shard.empty()) fact(html, "Shard", story.shard);
  fact(html, "Runs", std::to_string(sum.runs));
  fact(html, "Succeeded", std::to_string(sum.passed));
  fact(html, "Failed", std::to_string(sum.failed));
  fact(html, "May succeed later", std::to_string(sum.retryable));
  fact(html, "Not started", std::to_string(sum.not_started));
  fact(html, "Turns", with_thousands(sum.turns));
  fact(html, "Tokens", with_thousands(sum.tokens));
  fact(html, "Cost", sum.cost.text() + (sum.cost_known ? " USD" : " USD and more"));
  html << "</dl>\n<div class=\"wide\"><table><thead><tr><th>Run</th><th>Status</th><th>Cause</th>"
          "<th class=\"n\">Turns</th><th class=\"n\">Tokens</th><th class=\"n\">USD</th>"
          "<th class=\"n\">Time</th><th class=\"n\">Lines</th></tr></thead><tbody>\n";
  for (const BatchRow& row : rows) write_row(html, row);
  html << "</tbody></table></div>\n<footer>This page loads nothing and sends nothing. "
          "results.jsonl has the same as data.</footer>\n</main>\n</body>\n</html>\n";
  return std::move(out).str();
}

}  // namespace sortie

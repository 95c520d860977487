#include "app/land/review_comments.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/land/quoted_words.h"
#include "core/files/file_name.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostFindings = 500;
constexpr std::size_t kMostWords = 4000;

/// The lines of new files that a diff shows: first and last of each hunk.
using ShownLines = std::map<std::string, std::vector<std::pair<long, long>>>;

ShownLines shown_lines(const LandedChange& change) {
  ShownLines shown;
  for (const DiffFile& file : change.patch.files) {
    const auto after = change.after.find(file.path);
    if (after == change.after.end()) continue;
    TouchedFiles old_side;
    const auto before = change.before.find(file.old_path.empty() ? file.path : file.old_path);
    // Under one name: only its hunks matter.
    if (before != change.before.end()) old_side.emplace(file.path, before->second);
    const PatchText patch = make_patch(old_side, {{file.path, after->second}}, 3, false);
    for (const auto line : split_lines(patch.text)) {
      long old_line = 0;
      long first = 0;
      const std::string text(line.substr(0, 80));
      const auto plus = text.find(" +");
      if (!text.starts_with("@@ -") || plus == text.npos) continue;
      long count = 1;
      if (std::sscanf(text.c_str() + 4, "%ld", &old_line) != 1) continue;
      if (std::sscanf(text.c_str() + plus + 2, "%ld,%ld", &first, &count) < 1) continue;
      if (count > 0) shown[file.path].push_back({first, first + count - 1});
    }
  }
  return shown;
}

std::string why_outside(const std::string& file, std::int64_t line, const LandedChange& change,
                        const ShownLines& shown) {
  const auto found = shown.find(file);
  if (found == shown.end())
    return change.before.contains(file) ? "the diff removes this file"
                                        : "the diff does not change this file";
  for (const auto& [first, last] : found->second)
    if (line >= first && line <= last) return "";
  return "the diff does not show this line";
}

std::string words_of(const Json& finding) {
  const std::string severity = one_line(repair_utf8(finding.string_at("severity")), 20);
  std::string text = (severity.empty() ? "" : severity + ": ") +
                     quoted_words(finding.string_at("message"), kMostWords);
  const std::string suggestion = quoted_words(finding.string_at("suggestion"), kMostWords);
  return fenced(text) + (suggestion.empty() ? "" : "\nsuggestion:\n" + fenced(suggestion));
}

}  // namespace

Json review_json(const Json& findings, const LandedChange& change) {
  const ShownLines shown = shown_lines(change);
  Json comments = Json::array();
  Json outside = Json::array();
  const auto& all = findings.items();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < std::min(all.size(), kMostFindings); ++i) {
    const Json& finding = all[i];
    const std::string file = finding.string_at("file");
    const std::int64_t line = finding.integer_at("line");
    const std::string why = why_outside(file, line, change, shown);
    const std::string words = words_of(finding);
    if (!seen.insert(file + "\n" + std::to_string(line) + "\n" + words).second) continue;
    if (why.empty())
      comments.push_back(
          Json::object({{"path", file}, {"line", line}, {"side", "RIGHT"}, {"body", words}}));
    else
      outside.push_back(Json::object(
          {{"path", path_text(file)}, {"line", line}, {"body", words}, {"reason", why}}));
  }
  const std::size_t left = all.size() - std::min(all.size(), kMostFindings);
  std::string body = std::to_string(comments.items().size()) + " findings on lines of the diff, " +
                     std::to_string(outside.items().size()) + " elsewhere.";
  if (left > 0) body += " " + std::to_string(left) + " more are left out.";
  for (const Json& one : outside.items())
    body += "\n\n`" + quoted_words(one.string_at("path"), 200) + ":" + one["line"].text() + "` (" +
            one.string_at("reason") + ")\n" + one.string_at("body");
  return Json::object({{"version", 1},
                       {"event", "COMMENT"},
                       {"body", body},
                       {"comments", std::move(comments)},
                       {"outside", std::move(outside)}});
}

}  // namespace sortie

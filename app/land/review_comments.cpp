#include "app/land/review_comments.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>

#include "app/land/quoted_words.h"
#include "ci/report/markdown.h"
#include "core/files/file_name.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostFindings = 500;
constexpr std::size_t kMostWords = 4000;

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

/// The path of "b/src/a.c", with git's quotes and what may stand behind it.
std::string new_path(std::string_view name) {
  name = name.substr(0, name.find('\t'));
  std::string path(name);
  if (name.starts_with('"')) path = git_unquoted(name).value_or("");
  return path.starts_with("b/") ? path.substr(2) : "";
}

struct Hunk {
  std::int64_t old_count = 1;
  std::int64_t first = 0;  ///< in the new file
  std::int64_t new_count = 1;
};

/// Of "@@ -1,3 +1,4 @@"; a count of 1 is left out there.
Hunk hunk_of(std::string_view header) {
  const std::string text(header.substr(0, 100));
  long old_first = 0;
  long old_count = 1;
  long first = 0;
  long count = 1;
  std::sscanf(text.c_str(), "@@ -%ld,%ld", &old_first, &old_count);
  const auto plus = text.find(" +");
  if (plus == text.npos || std::sscanf(text.c_str() + plus + 2, "%ld,%ld", &first, &count) < 1)
    return {.old_count = 0, .new_count = 0};
  return {std::max(0L, old_count), first, std::max(0L, count)};
}

std::string words_of(const Json& finding) {
  const std::string severity = one_line(repair_utf8(finding.string_at("severity")), 20);
  std::string text = (severity.empty() ? "" : severity + ": ") +
                     quoted_words(finding.string_at("message"), kMostWords);
  const std::string suggestion = quoted_words(finding.string_at("suggestion"), kMostWords);
  return fenced(text) + (suggestion.empty() ? "" : "\nsuggestion:\n" + fenced(suggestion));
}

using WhyOutside = std::function<std::string(const std::string& file, std::int64_t line)>;

/// @param lines  what the comments' lines are lines of: "the diff"
Json review_of(const Json& findings, const char* lines, const WhyOutside& why_not) {
  Json comments = Json::array();
  Json outside = Json::array();
  const auto& all = findings.items();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < std::min(all.size(), kMostFindings); ++i) {
    const Json& finding = all[i];
    const std::string file = finding.string_at("file");
    const std::int64_t line = finding.integer_at("line");
    const std::string why = why_not(file, line);
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
  const std::size_t on_lines = comments.items().size();
  std::string body = std::to_string(on_lines) + (on_lines == 1 ? " finding" : " findings") +
                     " on lines of " + lines + ", " + std::to_string(outside.items().size()) +
                     " elsewhere.";
  if (left > 0) body += " " + std::to_string(left) + " more are left out.";
  for (const Json& one : outside.items())
    body += "\n\n" +
            code_span(quoted_words(one.string_at("path"), 200) + ":" + one["line"].text()) + " (" +
            one.string_at("reason") + ")\n" + one.string_at("body");
  return Json::object({{"version", 1},
                       {"event", "COMMENT"},
                       {"body", body},
                       {"comments", std::move(comments)},
                       {"outside", std::move(outside)}});
}

}  // namespace

Json review_json(const Json& findings, const LandedChange& change) {
  const ShownLines shown = shown_lines(change);
  return review_of(findings, "the diff", [&](const std::string& file, std::int64_t line) {
    return why_outside(file, line, change, shown);
  });
}

ShownLines shown_lines_of(std::string_view diff) {
  ShownLines shown;
  std::string file;  // "": its name is not known yet, or it is removed
  std::int64_t old_left = 0;
  std::int64_t new_left = 0;
  for (const std::string_view line : split_lines(diff)) {
    // Lines of a hunk are counted: their content may look like a header.
    if (old_left > 0 || new_left > 0) {
      const char sign = line.empty() ? ' ' : line[0];
      if (sign == '-' || sign == ' ') --old_left;
      if (sign == '+' || sign == ' ') --new_left;
      continue;
    }
    if (line.starts_with("diff --git ")) file.clear();
    if (line.starts_with("+++ ")) file = new_path(line.substr(4));
    if (!line.starts_with("@@ -")) continue;
    const Hunk hunk = hunk_of(line);
    old_left = hunk.old_count;
    new_left = hunk.new_count;
    if (!file.empty() && hunk.new_count > 0)
      shown[file].push_back({hunk.first, hunk.first + hunk.new_count - 1});
  }
  return shown;
}

Json review_of_diff(const Json& findings, const ShownLines* shown) {
  const char* const lines = shown == nullptr ? "files (no diff was looked at)" : "the diff";
  return review_of(findings, lines,
                   [shown](const std::string& file, std::int64_t line) -> std::string {
                     if (!is_plain_path(file) || line < 1) return "it names no line of a file";
                     if (shown == nullptr) return "";
                     const auto found = shown->find(file);
                     if (found == shown->end()) return "the diff does not change this file";
                     for (const auto& [first, last] : found->second)
                       if (line >= first && line <= last) return "";
                     return "the diff does not show this line";
                   });
}

}  // namespace sortie

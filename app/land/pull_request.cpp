#include "app/land/pull_request.h"

#include <algorithm>
#include <cstdint>

#include "app/land/quoted_words.h"
#include "core/files/file_name.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostSubject = 72;
constexpr std::size_t kMostWordsOfMessage = 4000;
constexpr std::size_t kMostBody = 20'000;
constexpr std::size_t kMostFiles = 300;

std::string first_line(const std::string& words) { return words.substr(0, words.find('\n')); }

std::string without_marks(std::string line) {
  while (!line.empty() && (line.front() == '#' || line.front() == '*' || line.front() == ' '))
    line.erase(0, 1);
  while (!line.empty() && (line.back() == '*' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string subject_of(const LandedRun& run) {
  std::string line = without_marks(first_line(quoted_words(run.message, kMostWordsOfMessage)));
  if (line.empty() || line.front() == '{' || line.front() == '`')
    line = "Changes by sortie: " + quoted_words(run.task.empty() ? "task" : run.task, 50);
  return one_line(line, kMostSubject);
}

struct Size {
  std::int64_t added = 0;
  std::int64_t deleted = 0;
  const char* label = "size/XS";
};

Size size_of(const LandedChange& change) {
  Size size;
  for (const DiffFile& file : change.patch.files) {
    size.added += file.added_lines;
    size.deleted += file.deleted_lines;
  }
  const std::int64_t lines = size.added + size.deleted;
  size.label = lines < 10     ? "size/XS"
               : lines < 50   ? "size/S"
               : lines < 250  ? "size/M"
               : lines < 1000 ? "size/L"
                              : "size/XL";
  return size;
}

std::string facts_of(const PullRequest& request) {
  const LandedRun& run = request.run;
  std::string text = "run: " + run.run_id + "\nmodel: " + run.model + "\ndiff: " + run.diff_digest +
                     "\nbegan with: " + (run.base_commit.empty() ? "no commit" : run.base_commit) +
                     "\nverification: " +
                     (!run.verified   ? "none"
                      : *run.verified ? "passed"
                                      : "failed") +
                     " (by the run's own word)\n";
  for (const std::string& line : request.attention) text += "look at: " + line + "\n";
  return text;
}

}  // namespace

std::string commit_message(const LandedRun& run) {
  const std::string subject = subject_of(run);
  const std::string words = quoted_words(run.message, kMostWordsOfMessage);
  const bool more = !words.empty() && words.front() != '{' && words != subject;
  return subject + "\n\n" + (more ? words + "\n\n" : "") +
         "Sortie-Run: " + quoted_words(run.run_id, 60) + "\nSortie-Diff: " + run.diff_digest + "\n";
}

Json pull_request_json(const PullRequest& request) {
  const Size size = size_of(request.change);
  std::string body = fenced(quoted_words(request.run.message, kMostBody));
  body += "\n" + fenced(quoted_words(facts_of(request), kMostBody));
  Json files = Json::array();
  const auto& changed = request.change.patch.files;
  for (std::size_t i = 0; i < std::min(changed.size(), kMostFiles); ++i)
    files.push_back(path_text(changed[i].path));
  Json json = Json::object({{"version", 1}, {"title", subject_of(request.run)}, {"body", body}});
  json.set("base", request.base.empty() ? Json() : Json(request.base));
  json.set("base_sha", request.base_commit.empty() ? Json() : Json(request.base_commit));
  json.set("head_sha", request.head_commit.empty() ? Json() : Json(request.head_commit));
  json.set("labels", Json::strings({"sortie", size.label}));
  json.set("size", Json::object({{"files", static_cast<std::int64_t>(changed.size())},
                                 {"added_lines", size.added},
                                 {"removed_lines", size.deleted}}));
  json.set("files", std::move(files));
  json.set("attention", Json::strings(request.attention));
  json.set("run", Json::object({{"id", request.run.run_id},
                                {"task", one_line(repair_utf8(request.run.task), 100)},
                                {"model", request.run.model},
                                {"diff", request.run.diff_digest},
                                {"base_commit", request.run.base_commit}}));
  return json;
}

}  // namespace sortie

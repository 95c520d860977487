#include "ci/report/redact_story.h"

#include <string>

namespace sortie {
namespace {

void redact(const Redactor& redactor, std::string& text) {
  if (!redactor.find(text).empty()) text = redactor.text(std::move(text));
}

/// The lines of a hunk without their signs: a secret may have several lines.
std::string text_of(const StoryHunk& hunk) {
  std::string text;
  for (const std::string& line : hunk.lines) {
    text.append(line, line.empty() ? 0 : 1, std::string::npos);
    text += '\n';
  }
  return text;
}

void redact_hunk(const Redactor& redactor, StoryHunk& hunk) {
  redact(redactor, hunk.header);
  if (redactor.find(text_of(hunk)).empty()) return;
  for (std::string& line : hunk.lines) {
    if (line.empty()) continue;
    std::string text = line.substr(1);
    redact(redactor, text);
    line = line[0] + text;
  }
  const std::string left = redactor.find(text_of(hunk));
  if (left.empty()) return;
  for (std::string& line : hunk.lines)
    if (!line.empty()) line = line[0] + ("[REDACTED:" + left + "]");
}

}  // namespace

void redact_story(const Redactor& redactor, RunStory& story) {
  for (StoryFile& file : story.changes.files) {
    for (std::string* path : {&file.path, &file.old_path, &file.submodule}) redact(redactor, *path);
    for (StoryHunk& hunk : file.hunks) redact_hunk(redactor, hunk);
  }
  for (StoryLeftOut& one : story.changes.left_out) redact(redactor, one.path);
  redact(redactor, story.message.head);
  redact(redactor, story.message.tail);
  for (StoryFinding& finding : story.findings)
    for (std::string* text : {&finding.file, &finding.message, &finding.suggestion})
      redact(redactor, *text);
}

}  // namespace sortie

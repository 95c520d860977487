#include "app/show/ci_log.h"

#include <algorithm>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kTitleBytes = 120;
constexpr std::size_t kNoteBytes = 1000;

/// A text in a command of GitHub: https://github.com/actions/toolkit, command.ts.
std::string escaped(std::string_view text, std::string_view more) {
  std::string result;
  for (const char c : text) {
    if (c == '%')
      result += "%25";
    else if (more.find(c) != std::string_view::npos)
      result += c == ':' ? "%3A" : "%2C";
    else
      result += c;
  }
  return result;
}

}  // namespace

std::string CiLog::harmless(std::string_view text) const {
  return without_ci_commands(text, systems_);
}

std::string CiLog::begin_group(int number, std::string_view title, long long time) const {
  const std::string line = harmless(one_line(title, kTitleBytes));
  if (systems_.github) return "::group::" + escaped(line, "") + "\n";
  if (systems_.gitlab)
    return "section_start:" + std::to_string(time) + ":sortie_" + std::to_string(number) +
           "\r\x1b[0K" + line + "\n";
  if (systems_.azure) return "##[group]" + line + "\n";
  return "";
}

std::string CiLog::end_group(int number, long long time) const {
  if (systems_.github) return "::endgroup::\n";
  if (systems_.gitlab)
    return "section_end:" + std::to_string(time) + ":sortie_" + std::to_string(number) +
           "\r\x1b[0K\n";
  if (systems_.azure) return "##[endgroup]\n";
  return "";
}

std::string CiLog::note(const char* level, std::string_view title, std::string_view text) const {
  const std::string line = harmless(one_line(text, kNoteBytes));
  const std::string head = harmless(one_line(title, kTitleBytes));
  if (systems_.github)
    return std::string("::") + level + " title=" + escaped(head, ":,") + "::" + escaped(line, "") +
           "\n";
  if (systems_.azure)
    return std::string("##vso[task.logissue type=") + level + "]" + head + ": " + line + "\n";
  return "";
}

std::string CiLog::error(std::string_view title, std::string_view text) const {
  return note("error", title, text);
}

std::string CiLog::warning(std::string_view title, std::string_view text) const {
  return note("warning", title, text);
}

}  // namespace sortie

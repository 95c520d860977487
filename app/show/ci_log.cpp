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

/// A text in a command of Azure: azure-pipelines-agent, CommandStringConvertor.cs.
std::string escaped_for_azure(std::string_view text, bool in_properties) {
  std::string result;
  for (const char c : text) {
    if (c == '%')
      result += "%AZP25";
    else if (in_properties && (c == ';' || c == ']'))
      result += c == ';' ? "%3B" : "%5D";
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

std::string CiLog::note(const char* level, std::string_view title, std::string_view text,
                        const CiPlace& place) const {
  const std::string line = harmless(one_line(text, kNoteBytes));
  const std::string head = harmless(one_line(title, kTitleBytes));
  const std::string file = harmless(one_line(place.file, kNoteBytes));
  const std::string row = std::to_string(place.line);
  const std::string column = std::to_string(place.column);
  if (systems_.github) {
    std::string at;
    if (!file.empty()) {
      at = "file=" + escaped(file, ":,") + ",";
      if (place.line > 0) at += "line=" + row + ",";
      if (place.column > 0) at += "col=" + column + ",";
    }
    return std::string("::") + level + " " + at + "title=" + escaped(head, ":,") +
           "::" + escaped(line, "") + "\n";
  }
  if (!systems_.azure) return "";
  std::string at;
  if (!file.empty()) {
    at = ";sourcepath=" + escaped_for_azure(file, true);
    if (place.line > 0) at += ";linenumber=" + row;
    if (place.column > 0) at += ";columnnumber=" + column;
  }
  return std::string("##vso[task.logissue type=") + level + at + "]" +
         escaped_for_azure(head + ": " + line, false) + "\n";
}

std::string CiLog::error(std::string_view title, std::string_view text,
                         const CiPlace& place) const {
  return note("error", title, text, place);
}

std::string CiLog::warning(std::string_view title, std::string_view text,
                           const CiPlace& place) const {
  return note("warning", title, text, place);
}

}  // namespace sortie

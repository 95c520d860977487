#pragma once

#include <string>
#include <string_view>

#include "app/show/placed_text.h"
#include "core/text/ci_commands.h"

namespace sortie {

/// Commands to the CI system that reads stderr as its log, each with its newline; "" for a system
/// without such a command. The texts in them may be anybody's: they end no line and begin no other
/// command.
///
/// Source: GitHub's workflow commands; GitLab's custom collapsible sections; Azure's logging
/// commands; TeamCity's service messages.
class CiLog {
 public:
  explicit CiLog(CiSystems systems) : systems_(systems) {}
  bool has_groups() const { return systems_.github || systems_.gitlab || systems_.azure; }
  bool has_notes() const { return systems_.github || systems_.azure; }

  /// Begins a group of lines that can be folded.
  /// @param number  of the group, from 1
  /// @param time    seconds since 1970
  std::string begin_group(int number, std::string_view title, long long time) const;
  std::string end_group(int number, long long time) const;
  /// A note at the top of the job's page, and at its place in the changed files.
  std::string error(std::string_view title, std::string_view text, const CiPlace& place = {}) const;
  std::string warning(std::string_view title, std::string_view text,
                      const CiPlace& place = {}) const;

 private:
  std::string note(const char* level, std::string_view title, std::string_view text,
                   const CiPlace& place) const;
  std::string harmless(std::string_view text) const;

  CiSystems systems_;
};

}  // namespace sortie
